//! Analysis and rewriting of channel-wise ops: numbers per channel ([`numbers`], [`constants`]), ops that scale and
//! shift channels ([`affine`]), and ops with weights that can absorb them ([`linear`]). [`fold`] performs the folds.

pub(crate) mod affine;
pub(crate) mod constants;
pub(crate) mod fold;
pub(crate) mod linear;
pub(crate) mod numbers;
mod tensors;
