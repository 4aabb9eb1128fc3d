//! Batches, run by the same engine as `passdock batch`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use passdock::batch::{
    self, BatchItem, BatchResults as ResultFile, ModelResult, WorkerCommand, plugin_files,
};
use passdock::pipeline::{Print, Request};
use passdock::{PassError, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value as Json, json};

use crate::crossing::error::Result;
use crate::crossing::gil;
use crate::pipeline::{in_python_terms, request};

/// The interval at which a call that waits for a result checks for signals.
const SIGNALS: Duration = Duration::from_millis(100);

/// Returns the models in files and directories, with the paths of their results.
#[pyfunction]
pub(crate) fn batch_items(
    py: Python<'_>,
    models: Vec<PathBuf>,
    to: PathBuf,
) -> Result<Vec<(PathBuf, PathBuf)>> {
    let items = gil::detach(py, || batch::items(&models, &to))?.into_iter();
    Ok(items.map(|item| (item.model, item.output)).collect())
}

/// The inputs that all results of a batch depend on: the passdock version, the request, and the files of its plugins
/// and Python passes.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Fingerprint(Arc<batch::Fingerprint>);

#[pymethods]
impl Fingerprint {
    #[new]
    fn new(py: Python<'_>, fields: &Bound<'_, PyDict>, files: Vec<PathBuf>) -> Result<Fingerprint> {
        let (request, _) = request(fields)?;
        let plugins = gil::detach(py, || plugin_files(Registry::global(), &request))?;
        let own = batch::Fingerprint::new(&request, &plugins)
            .with_files(files.iter().map(PathBuf::as_path));
        Ok(Fingerprint(Arc::new(own)))
    }

    /// Returns the fingerprint of the result of a model file, as ``passdock batch`` computes it.
    fn for_file(&self, model: PathBuf) -> String {
        self.0.for_file(&model)
    }

    /// Returns the fingerprint of the result of a model at an address. ``state`` has to change when the model does.
    fn for_address(&self, address: &str, state: &str) -> String {
        self.0.for_address(address, state)
    }
}

/// The file of results, locked by this batch until it is closed. Results are JSON.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct BatchResults(Mutex<Option<ResultFile>>);

#[pymethods]
impl BatchResults {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> Result<BatchResults> {
        let opened = gil::detach(py, || ResultFile::open(&path))?;
        Ok(BatchResults(Mutex::new(Some(opened))))
    }

    /// Returns the result of a model if it succeeded with the same fingerprint. The output file may be missing.
    fn known(&self, model: PathBuf, output: PathBuf, fingerprint: &str) -> Result<Option<String>> {
        let item = BatchItem { model, output };
        let known = self.with(|file| file.known(&item, fingerprint))?;
        Ok(known
            .map(|known| serde_json::to_string(&known))
            .transpose()?)
    }

    /// Appends a result in a single write.
    fn add(&self, result: &str) -> Result {
        let result = serde_json::from_str(result)?;
        Ok(self.with(|file| file.add(&result))??)
    }

    /// Closes the file, so that another batch can open it.
    fn close(&self) {
        *lock(&self.0) = None;
    }
}

