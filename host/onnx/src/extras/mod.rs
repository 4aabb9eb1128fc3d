//! ONNX's data in the extras and the metadata of entities.

pub(crate) mod carry;
pub(crate) mod kept;
