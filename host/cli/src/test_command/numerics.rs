//! `--test numerics`: the model must compute the same outputs as the model before the pipeline.
//!
//! Each comparison runs `passdock compare` in a child process, so a crash of ONNX Runtime doesn't end the search.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use passdock::oracle::Verdict;
use passdock::{Module, PassError};
use serde_json::Value;

use super::{TOO_LONG, TestResult, failed};
use crate::child;

/// The value of `--test` that selects this oracle.
pub(super) const NUMERICS: &str = "numerics";

/// Results of earlier comparisons.
#[derive(Default)]
pub(super) struct ComparedModels {
    /// The input of the last comparison, if it runs in ONNX Runtime.
    runs: Option<Module>,
    /// Whether a model that ONNX Runtime rejects is bad. It is if ONNX Runtime rejects the result of all passes.
    /// Otherwise the model may be an intermediate one, which later passes turn into a valid model.
    is_rejection_bad: Option<bool>,
}

impl ComparedModels {
    /// Returns `true` if the model is known to be good: it is the unchanged input, and the input runs.
    pub(super) fn is_good(&self, module: &Module, input: &Module) -> bool {
        module.is_same(input) && self.runs.as_ref().is_some_and(|known| known.is_same(input))
    }

    /// Records a judgment and returns the verdict. The first changed model is the result of all passes.
    pub(super) fn record(
        &mut self,
        module: &Module,
        input: &Module,
        result: &TestResult,
    ) -> Verdict {
        if result.verdict != Verdict::Unknown || result.rejected {
            self.runs = Some(input.clone());
        }
        if module.is_same(input) {
            return result.verdict;
        }
        let is_rejection_bad = *self.is_rejection_bad.get_or_insert(result.rejected);
        match result.rejected && is_rejection_bad {
            true => Verdict::Bad,
            false => result.verdict,
        }
    }
}

/// Compares two model files and writes the result to the file `out`. `runtime` is ONNX Runtime's library.
pub(super) fn compare(
    before: &Path,
    after: &Path,
    out: &Path,
    runtime: Option<&Path>,
    timeout: Option<Duration>,
) -> Result<TestResult, PassError> {
    let failed = |error| failed("could not run `numerics`", &error);
    let file = File::create(out).map_err(failed)?;
    let mut compare = Command::new(std::env::current_exe().map_err(failed)?);
    compare
        .args(["compare", "--json", "--allow-outside-data"])
        .args([before, after])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .stdout(file);
    // The system's loader resolves a name without a directory.
    if let Some(runtime) = runtime.filter(|path| path.is_absolute()) {
        compare.env("ORT_DYLIB_PATH", runtime);
    }
    let ended = child::run(&mut compare, timeout).map_err(failed)?;
    Ok(match ended {
        None => TestResult {
            verdict: Verdict::Unknown,
            output: TOO_LONG.to_owned(),
            rejected: false,
        },
        Some(_) => result_from_file(out),
    })
}

/// Returns the verdict in the output of `compare --json`.
fn result_from_file(out: &Path) -> TestResult {
    let text = std::fs::read(out).unwrap_or_default();
    let report: Value = serde_json::from_slice(&text).unwrap_or_default();
    let failure = &report["failure"];
    let rejected = failure["loaded"] == Value::Bool(false);
    let output = report["difference"].as_str();
    let output = output.or(report["diagnostics"][0]["message"].as_str());
    let (verdict, otherwise) = match (report["same"].as_bool(), rejected) {
        (Some(true), _) => (Verdict::Good, ""),
        (Some(false), false) => (Verdict::Bad, ""),
        _ => (
            Verdict::Unknown,
            "the process that runs ONNX Runtime crashed",
        ),
    };
    TestResult {
        verdict,
        output: output.unwrap_or(otherwise).to_owned(),
        rejected,
    }
}
