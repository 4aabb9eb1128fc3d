//! What came of a run: plain data, and the JSON that `--json` prints.

use serde::{Deserialize, Serialize};

use passdock_core::{Diagnostic, InstrumentReport, PassRecord};

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
    pub passes: Vec<PassRecord>,
    /// 0 all done; 1 a pass, the model or the output failed; 2 the pipeline is wrong; 3 a plugin
    /// that is needed couldn't be loaded.
    pub exit_status: u8,
    /// What there is to say.
    pub diagnostics: Vec<Diagnostic>,
    /// The reproducer of the failure, if one was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reproducer: Option<String>,
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
