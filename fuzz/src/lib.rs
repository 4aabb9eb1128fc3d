//! The assertions of the fuzz targets. Regression tests of the crates include the same files, so that `cargo test`
//! checks earlier findings.

pub mod edits;
pub mod library;
pub mod manifest;
pub mod memory;
pub mod onnx;
pub mod rules;
pub mod text;
pub mod trust;
pub mod worker;
