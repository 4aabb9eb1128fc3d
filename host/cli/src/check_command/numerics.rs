//! `--check numerics`: the model has to compute what the one before the pipeline does.
//!
//! `passdock compare` says so, in a process of its own: what makes ONNX Runtime crash ends no search.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use passdock::judge::Verdict;
use passdock::{Module, PassError, waiting};
use serde_json::Value;

use super::{Judgement, TOO_LONG, failed};

/// The word that stands for this instead of a command.
pub(super) const NUMERICS: &str = "numerics";

/// The findings of earlier comparisons.
#[derive(Default)]
pub(super) struct ComparedModels {
    /// The last model that was compared with another one, and runs.
    runs: Option<Module>,
    /// Whether ONNX Runtime refuses what all passes make, so that this is what is searched for. Otherwise a model that
    /// it refuses may be one on the way, of which later passes make one that it takes.
    is_refusal_bad: Option<bool>,
}

impl ComparedModels {
    /// Whether a model is one that is known to be as it should.
    pub(super) fn is_good(&self, module: &Module, input: &Module) -> bool {
        module.is_same(input) && self.runs.as_ref().is_some_and(|known| known.is_same(input))
    }

    /// The verdict on a model. The first one that passes made is what all of them make.
    pub(super) fn learn(
        &mut self,
        module: &Module,
        input: &Module,
        judgement: &Judgement,
    ) -> Verdict {
        if judgement.verdict != Verdict::Unknown || judgement.refused {
            self.runs = Some(input.clone());
        }
        if module.is_same(input) {
            return judgement.verdict;
        }
        let is_refusal_bad = *self.is_refusal_bad.get_or_insert(judgement.refused);
        match judgement.refused && is_refusal_bad {
            true => Verdict::Bad,
            false => judgement.verdict,
        }
    }
}

/// Compares two models that were written; the answer goes to the file `out`. `runtime` is ONNX Runtime's library.
pub(super) fn compare(
    before: &Path,
    after: &Path,
    out: &Path,
    runtime: Option<&Path>,
    timeout: Option<Duration>,
) -> Result<Judgement, PassError> {
    let failed = |error| failed("`numerics` can't be run", &error);
    let file = File::create(out).map_err(failed)?;
    let mut compare = Command::new(std::env::current_exe().map_err(failed)?);
    compare
        .args(["compare", "--json", "--allow-outside-data"])
        .args([before, after])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .stdout(file);
    // A name without a directory is for the system's loader.
    if let Some(runtime) = runtime.filter(|path| path.is_absolute()) {
        compare.env("ORT_DYLIB_PATH", runtime);
    }
    let ended = waiting::run(&mut compare, timeout).map_err(failed)?;
    Ok(match ended {
        None => Judgement {
            verdict: Verdict::Unknown,
            output: TOO_LONG.to_owned(),
            refused: false,
        },
        Some(_) => answered(out),
    })
}

/// The verdict in an answer of `compare --json`.
fn answered(out: &Path) -> Judgement {
    let text = std::fs::read(out).unwrap_or_default();
    let answer: Value = serde_json::from_slice(&text).unwrap_or_default();
    let failure = &answer["failure"];
    let refused = failure["is_taken"] == Value::Bool(false);
    let output = answer["difference"].as_str();
    let output = output.or(answer["diagnostics"][0]["message"].as_str());
    let (verdict, otherwise) = match (answer["same"].as_bool(), refused) {
        (Some(true), _) => (Verdict::Good, ""),
        (Some(false), false) => (Verdict::Bad, ""),
        _ => (
            Verdict::Unknown,
            "the process that runs ONNX Runtime crashed",
        ),
    };
    Judgement {
        verdict,
        output: output.unwrap_or(otherwise).to_owned(),
        refused,
    }
}
