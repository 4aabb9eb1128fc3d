//! What happens to channels: numbers for each of them ([`numbers`], [`known`]), ops that multiply each and add to it
//! ([`affine`]), and ops with weights, which can take that over ([`linear`]); [`fold`] lets them.

pub(crate) mod affine;
pub(crate) mod constants;
pub(crate) mod fold;
pub(crate) mod linear;
pub(crate) mod numbers;
mod tensors;
