//! Many models through one pipeline: several at once, each in a process of its own.
//!
//! [`items`] finds the models, [`Outcomes`] has the outcomes of earlier runs, so that the same batch again does the
//! rest, and [`run`] runs it, with processes of [`BatchWorker`]. The command and the Python package use it.

mod items;
mod outcomes;
mod plugins;
mod worker;

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use passdock_core::{Diagnostic, Severity};
use serde::{Deserialize, Serialize};

pub use items::{BatchItem, items};
pub use outcomes::{Fingerprint, Outcomes};
pub use plugins::plugin_files;
pub use worker::{BatchWorker, WorkerCommand, WorkerFailure};

use crate::pipeline::{ModelReport, REPRODUCER, Report};

/// The outcome of one model: a line of the file of outcomes, and of `--json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelOutcome {
    /// The model that was read.
    pub model: String,
    /// The file that its result is written to.
    pub output: String,
    /// Whether all of it worked.
    pub ok: bool,
    /// The status of the run: as of `passdock run`.
    pub exit_status: u8,
    /// Whether it was done by an earlier run of the batch, and not again.
    #[serde(default)]
    pub done_before: bool,
    /// The time that it took, reading and writing included.
    pub seconds: f64,
    /// The model's ops when it was read, without constants and terminators.
    pub ops_before: usize,
    /// The ops of the result.
    pub ops_after: usize,
    /// The bytes of the model's files when it was read.
    pub bytes_before: Option<u64>,
    /// The bytes of the files that were written.
    pub bytes_after: Option<u64>,
    /// Errors and warnings, and where a reproducer is.
    pub diagnostics: Vec<Diagnostic>,
    /// The reproducer of the failure, if one was written.
    pub reproducer: Option<String>,
    /// What the result was made of: model, pipeline, options, plugins.
    pub fingerprint: String,
}

impl ModelOutcome {
    /// The outcome of a run.
    fn new(item: &BatchItem, fingerprint: String, report: Report) -> ModelOutcome {
        let is_kept = |diagnostic: &Diagnostic| {
            diagnostic.severity <= Severity::Warning || diagnostic.code == REPRODUCER
        };
        ModelOutcome {
            model: shown(&item.model),
            output: shown(&item.output),
            ok: report.ok,
            exit_status: report.exit_status,
            done_before: false,
            seconds: report.seconds,
            ops_before: report.model.ops_before,
            ops_after: report.model.ops_after,
            bytes_before: report.model.bytes_before,
            bytes_after: report.model.bytes_after,
            diagnostics: report.diagnostics.into_iter().filter(is_kept).collect(),
            reproducer: report.reproducer,
            fingerprint,
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Runs the models of `items`, `at_once` at a time; the largest begin. `new_runner` makes what runs the models of one
/// thread, one after another. `report` receives each outcome on this thread. An error of it ends the batch when the
/// running models are done.
///
/// # Errors
/// That of `report`.
pub fn run<E, R: FnMut(&BatchItem) -> Report>(
    items: &[BatchItem],
    fingerprint: &Fingerprint,
    at_once: usize,
    new_runner: impl Fn() -> R + Sync,
    report: &mut dyn FnMut(ModelOutcome) -> Result<(), E>,
) -> Result<(), E> {
    let mut order: Vec<&BatchItem> = items.iter().collect();
    order.sort_by_key(|item| std::cmp::Reverse(item.bytes()));
    let next = AtomicUsize::new(0);
    let (send, outcomes) = mpsc::channel();
    let (order, next, new_runner) = (&order, &next, &new_runner);
    thread::scope(|scope| {
        for _ in 0..at_once.clamp(1, items.len().max(1)) {
            let send = send.clone();
            scope.spawn(move || {
                let mut runner = new_runner();
                while let Some(item) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Taken first: a model that changes while it is read is another one the next time.
                    let fingerprint = fingerprint.of(item);
                    let outcome = ModelOutcome::new(item, fingerprint, runner(item));
                    if send.send(outcome).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        // When an error drops `outcomes`, threads can't send and end.
        outcomes.into_iter().try_for_each(report)
    })
}

/// Returns the report of a model whose process has none.
pub fn failed(model: &Path, failure: &WorkerFailure, seconds: f64) -> Report {
    Report {
        exit_status: failure.error.exit_status(),
        diagnostics: vec![failure.error.to_diagnostic()],
        seconds,
        model: ModelReport {
            input: shown(model),
            ..ModelReport::default()
        },
        ..Report::default()
    }
}

/// The models at once if none are asked for: the number of cores.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

#[cfg(test)]
mod tests;
