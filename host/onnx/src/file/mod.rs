//! The files of a module: its model file, and the external files with its tensors' data.

pub(crate) mod bytes;
pub(crate) mod external;
pub(crate) mod kind;
pub(crate) mod model;
pub(crate) mod source;
