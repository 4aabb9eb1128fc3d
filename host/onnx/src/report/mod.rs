//! Reports on a model: on the file it was read from, and on the one it becomes.

pub(crate) mod facts;
pub(crate) mod recursion;
pub(crate) mod remarks;
