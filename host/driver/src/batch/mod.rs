//! Batches: one pipeline on many models, in parallel, each in a worker process.
//!
//! [`items`] finds the models. [`BatchResults`] has the results of earlier runs, so that a batch can resume. [`Batch`]
//! runs the remaining models in processes of [`BatchWorker`]. The command and the Python package use this module.

mod items;
mod plugins;
mod results;
mod worker;

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use passdock_core::{Diagnostic, PassError, Severity};
use passdock_sandbox::SandboxMode;
use serde::{Deserialize, Serialize};

pub use items::{BatchItem, items};
pub use plugins::plugin_files;
pub use results::{BatchResults, Fingerprint};
pub use worker::{BatchWorker, WorkerCommand, WorkerFailure};

use crate::pipeline::{REPRODUCER, Report, Request};

/// The result of one model: a line in the file of results, and in `--json` output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelResult {
    /// The path of the model.
    pub model: String,
    /// The path of its result.
    pub output: String,
    /// Whether the run succeeded.
    pub ok: bool,
    /// The exit status of the run, as `passdock run` would return it.
    pub exit_status: u8,
    /// Whether an earlier run of the batch produced the result.
    #[serde(default)]
    pub up_to_date: bool,
    /// The elapsed time, including reading and writing.
    pub seconds: f64,
    /// The number of ops before the first pass, without constants and terminators.
    pub ops_before: usize,
    /// The number of ops of the result.
    pub ops_after: usize,
    /// The size of the model's files in bytes before the run.
    pub bytes_before: Option<u64>,
    /// The size of the written files in bytes.
    pub bytes_after: Option<u64>,
    /// Errors, warnings, and the note with the path of the reproducer.
    pub diagnostics: Vec<Diagnostic>,
    /// The reproducer of the failure, if one was written.
    pub reproducer: Option<String>,
    /// A hash of the result's inputs: model, pipeline, options, plugins.
    pub fingerprint: String,
}