impl BatchResults {
    fn with<T>(&self, use_file: impl FnOnce(&mut ResultFile) -> T) -> PyResult<T> {
        let mut file = lock(&self.0);
        let file = file.as_mut().map(use_file);
        file.ok_or_else(|| PyValueError::new_err("the file of results is closed"))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The settings shared by the jobs of a batch: workers and a job template.
struct Jobs {
    command: Arc<WorkerCommand>,
    timeout: Option<Duration>,
    /// A job without model and output.
    template: Json,
    /// Whether the batch was stopped.
    stop: Arc<AtomicBool>,
}

impl Jobs {
    fn worker(&self) -> batch::BatchWorker {
        batch::BatchWorker::new(self.command.clone(), self.stop.clone())
    }

    fn job(&self, model: &Path, output: &Path, jobs: Option<usize>) -> Json {
        let request = Request {
            model: model.to_owned(),
            output: Some(output.to_owned()),
            replaces_links: true,
            jobs,
            ..Request::default()
        };
        let mut model_request = serde_json::to_value(request).unwrap_or_default();
        let mut job = self.template.clone();
        for name in ["model", "output", "replaces_links", "jobs"] {
            job["request"][name] = model_request[name].take();
        }
        job
    }

    /// Runs a batch until it is finished or stopped.
    fn run(
        &self,
        mut batch: batch::Batch<'_>,
        report: &mut dyn FnMut(ModelResult),
    ) -> Result<(), PassError> {
        batch.done.drain(..).for_each(&mut *report);
        let job = |item: &BatchItem, threads| self.job(&item.model, &item.output, threads);
        batch.run(&self.command, &self.stop, job, self.timeout, report)
    }
}

/// A worker process that runs models, and the settings to start more of them.
///
/// Args:
///     said: The request, without a model.
///     command: The program and its arguments.
///     environment: Variables in addition to those of this process.
///     job: The job of a Python worker, as JSON. Without it, the worker is the passdock command.
///     timeout: The time limit of a run, in seconds.
///     sandbox: Whether the command runs plugins in a sandbox: "auto", "require" or "off".
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Worker {
    jobs: Arc<Jobs>,
    worker: Mutex<batch::BatchWorker>,
}

#[pymethods]
impl Worker {
    #[new]
    #[pyo3(signature = (fields, command, environment, job = None, timeout = None, sandbox = "auto"))]
    fn new(
        fields: &Bound<'_, PyDict>,
        command: Vec<OsString>,
        environment: Vec<(OsString, OsString)>,
        job: Option<&str>,
        timeout: Option<f64>,
        sandbox: &str,
    ) -> Result<Worker> {
        let template = match job {
            Some(job) => serde_json::from_str(job)?,
            None => {
                let (mut request, _) = request(fields)?;
                request.print = Print {
                    to_stderr: true,
                    color: false,
                };
                json!({ "request": request, "timeout": timeout, "sandbox": sandbox })
            }
        };
        // The command enforces the limit itself, and can report which call took too long. An overlong timeout means no
        // limit.
        let limit = timeout.filter(|_| job.is_some());
        let timeout = limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let mut command = command.into_iter();
        let jobs = Arc::new(Jobs {
            command: Arc::new(WorkerCommand {
                program: command.next().unwrap_or_default(),
                arguments: command.collect(),
                environment,
                own_group: true,
            }),
            timeout,
            template,
            stop: Arc::default(),
        });
        let worker = Mutex::new(jobs.worker());
        Ok(Worker { jobs, worker })
    }

    /// Starts the process.
    ///
    /// Raises PassError if it can't be started.
    fn start(&self, py: Python<'_>) -> Result {
        Ok(gil::detach(py, || lock(&self.worker).start())?)
    }

    /// Resolves the pipeline in the process. Returns the report as JSON, and whether the process crashed.
    fn explain(&self, py: Python<'_>) -> Result<(String, bool)> {
        let mut job = self.jobs.template.clone();
        job["explain"] = true.into();
        self.run_job(py, &job, None)
    }

    /// Runs a model. Returns the report as JSON, and whether the process crashed.
    fn run(
        &self,
        py: Python<'_>,
        model: PathBuf,
        output: PathBuf,
        jobs: Option<usize>,
    ) -> Result<(String, bool)> {
        self.run_job(py, &self.jobs.job(&model, &output, jobs), self.jobs.timeout)
    }

    /// Terminates the process, and the processes of batches of this worker.
    fn close(&self, py: Python<'_>) {
        self.jobs.stop.store(true, Ordering::Relaxed);
        gil::detach(py, || *lock(&self.worker) = self.jobs.worker());
    }
}

impl Worker {
    fn run_job(
        &self,
        py: Python<'_>,
        job: &Json,
        timeout: Option<Duration>,
    ) -> Result<(String, bool)> {
        let start = Instant::now();
        let (report, crashed) = match gil::detach(py, || lock(&self.worker).run(job, timeout)) {
            Ok(report) => (report, false),
            Err(failure) => {
                let seconds = start.elapsed().as_secs_f64();
                let report = batch::failed(Path::new(""), &failure, seconds);
                (report, failure.crashed)
            }
        };
        Ok((serde_json::to_string(&report)?, crashed))
    }
}

/// A running batch. Its results are JSON.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Batch {
    results: Mutex<Receiver<Result<ModelResult, PassError>>>,
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[pymethods]
impl Batch {
    /// Starts a batch of pairs of a model and its output.
    ///
    /// Args:
    ///     resume: Whether to skip models that are done already.
    #[new]
    fn new(
        worker: &Worker,
        fingerprint: &Fingerprint,
        items: Vec<(PathBuf, PathBuf)>,
        results: PathBuf,
        at_once: Option<usize>,
        resume: bool,
    ) -> Batch {
        let (jobs, fingerprint) = (worker.jobs.clone(), fingerprint.0.clone());
        let (send, received) = mpsc::sync_channel(0);
        let stop = jobs.stop.clone();
        let items = items
            .into_iter()
            .map(|(model, output)| BatchItem { model, output })
            .collect();
        let thread = thread::spawn(move || {
            let mut report = |result| {
                // The batch was closed, so no result can be received.
                if send.send(Ok(result)).is_err() {
                    jobs.stop.store(true, Ordering::Relaxed);
                }
            };
            let batch = batch::Batch::open(items, &fingerprint, &results, at_once, resume);
            if let Err(error) = batch.and_then(|batch| jobs.run(batch, &mut report)) {
                _ = send.send(Err(error));
            }
        });
        Batch {
            results: Mutex::new(received),
            stop,
            thread: Mutex::new(Some(thread)),
        }
    }

    /// Waits for the next result and returns it as JSON; None at the end.
    ///
    /// Raises PassError if results can't be stored.
    fn next(&self, py: Python<'_>) -> Result<Option<String>> {
        loop {
            match gil::detach(py, || lock(&self.results).recv_timeout(SIGNALS)) {
                Ok(result) => {
                    let mut result = serde_json::to_value(result?)?;
                    in_python_terms(&mut result["diagnostics"]);
                    return Ok(Some(result.to_string()));
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            }
        }
    }

    /// Stops the batch and terminates its processes.
    fn close(&self, py: Python<'_>) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = lock(&self.thread).take();
        gil::detach(py, || {
            // Disconnects the channel, so that no result can be sent any more.
            *lock(&self.results) = mpsc::channel().1;
            _ = thread.map(JoinHandle::join);
        });
    }
}
