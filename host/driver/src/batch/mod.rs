//! Many models through one pipeline: several at once, each in a process of its own.
//!
//! [`items`] finds the models, [`Outcomes`] has the outcomes of earlier runs, so that the same batch again does the
//! rest, and [`Batch`] runs it, with processes of [`BatchWorker`]. The command and the Python package use it.

mod items;
mod outcomes;
mod plugins;
mod worker;

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use passdock_core::{Diagnostic, PassError, Severity};
use serde::{Deserialize, Serialize};

pub use items::{BatchItem, items};
pub use outcomes::{Fingerprint, Outcomes};
pub use plugins::plugin_files;
pub use worker::{BatchWorker, WorkerCommand, WorkerFailure};

use crate::pipeline::{REPRODUCER, Report};

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

/// A batch with the outcomes of earlier runs: it runs the models that aren't done.
pub struct Batch<'f> {
    /// The outcomes of models that are done.
    pub done: Vec<ModelOutcome>,
    /// The models that are left.
    pub left: Vec<BatchItem>,
    fingerprint: &'f Fingerprint,
    outcomes: Outcomes,
    at_once: usize,
}

impl<'f> Batch<'f> {
    /// Opens the file of outcomes, and finds out which models are done; none is unless the batch `resumes`. `at_once`
    /// models run at a time; `None`: as many as there are cores.
    ///
    /// # Errors
    /// As [`Outcomes::open`].
    pub fn open(
        items: Vec<BatchItem>,
        fingerprint: &'f Fingerprint,
        results: &Path,
        at_once: Option<usize>,
        resumes: bool,
    ) -> Result<Batch<'f>, PassError> {
        let outcomes = Outcomes::open(results)?;
        let (mut done, mut left) = (Vec::new(), Vec::new());
        for item in items {
            match outcomes.done(&item, fingerprint).filter(|_| resumes) {
                Some(outcome) => done.push(outcome),
                None => left.push(item),
            }
        }
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        Ok(Batch {
            done,
            left,
            fingerprint,
            outcomes,
            at_once: at_once.unwrap_or_else(cores),
        })
    }

    /// Runs the models that are left in workers, until `stop` is set; the largest begin. `job` makes the job of a
    /// model, which may take so many threads; `None`: all cores. A job that takes longer than `timeout` has failed.
    /// `report` receives each outcome on this thread, when it is in the file.
    ///
    /// # Errors
    /// If an outcome can't be kept, which ends the batch when the running models are done.
    pub fn run<J: Serialize>(
        &mut self,
        command: &Arc<WorkerCommand>,
        stop: &Arc<AtomicBool>,
        job: impl Fn(&BatchItem, Option<usize>) -> J + Sync,
        timeout: Option<Duration>,
        report: &mut dyn FnMut(ModelOutcome),
    ) -> Result<(), PassError> {
        // A model that is alone has all cores.
        let threads = (self.at_once > 1 && self.left.len() > 1).then_some(1);
        let new_runner = || {
            let mut worker = BatchWorker::new(command.clone(), stop.clone());
            let job = &job;
            move |item: &BatchItem| {
                let start = Instant::now();
                let report = worker.run(&job(item, threads), timeout);
                report.unwrap_or_else(|failure| {
                    failed(&item.model, &failure, start.elapsed().as_secs_f64())
                })
            }
        };
        let outcomes = &mut self.outcomes;
        // The models that run when the batch is stopped have no outcome.
        let keep = &mut |outcome| match stop.load(Ordering::Relaxed) {
            true => Err(None),
            false => {
                outcomes.add(&outcome).map_err(Some)?;
                report(outcome);
                Ok(())
            }
        };
        let ended = run(&self.left, self.fingerprint, self.at_once, new_runner, keep);
        ended.or_else(|error| error.map_or(Ok(()), Err))
    }
}

/// Runs the models of `items`, `at_once` at a time; the largest begin. `new_runner` makes what runs the models of one
/// thread, one after another. `report` receives each outcome on this thread. An error of it ends the batch when the
/// running models are done.
///
/// # Errors
/// That of `report`.
fn run<E, R: FnMut(&BatchItem) -> Report>(
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
                    let fingerprint = fingerprint.of_file(&item.model);
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
        seconds,
        ..Report::failed(model, &failure.error)
    }
}

#[cfg(test)]
mod tests;
