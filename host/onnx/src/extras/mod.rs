//! ONNX's data in the extras and the metadata of entities.

pub(crate) mod function_attributes;
pub(crate) mod importer_data;
