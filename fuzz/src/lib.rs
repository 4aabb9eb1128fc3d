//! What the fuzz targets share: what they assert, how they count, how they mutate.
//!
//! [`onnx`], [`text`], [`rules`] and others hold the assertions. The regression tests of the crates include the same
//! files, so what a fuzzer once found is checked on every day.

pub mod edits;
pub mod library;
pub mod manifest;
pub mod memory;
pub mod mutate;
pub mod onnx;
pub mod rules;
pub mod tally;
pub mod text;
pub mod wire;
