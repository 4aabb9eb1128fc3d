//! What the code of rules asks about ops.

pub(crate) mod bounds;
pub(crate) mod checks;
pub mod kernels;
pub(crate) mod pads;
pub(crate) mod polynomial;
pub(crate) mod spread;
