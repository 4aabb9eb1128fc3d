//! TOML pipelines, and `run`: from a serialisable request to a report.
//!
//! [`Prepared`] is a request whose names were looked up; [`run`](fn@run), [`explain`](fn@explain),
//! [`check`], [`Rerun`] and [`Pipeline`] go on with it.

mod absent;
mod check;
mod dot;
mod embed;
mod explain;
mod report;
mod reproduce;
mod rerun;
mod run;
mod unknown_ops;

pub use check::check;
pub use embed::Pipeline;
pub use explain::{Explained, ExplainedOption, Explanation, Place, explain};
pub use report::{ModelReport, Report};
pub use rerun::Rerun;
pub use run::run;

pub use crate::prepare::{
    AskedBy, AskedInstrument, PIPELINE, PipelineText, Prepared, Print, Request, load_plugins,
};
pub use passdock_core::Watch;

/// The JSON Schema of pipeline files, which `docs/pipelines.md` explains. `passdock schema pipeline`
/// prints it.
pub const SCHEMA: &str = include_str!("../../../../docs/schemas/pipeline.schema.json");
pub(crate) use run::run_to_module;
