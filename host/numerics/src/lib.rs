//! Do passes change what a model computes? ONNX Runtime knows.

mod check;
mod compare;
mod files;
mod find;
mod options;
mod ort;
mod samples;
mod tensor;

pub use check::{Outcome, compare};
pub use compare::{Difference, Differing};
pub use find::LIBRARY_VARIABLE;
pub use options::{OnDifference, Options};
pub use tensor::{Output, Tensor, Value};
