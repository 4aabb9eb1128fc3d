//! Do passes change what a model computes? ONNX Runtime, where there is one, knows.
//!
//! [`Numerics`] is the instrument `numerics`: it runs the model on sample inputs before the first pass
//! and after each that changed something, and names the first that changed the results.
//! [`compare`] does it for two modules. ONNX Runtime's library is loaded when it is first needed, into
//! this process: what makes it crash ends the run.
//!
//! What can't be checked is "not checked", with the reason, and never passes for the same. Results
//! are the same if each element is within `1e-5 · max|a| + 1e-4 · |a|` of what it was (`1e-2` of both
//! in types of 16 bits); integers, bools and strings are equal; NaN is NaN.
//!
//! Reading order: `options`; `find` and `ort` (the library); `samples` and `files` (what goes in);
//! `compare` (what came out); `check` (running a module); `instrument` and `report`.

mod check;
mod compare;
mod files;
mod find;
mod instrument;
mod options;
mod ort;
mod report;
mod samples;
mod tensor;

pub use check::{Outcome, compare};
pub use compare::{Difference, Differing};
pub use find::LIBRARY_VARIABLE;
pub use instrument::Numerics;
pub use options::instrument;
pub use options::{OnDifference, Options};
pub use tensor::{Output, Tensor, Value};
