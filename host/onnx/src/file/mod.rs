//! The files behind a module: the model's own, and those that its tensors' data is in.

pub(crate) mod bytes;
pub(crate) mod external;
pub(crate) mod kind;
pub(crate) mod model;
pub(crate) mod source;
