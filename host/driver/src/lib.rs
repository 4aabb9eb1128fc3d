//! From a request to a report: pipelines in TOML, models as files, and reproducers of failures.
//!
//! [`pipeline`] is what the command runs: it reads the pipeline's text, looks up what that names,
//! reads the model, runs the passes and writes what they made; some pipelines are inside the program. [`model_file`]
//! reads and writes models of every format. [`reproducer`] keeps what it takes to run into a failure again, [`replay`]
//! does.
//!
//! **Invariant:** `pipeline::run` is a function from a serialisable `Request` to a `Report`.

pub mod batch;
mod bodies;
#[cfg(unix)]
mod children;
pub mod judge;
pub mod model_file;
pub mod pipeline;
mod pipeline_file;
mod prepare;
mod raw_path;
pub mod replay;
pub mod reproducer;
#[cfg(unix)]
pub mod supervised;
pub mod testing;
pub mod waiting;

pub use bodies::{body_for, put_functions, raise_opset, replace_body};
