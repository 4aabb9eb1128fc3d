//! What the code of rules asks about ops.

pub(crate) mod pads;
pub(crate) mod read;
