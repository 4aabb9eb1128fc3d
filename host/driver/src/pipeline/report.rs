//! The report of a run: plain data, and the JSON that `--json` prints.

use serde::{Deserialize, Serialize};

use passdock_core::{Diagnostic, InstrumentReport, PassRecord};

use crate::prepare::{PipelineText, Prepared, Request};

/// The report of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Whether all of it worked.
    pub ok: bool,
    /// The pipeline that was asked for.
    #[serde(default)]
    pub pipeline: PipelineReport,
    /// The models that were read and written.
    pub model: ModelReport,
    /// The time that it took, reading and writing included.
    pub seconds: f64,
    /// Each pass that was reached, in the order of execution.
    pub passes: Vec<PassRecord>,
    /// The status to exit with: 0 all done; 1 a pass, the model or the output failed; 2 the pipeline is wrong; 3 a plugin
    /// that is needed couldn't be loaded.
    pub exit_status: u8,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// The reproducer of the failure, if one was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reproducer: Option<String>,
    /// The reports of instruments, by their names.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub instruments: Vec<InstrumentReport>,
}

/// The pipeline of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PipelineReport {
    /// The file's path, as the user gave it, or the name of a built-in pipeline; `None`: the passes were
    /// named one by one.
    pub name: Option<String>,
    /// Whether it is inside the program, and no file.
    pub built_in: bool,
    /// The level that its passes went by; `None`: it was wrong.
    pub opt_level: Option<u32>,
}

impl PipelineReport {
    /// The pipeline that a request asks for; its level isn't known yet.
    pub(super) fn asked(request: &Request) -> PipelineReport {
        PipelineReport {
            name: request.pipeline.as_ref().map(PipelineText::name),
            built_in: request.is_built_in(),
            opt_level: None,
        }
    }

    /// A pipeline whose names were looked up.
    pub(super) fn prepared(prepared: &Prepared) -> PipelineReport {
        let name = &prepared.file.source.name;
        PipelineReport {
            name: (!name.is_empty()).then(|| name.to_string()),
            built_in: prepared.built_in,
            opt_level: Some(prepared.context.opt_level()),
        }
    }
}

/// The models of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelReport {
    /// The model that was read.
    #[serde(rename = "in")]
    pub input: String,
    /// The model that was written.
    #[serde(rename = "out")]
    pub output: Option<String>,
    /// The model's ops when it was read, without constants and terminators.
    pub ops_before: usize,
    /// The model's ops in the end.
    pub ops_after: usize,
}
