//! Do passes change what a model computes? ONNX Runtime, where there is one, knows.
//!
//! The instrument `numerics` runs the model on sample inputs before the first pass and after each that
//! changed something, and names the first that changed the results. ONNX Runtime's library is loaded
//! when it is first needed, into this process: what makes it crash ends the run.
//!
//! What can't be checked is "not checked", with the reason, and never passes for the same. Results
//! are the same if each element is as near to what it was as its type allows (`elements`: in f32
//! `max(1e-7, 1e-5 · max|a|) + 1e-4 · |a|`), or the `precision` that passes brought in; integers, bools and strings are equal; NaN is NaN.
//!
//! - `ort/` is the runtime: finding its library, calling it, its tensors.
//! - `samples/` is what goes in: made up, or read from files.
//! - `check` runs a module; `compare` and, element by element, `elements` look at what came out.
//! - `pair` compares two models: their `interface`s, then their `outputs` for samples of several `sizes`; for `passdock compare` and the checks that
//!   searches ask; `whole` is the instrument that compares the first module of a run with its last one so.
//! - `instrument` is what passes meet, with its `options`, its `chain` of modules and its `report`.

mod chain;
mod check;
mod compare;
mod elements;
mod instrument;
mod interface;
mod options;
mod ort;
mod outputs;
mod pair;
mod pair_text;
mod precision;
mod report;
mod samples;
mod sizes;
mod whole;

pub use instrument::instrument;
pub use interface::InterfaceDifference;
pub use outputs::{Largest, OutputComparison};
pub use pair::{ApartSizes, CompareOptions, Comparison, RunFailure, RuntimeUsed, compare, find};
pub use sizes::SampleSize;
pub use whole::{VERIFY_OUTPUTS, verify_outputs};