impl ModelResult {
    /// Creates the result of a run.
    fn new(item: &BatchItem, fingerprint: String, report: Report) -> ModelResult {
        let is_kept = |diagnostic: &Diagnostic| {
            diagnostic.severity <= Severity::Warning || diagnostic.code == REPRODUCER
        };
        ModelResult {
            model: display_path(&item.model),
            output: display_path(&item.output),
            ok: report.ok,
            exit_status: report.exit_status,
            up_to_date: false,
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

fn display_path(path: &Path) -> String {
    path.display().to_string()
}

/// The first argument of the `passdock` command that makes it the process of a [`BatchWorker`].
pub const WORKER: &str = "__batch-worker";

/// A job of the `passdock` command as a [`BatchWorker`]: a request, which it runs in a child process and a sandbox. A
/// program that embeds the host runs plugins it doesn't trust this way.
///
/// # Examples
/// ```no_run
/// use std::sync::Arc;
///
/// # mod passdock {
/// #     pub use passdock_driver::*;
/// # }
/// use passdock::batch::{BatchWorker, Job, WORKER, WorkerCommand};
/// use passdock::pipeline::Request;
///
/// let command = WorkerCommand {
///     program: "passdock".into(),
///     arguments: vec![WORKER.into()],
///     ..WorkerCommand::default()
/// };
/// let mut worker = BatchWorker::new(Arc::new(command), Arc::default());
/// let job = Job {
///     request: Request {
///         passes: vec!["relax.transform.SimplifyExpr".to_owned()],
///         model: "model.onnx".into(),
///         output: Some("optimized.onnx".into()),
///         ..Request::default()
///     },
///     ..Job::default()
/// };
/// match worker.run(&job, None) {
///     Ok(report) => println!("{}: {:?}", report.ok, report.sandbox.active),
///     Err(failure) => println!("{}", failure.error),
/// }
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Job {
    /// The request.
    pub request: Request,
    /// Whether to run it in the worker itself, without a sandbox.
    pub in_process: bool,
    /// The time limit in seconds.
    pub timeout: Option<f64>,
    /// Whether plugins run in a sandbox.
    pub sandbox: SandboxMode,
}

/// A batch that can resume: it runs the models without an up-to-date result.
///
/// # Examples
/// ```
/// # mod passdock {
/// #     pub use passdock_driver::*;
/// # }
/// use passdock::batch::{Batch, Fingerprint, items};
/// use passdock::pipeline::Request;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let directory = tempfile::tempdir()?;
/// let models = directory.path().join("models");
/// std::fs::create_dir(&models)?;
/// std::fs::write(models.join("first.onnx"), "")?;
///
/// let output = directory.path().join("out");
/// std::fs::create_dir(&output)?;
/// let fingerprint = Fingerprint::new(&Request::default(), &[]);
/// let items = items(&[models], &output)?;
/// let batch = Batch::open(items, &fingerprint, &output.join("results.jsonl"), None, true)?;
/// assert_eq!((batch.done.len(), batch.left.len()), (0, 1));
/// // `batch.run` runs the remaining models in worker processes.
/// # Ok(())
/// # }
/// ```
pub struct Batch<'f> {
    /// The results of the models that are up to date.
    pub done: Vec<ModelResult>,
    /// The remaining models.
    pub left: Vec<BatchItem>,
    fingerprint: &'f Fingerprint,
    results: BatchResults,
    at_once: usize,
}

impl<'f> Batch<'f> {
    /// Opens the file of results and determines which models are up to date. Unless the batch `resumes`, none is.
    /// `at_once` is the number of parallel runs; it defaults to the number of cores.
    ///
    /// # Errors
    /// See [`BatchResults::open`].
    pub fn open(
        items: Vec<BatchItem>,
        fingerprint: &'f Fingerprint,
        results: &Path,
        at_once: Option<usize>,
        resumes: bool,
    ) -> Result<Batch<'f>, PassError> {
        let results = BatchResults::open(results)?;
        let (mut done, mut left) = (Vec::new(), Vec::new());
        for item in items {
            match results.done(&item, fingerprint).filter(|_| resumes) {
                Some(result) => done.push(result),
                None => left.push(item),
            }
        }
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        Ok(Batch {
            done,
            left,
            fingerprint,
            results,
            at_once: at_once.unwrap_or_else(cores),
        })
    }

    /// Runs the remaining models in workers, largest first, until `stop` is set.
    ///
    /// `job` creates the job of a model, which may use the given number of threads, or all cores with `None`. A job
    /// that takes longer than `timeout` fails. `report` receives each result on this thread after it is in the file.
    ///
    /// # Errors
    /// If a result can't be written. The batch then ends when the running models are done.
    pub fn run<J: Serialize>(
        &mut self,
        command: &Arc<WorkerCommand>,
        stop: &Arc<AtomicBool>,
        job: impl Fn(&BatchItem, Option<usize>) -> J + Sync,
        timeout: Option<Duration>,
        report: &mut dyn FnMut(ModelResult),
    ) -> Result<(), PassError> {
        // A single model gets all cores.
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
        let results = &mut self.results;
        // Models that are running when the batch is stopped get no result.
        let keep = &mut |result| match stop.load(Ordering::Relaxed) {
            true => Err(None),
            false => {
                results.add(&result).map_err(Some)?;
                report(result);
                Ok(())
            }
        };
        let ended = run(&self.left, self.fingerprint, self.at_once, new_runner, keep);
        ended.or_else(|error| error.map_or(Ok(()), Err))
    }
}

/// Runs the models of `items`, `at_once` in parallel, largest first. `new_runner` creates the runner of a thread, which
/// runs models one after another. `report` receives each result on this thread. If it returns an error, the batch ends
/// when the running models are done.
///
/// # Errors
/// The error of `report`.
fn run<E, R: FnMut(&BatchItem) -> Report>(
    items: &[BatchItem],
    fingerprint: &Fingerprint,
    at_once: usize,
    new_runner: impl Fn() -> R + Sync,
    report: &mut dyn FnMut(ModelResult) -> Result<(), E>,
) -> Result<(), E> {
    let mut order: Vec<&BatchItem> = items.iter().collect();
    order.sort_by_key(|item| std::cmp::Reverse(item.bytes()));
    let next = AtomicUsize::new(0);
    let (send, results) = mpsc::channel();
    let (order, next, new_runner) = (&order, &next, &new_runner);
    thread::scope(|scope| {
        for _ in 0..at_once.clamp(1, items.len().max(1)) {
            let send = send.clone();
            scope.spawn(move || {
                let mut runner = new_runner();
                while let Some(item) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Computed before reading, so that a model that changes during the run isn't up to date next time.
                    let fingerprint = fingerprint.for_file(&item.model);
                    let result = ModelResult::new(item, fingerprint, runner(item));
                    if send.send(result).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        // If an error drops `results`, sending fails and the threads exit.
        results.into_iter().try_for_each(report)
    })
}

/// Returns the report of a model whose worker returned none.
pub fn failed(model: &Path, failure: &WorkerFailure, seconds: f64) -> Report {
    Report {
        seconds,
        ..Report::failed(model, &failure.error)
    }
}

#[cfg(test)]
mod tests;
