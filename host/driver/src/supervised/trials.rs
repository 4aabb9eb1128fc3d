//! Repeated runs of a pipeline in a worker, which is restarted after a crash.

use passdock_core::{ErrorKind, PassError, Registry};
use passdock_ir::{Module, text};
use serde::{Deserialize, Serialize};

use super::message::Task;
use super::process::{Process, no_answer};
use super::{Supervisor, Worker, crash_error, not_started};
use crate::model_file;
use crate::pipeline::{Request, Rerun, Trial, Trials, Watch};

/// Repeated runs in workers that call [`Worker::try_all`] for a job.
pub struct WorkerTrials<'s, J> {
    supervisor: &'s Supervisor,
    job: J,
    process: Option<Process>,
}

/// A single run.
#[derive(Serialize, Deserialize)]
struct Piece {
    /// Whether to infer types and do nothing else.
    only_types: bool,
    /// Whether the resulting module is needed.
    needs_output: bool,
    /// The module as text, with absolute paths of files.
    text: String,
}

/// The result of a run, with the text of the resulting module. `None` if it is unchanged or not needed.
type SentTrial = Trial<Option<String>>;

impl<'s, J: Serialize> WorkerTrials<'s, J> {
    /// Creates trials with workers for this job, without starting one.
    pub fn new(supervisor: &'s Supervisor, job: J) -> WorkerTrials<'s, J> {
        WorkerTrials {
            supervisor,
            job,
            process: None,
        }
    }

    /// Returns the result of a run in a worker, or its crash.
    fn tried(&mut self, piece: &Piece) -> Result<SentTrial, PassError> {
        let start_error = |error: std::io::Error| not_started(&error);
        let mut process = match self.process.take() {
            Some(process) => process,
            None => {
                let task = Task {
                    job: &self.job,
                    terminations: Vec::new(),
                    sends_passes: false,
                    sandbox: self.supervisor.sandbox,
                };
                Process::start(self.supervisor, &task, None).map_err(start_error)?
            }
        };
        process.send(piece).map_err(start_error)?;
        let timeout = self.supervisor.timeout;
        match process.receive_response(timeout, &Watch::default(), &mut no_answer) {
            Ok((tried, _)) => {
                self.process = Some(process);
                tried
            }
            Err(error) => {
                let termination = process.termination(&error).map_err(start_error)?;
                Ok(Trial::Failed {
                    error: crash_error(&termination),
                    of_pass: termination.running_pass().is_some(),
                })
            }
        }
    }
}

impl<J: Serialize> Trials for WorkerTrials<'_, J> {
    fn run(&mut self, module: &Module, needs_output: bool) -> Result<Trial, PassError> {
        let piece = Piece {
            only_types: false,
            needs_output,
            text: written(module)?,
        };
        self.tried(&piece)?.try_map(|text| match text {
            Some(text) => read(&text),
            None => Ok(module.clone()),
        })
    }

    fn typed(&mut self, module: &Module) -> Option<Module> {
        let piece = Piece {
            only_types: true,
            needs_output: true,
            text: written(module).ok()?,
        };
        match self.tried(&piece) {
            Ok(Trial::Succeeded(Some(text))) => read(&text).ok(),
            _ => None,
        }
    }
}

impl Worker {
    /// Runs a request's pipeline on each module that the supervisor sends.
    ///
    /// # Errors
    /// If a result can't be sent.
    pub fn try_all(&self, registry: &Registry, request: &Request) -> std::io::Result<()> {
        let mut rerun = None;
        while let Some(piece) = self.next::<Piece>() {
            if rerun.is_none() {
                // The files of its constants are those of all later pieces. Plugins may not open others.
                _ = read(&piece.text);
            }
            // Created after a piece of work has arrived: loading plugins may send messages, which the supervisor only
            // expects then.
            let tried = match rerun.get_or_insert_with(|| Rerun::new(registry, request)) {
                Ok(rerun) => tried(rerun, &piece),
                Err(error) => Err(error.clone()),
            };
            self.respond(&tried)?;
        }
        Ok(())
    }
}

fn tried(rerun: &mut Rerun, piece: &Piece) -> Result<SentTrial, PassError> {
    let module = read(&piece.text)?;
    if piece.only_types {
        let typed = rerun.typed(&module);
        return Ok(Trial::Succeeded(typed.as_ref().map(written).transpose()?));
    }
    rerun.run(&module, piece.needs_output)?.try_map(|output| {
        let is_sent = piece.needs_output && !output.is_same(&module);
        is_sent.then(|| written(&output)).transpose()
    })
}

fn written(module: &Module) -> Result<String, PassError> {
    let failed = |error: std::io::Error| {
        let message = format!("could not send a module to another process: {error}");
        PassError::new(ErrorKind::Write, message)
    };
    let mut bytes = Vec::new();
    text::write_module(&mut bytes, module, &text::PrintOptions::default()).map_err(failed)?;
    String::from_utf8(bytes).map_err(|error| failed(std::io::Error::other(error)))
}

fn read(text: &str) -> Result<Module, PassError> {
    model_file::parse_sent(text)
}
