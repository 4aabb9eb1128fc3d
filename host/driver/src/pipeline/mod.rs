//! TOML pipelines, and `run`: from a serialisable request to a report.
//!
//! [`file`](mod@file) reads the TOML, `build` looks up everything that a [`Request`] names, [`run`](fn@run) does the work
//! and answers a [`Report`], [`explain`](fn@explain) says what it would do.

mod absent;
mod bind;
mod blame;
mod build;
mod dot;
mod embed;
mod explain;
pub mod file;
mod instruments;
mod phases;
mod report;
mod reproduce;
mod request;
mod rerun;
mod run;
mod table;
mod taken;
mod unknown_ops;

pub use build::PIPELINE;
pub use build::load_plugins;
pub use embed::{Pipeline, Resolved};
pub use explain::{Explained, ExplainedOption, Explanation, Place, check, explain};
pub use report::{ModelReport, Report};
pub use request::{PipelineText, Print, Request};
pub use rerun::Rerun;
pub use run::run;

pub use passdock_core::Watch;
pub(crate) use run::run_to_module;
