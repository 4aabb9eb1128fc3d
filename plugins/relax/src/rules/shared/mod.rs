//! Analyses that the rules of several passes share.

pub(crate) mod bounds;
pub(crate) mod checks;
pub mod kernels;
pub(crate) mod pads;
pub(crate) mod polynomial;
pub(crate) mod spread;
