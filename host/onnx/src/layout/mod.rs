//! The parts of a function in the order in which they are written. This is the default order, if the file has no other.

pub(crate) mod constants;
pub(crate) mod names;
pub(crate) mod nodes;
pub(crate) mod parts;
pub(crate) mod sparse;
pub(crate) mod version;
