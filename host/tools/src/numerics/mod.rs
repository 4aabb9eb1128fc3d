//! The comparison of models in ONNX Runtime.
//!
//! The instrument `numerics` runs the model on sample inputs before the first pass and after each pass that changed
//! it, and reports the first pass that changed the results. ONNX Runtime's library is loaded into this process on first
//! use, so a model that crashes it ends the run.
//!
//! A module that can't be checked is reported as "not checked" with the reason, and never as "same". Results are the
//! same if each element is within the tolerance of its type (see `tolerance`: in f32
//! `max(1e-7, 1e-5 · max|a|) + 1e-4 · |a|`), or within that of the lower precision that passes introduced. Integers,
//! bools and strings have to be equal; NaN equals NaN.
//!
//! - `ort/` is the runtime: finding its library, calling it, its tensors. `sessions` opens modules in it.
//! - `samples/` generates inputs or reads them from files. `sizes` finds sizes that a model runs with.
//! - `compare` compares two models: their `interface`s, then their `outputs`, element by element (`tolerance`). It is
//!   used by `passdock compare`, `--test numerics` and both instruments.
//! - `instrument` is `numerics`, which compares the module after each pass with the one before. `verify_outputs`
//!   compares the last module of a run with the first.

mod compare;
mod instrument;
mod interface;
mod options;
mod ort;
mod outputs;
mod precision;
mod row;
mod samples;
mod sessions;
mod sizes;
mod text;
mod tolerance;
mod verify_outputs;

pub use compare::{
    CompareOptions, Comparison, InconsistentSymbol, RunFailure, RuntimeUsed, compare, find,
};
pub use instrument::instrument;
pub use interface::InterfaceDifference;
pub use outputs::OutputComparison;
pub use sizes::SampleSize;
pub use tolerance::ElementDifference;
pub use verify_outputs::{VERIFY_OUTPUTS, verify_outputs};
