//! The report of a run: plain data, and the JSON that `--json` prints.

use serde::{Deserialize, Serialize};

use passdock_core::{Diagnostic, InstrumentReport, PassRecord};

/// The report of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Whether all of it worked.
    pub ok: bool,
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
