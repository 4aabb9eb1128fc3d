//! Pipelines in TOML, and `run`, which executes a serializable request and returns a report.
//!
//! [`Prepared`] is a request with resolved names. [`run`](fn@run), [`explain`](fn@explain), [`check`], [`Rerun`] and
//! [`Pipeline`] use it.

mod check;
mod diagnostics;
mod embed;
mod explain;
mod output_error;
mod remarks;
mod report;
mod reproduce;
mod rerun;
mod run;
mod sandbox;
mod types;
mod watch;

pub use check::check;
pub use embed::Pipeline;
pub use explain::{Explained, ExplainedOption, Explanation, PhasePasses, explain};
pub use remarks::{InvalidOperator, UsedOperators, check_new_op};
pub use report::{JSON_VERSION, KindReport, ModelReport, PipelineReport, Report, counted_kinds};
pub(crate) use reproduce::REPRODUCER;
pub use rerun::{Rerun, Trial, Trials};
pub use run::{Finished, commit, failed, run, run_staged};
pub use sandbox::{DeniedCallCount, SandboxReport};
pub use types::infer_types;

pub use crate::pipeline_file::SCHEMA;
pub use crate::pipeline_file::built_in::{BUILT_IN, BuiltInPipeline, DEFAULT};
pub use crate::prepare::{
    PIPELINE, PipelineText, Prepared, Print, Request, RequestSource, RequestedInstrument,
    load_plugins, no_plugins, read_patterns, read_rules,
};
pub use watch::{Reproduces, Watch};
