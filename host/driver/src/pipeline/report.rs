//! The report of a run: plain data, and the JSON that `--json` prints.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use passdock_ir::Module;
use serde::{Deserialize, Serialize};

use passdock_core::{Diagnostic, InstrumentReport, PassError, PassRecord};

use crate::prepare::{PipelineText, Prepared, Request};

/// The version of what `--json` prints. New keys don't raise it: it is another one when a key goes, or means something
/// else.
pub const JSON_VERSION: u32 = 1;

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
    /// The time that it took, reading, writing and freeing included.
    pub seconds: f64,
    /// Each pass that was reached, in the order of execution.
    pub passes: Vec<PassRecord>,
    /// The status to exit with: 0 all done; 1 a pass, the model or the output failed; 2 the pipeline is wrong; 3 a
    /// plugin that is needed couldn't be loaded.
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

impl Report {
    /// Returns the report of a run that failed before anything else is known of it.
    pub fn failed(model: &Path, error: &PassError) -> Report {
        Report {
            model: ModelReport {
                input: model.display().to_string(),
                ..ModelReport::default()
            },
            exit_status: error.exit_status(),
            diagnostics: vec![error.to_diagnostic()],
            ..Report::default()
        }
    }
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
    /// The same by kind, those first of which the number changed most.
    #[serde(default)]
    pub kinds: Vec<KindReport>,
    /// The bytes of the model's files when it was read; `None`: it came through a pipe.
    #[serde(default)]
    pub bytes_before: Option<u64>,
    /// The bytes of the files that were written.
    #[serde(default)]
    pub bytes_after: Option<u64>,
}

/// How many ops of a kind a model has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KindReport {
    /// The operator, or the function that is called: `onnx.Conv`.
    pub op: String,
    /// The number when the model was read.
    pub before: usize,
    /// The number in the end.
    pub after: usize,
}

/// The number of ops of each kind.
type Kinds = BTreeMap<String, usize>;

/// Counts a module's ops by kind.
pub fn counted_kinds(module: &Module) -> Kinds {
    let counts = module.counted_ops().into_iter();
    counts
        .map(|(name, count)| (module.symbols().text(name).to_owned(), count))
        .collect()
}

/// What became of the kinds.
pub(super) fn compared(before: &Kinds, after: &Kinds) -> Vec<KindReport> {
    let ops: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let number = |kinds: &Kinds, op: &String| kinds.get(op).copied().unwrap_or(0);
    let kinds = ops.into_iter().map(|op| KindReport {
        op: op.clone(),
        before: number(before, op),
        after: number(after, op),
    });
    let mut kinds: Vec<KindReport> = kinds.collect();
    // Stable: by name where as many changed.
    kinds.sort_by_key(|kind| Reverse(kind.before.abs_diff(kind.after)));
    kinds
}
