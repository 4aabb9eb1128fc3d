//! The report of a run, as plain data. `--json` prints it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use passdock_ir::Module;
use serde::{Deserialize, Serialize};

use passdock_core::{Diagnostic, InstrumentReport, PassError, PassRecord};

use super::sandbox::SandboxReport;
use crate::prepare::{PipelineText, Prepared, Request};

/// The version of the JSON that `--json` prints. It changes if a key is removed or changes its meaning, not if keys are
/// added.
pub const JSON_VERSION: u32 = 1;

/// The report of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Whether the run succeeded.
    pub ok: bool,
    /// The requested pipeline.
    #[serde(default)]
    pub pipeline: PipelineReport,
    /// The input and output models.
    pub model: ModelReport,
    /// The elapsed time, including reading, writing and dropping the model.
    pub seconds: f64,
    /// The passes in execution order.
    pub passes: Vec<PassRecord>,
    /// The exit status. 0: success. 1: a pass, the model or the output failed. 2: the pipeline is invalid. 3: a
    /// required plugin couldn't be loaded.
    pub exit_status: u8,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// The reproducer of the failure, if one was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reproducer: Option<String>,
    /// The sandbox of the process that ran plugins.
    #[serde(default)]
    pub sandbox: SandboxReport,
    /// The reports of instruments, with their names.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub instruments: Vec<InstrumentReport>,
}

impl Report {
    /// Sets the sandbox of the processes that ran plugins, and adds a warning for each kind of denied calls.
    #[cfg(unix)]
    pub(crate) fn set_sandbox(&mut self, sandbox: SandboxReport) {
        self.sandbox = sandbox;
        for denied in &mut self.sandbox.denied {
            let mut passes = self.passes.iter();
            let pass = passes.find(|pass| pass.file.is_some() && pass.file == denied.file);
            let plugin = pass.and_then(|pass| pass.plugin.clone());
            denied.plugin = plugin.or(denied.plugin.take());
        }
        self.diagnostics.extend(self.sandbox.warnings());
    }

    /// Adds an error after the run, which then counts as failed.
    pub fn add_error(&mut self, error: &PassError) {
        self.ok = false;
        self.exit_status = self.exit_status.max(error.exit_status());
        self.diagnostics.push(error.to_diagnostic());
    }

    /// Returns the report of a run that failed before it started.
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
    /// The file's path as the user gave it, or the name of a built-in pipeline. `None` if only single passes were
    /// requested.
    pub name: Option<String>,
    /// Whether the pipeline is built in.
    pub built_in: bool,
    /// The optimization level, or `None` if the pipeline is invalid.
    pub opt_level: Option<u32>,
}

impl PipelineReport {
    /// Creates the entry of a requested pipeline, whose level isn't known yet.
    pub(super) fn requested(request: &Request) -> PipelineReport {
        PipelineReport {
            name: request.pipeline.as_ref().map(PipelineText::name),
            built_in: request.is_built_in(),
            opt_level: None,
        }
    }

    /// Creates the entry of a prepared pipeline.
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
    /// The path of the input model.
    pub input: String,
    /// The path of the output model.
    pub output: Option<String>,
    /// The number of ops before the first pass, without constants and terminators.
    pub ops_before: usize,
    /// The number of ops after the last pass.
    pub ops_after: usize,
    /// The number of `Constant` nodes after the last pass. They aren't ops.
    #[serde(default)]
    pub constant_nodes: usize,
    /// The numbers of ops by kind, ordered by the size of the change.
    #[serde(default)]
    pub kinds: Vec<KindReport>,
    /// The size of the input files in bytes, or `None` if the input is a pipe.
    #[serde(default)]
    pub bytes_before: Option<u64>,
    /// The size of the output files in bytes.
    #[serde(default)]
    pub bytes_after: Option<u64>,
}

/// The number of ops of a kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KindReport {
    /// The operator or the called function, such as `onnx.Conv`.
    pub op: String,
    /// The number before the first pass.
    pub before: usize,
    /// The number after the last pass.
    pub after: usize,
}

/// Numbers of ops by kind.
type Kinds = BTreeMap<String, usize>;

/// Counts a module's ops by kind.
pub fn counted_kinds(module: &Module) -> Kinds {
    let counts = module.counted_ops().into_iter();
    counts
        .map(|(name, count)| (module.symbols().text(name).to_owned(), count))
        .collect()
}

/// Merges the numbers before and after, ordered by the size of the change.
pub(super) fn compared(before: &Kinds, after: &Kinds) -> Vec<KindReport> {
    let ops: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let number = |kinds: &Kinds, op: &String| kinds.get(op).copied().unwrap_or(0);
    let kinds = ops.into_iter().map(|op| KindReport {
        op: op.clone(),
        before: number(before, op),
        after: number(after, op),
    });
    let mut kinds: Vec<KindReport> = kinds.collect();
    // The sort is stable, so equal changes stay ordered by name.
    kinds.sort_by_key(|kind| Reverse(kind.before.abs_diff(kind.after)));
    kinds
}
