//! Folding of channel-wise ops. [`numbers`] and [`constants`] have numbers per channel, [`affine`] ops that scale and
//! shift channels, and [`linear`] ops with weights that can absorb these. [`fold`] performs the folds.

pub(crate) mod affine;
pub(crate) mod constants;
pub(crate) mod fold;
pub(crate) mod linear;
pub(crate) mod numbers;
mod tensors;
