//! The parts of a function as they are written, in the order that they have where the file says no
//! other.

pub(crate) mod constants;
pub(crate) mod names;
pub(crate) mod nodes;
pub(crate) mod parts;
pub(crate) mod sparse;
pub(crate) mod version;
