//! What came of a run: plain data, and the JSON that `--json` prints.

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Whether all of it worked.
    pub ok: bool,
    /// What was read and written.
    pub model: ModelReport,
    /// How long it took, reading and writing included.
    pub seconds: f64,
    /// Each pass that was reached, in the order of execution.
    pub passes: Vec<PassReport>,
    /// 0 all done; 1 a pass, the model or the output failed; 2 the pipeline is wrong; 3 a plugin
    /// that is needed couldn't be loaded.
    pub exit_status: u8,
    /// What there is to say.
    pub diagnostics: Vec<Diagnostic>,
    /// What instruments have to show, by their names.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub instruments: Vec<InstrumentReport>,
}

/// What was read and written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelReport {
    /// The model that was read.
    #[serde(rename = "in")]
    pub input: String,
    /// The model that was written.
    #[serde(rename = "out")]
    pub output: Option<String>,
    /// Its ops when it was read, without constants and terminators.
    pub ops_before: usize,
    /// Its ops in the end.
    pub ops_after: usize,
}

/// What came of a pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassReport {
    /// Its registered name.
    pub name: String,
    /// The name of the plugin that gives it.
    pub plugin: Option<String>,
    /// The plugin's file.
    pub file: Option<String>,
    /// The pass that required it; `None`: the pipeline lists it.
    pub requested_by: Option<String>,
    /// The nested Sequential that it is part of.
    pub parent: Option<String>,
    /// What came of it.
    pub status: PassStatus,
    /// Why, where the status doesn't say it.
    pub reason: String,
    /// How long it took.
    pub seconds: f64,
    /// The module's ops before it.
    pub ops_before: usize,
    /// The module's ops after it.
    pub ops_after: usize,
}

/// What came of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassStatus {
    /// It changed the module.
    Changed,
    /// It ran and changed nothing.
    Unchanged,
    /// It didn't run.
    Skipped,
    /// It failed and changed nothing.
    Failed,
}

/// What an instrument has to show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstrumentReport {
    /// The instrument.
    pub name: String,
    /// Its text.
    pub text: String,
}
