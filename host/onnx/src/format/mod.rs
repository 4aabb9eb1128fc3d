//! The ONNX format: protobuf, and the messages that both the reader and the writer use.

pub(crate) mod attribute;
pub(crate) mod body;
pub(crate) mod error;
pub(crate) mod fields;
pub(crate) mod header;
pub(crate) mod opsets;
pub(crate) mod schema;
pub(crate) mod tensor;
pub(crate) mod texts;
pub(crate) mod typed;
pub(crate) mod types;
pub(crate) mod wire;
