//! What one may want to know of a model: of the file it was read from, and of the one it becomes.

pub(crate) mod facts;
pub(crate) mod remarks;
