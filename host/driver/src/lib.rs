//! The driver: runs a request and returns a report. It reads pipelines in TOML, reads and writes model files, and
//! handles reproducers of failures.
//!
//! [`pipeline`] runs pipelines: it parses the text, resolves names, reads the model, runs the passes and writes the
//! result. It also contains the built-in pipelines. [`model_file`] reads and writes models in all formats.
//! [`reproducer`] writes reproducers, and [`replay`] runs them.
//!
//! **Invariant:** `pipeline::run` is a function from a serializable `Request` to a `Report`.

pub mod batch;
mod bodies;
pub mod model_file;
pub mod oracle;
pub mod pipeline;
mod pipeline_file;
mod prepare;
pub mod provenance;
pub mod replay;
pub mod reproducer;
#[cfg(unix)]
pub mod supervised;
pub mod testing;
pub mod trust;
pub mod waiting;

pub use bodies::{body_for, put_functions, raise_opset, replace_body};
