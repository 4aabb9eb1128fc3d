//! What the fuzz targets assert. The regression tests of the crates include the same files, so what a fuzzer once found
//! is checked on every day.

pub mod edits;
pub mod library;
pub mod manifest;
pub mod memory;
pub mod onnx;
pub mod rules;
pub mod text;
