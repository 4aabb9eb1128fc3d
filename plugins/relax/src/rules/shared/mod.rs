//! What the code of rules asks about ops.

pub mod kernels;
pub(crate) mod pads;
pub(crate) mod polynomial;
pub(crate) mod read;
pub(crate) mod sight;
pub(crate) mod spread;
