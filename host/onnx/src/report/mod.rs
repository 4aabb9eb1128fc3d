//! Reports on a model's input file, and on the file that it would be written as.

pub(crate) mod facts;
pub(crate) mod recursion;
pub(crate) mod remarks;
