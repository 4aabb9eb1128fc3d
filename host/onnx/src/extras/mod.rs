//! What the extras and the metadata of entities say in ONNX's terms.

pub(crate) mod carry;
pub(crate) mod kept;
