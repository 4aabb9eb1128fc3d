//! The supervisor, which runs jobs in workers.

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use passdock_core::PassError;
use passdock_sandbox::SandboxMode;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::pipeline::{SandboxReport, Watch};

use super::message::Task;
use super::process::{OnAsk, Process};
use super::{crash_error, not_started};

/// Maximum number of crashes that a job may continue after, as a search does.
const MAX_TERMINATIONS: usize = 32;

/// The command that starts workers, and their time limit.
#[derive(Clone, Debug, Default)]
pub struct Supervisor {
    /// The program. It must start a [`super::Worker`] with the two numbers among its arguments.
    pub program: PathBuf,
    /// The arguments before the numbers.
    pub before: Vec<OsString>,
    /// The arguments after the numbers.
    pub after: Vec<OsString>,
    /// Environment variables in addition to those of this process.
    pub environment: Vec<(OsString, OsString)>,
    /// The time limit of a worker; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Whether workers enter a sandbox before they run plugin code.
    pub sandbox: SandboxMode,
}

impl Supervisor {
    /// Runs a job in a worker and returns its result. If the worker crashes in a pass, another worker runs the same job
    /// and fails that pass instead. The result is then that of a failed pass. `input` is the standard input of all
    /// workers, or `None` to inherit this process's. `on_ask` answers [`super::Worker::ask`]. `sandbox` receives what
    /// the sandbox denied.
    ///
    /// # Errors
    /// If no worker can be started; or the first crash, if no other worker could skip it.
    pub fn run<A: DeserializeOwned>(
        &self,
        job: &impl Serialize,
        mut input: Option<File>,
        mut watch: Watch,
        on_ask: &mut OnAsk<'_>,
        sandbox: &mut SandboxReport,
    ) -> Result<A, PassError> {
        let mut task = Task {
            job,
            terminations: Vec::new(),
            sends_passes: watch.on_pass.is_some(),
            sandbox: self.sandbox,
        };
        loop {
            // A worker that skips a crash first repeats the work up to it, perhaps more slowly.
            let times = if task.terminations.is_empty() { 1 } else { 2 };
            let timeout = self.timeout.map(|timeout| timeout * times);
            let attempt = Process::start(self, &task, input.as_mut()).and_then(|mut process| {
                let response = process.receive_response(timeout, &watch, on_ask);
                sandbox.merge(std::mem::take(&mut process.sandbox));
                response.map_or_else(
                    |error| process.termination(&error).map(Err),
                    |it| Ok(Ok(it)),
                )
            });
            let termination = match attempt {
                Ok(Ok((response, skipped))) if skipped >= task.terminations.len() => {
                    return Ok(response);
                }
                Ok(Err(termination)) => termination,
                Err(error) if task.terminations.is_empty() => return Err(not_started(&error)),
                // A worker that didn't reach the crash has no result for it.
                Ok(Ok(_)) | Err(_) => return Err(crash_error(&task.terminations[0])),
            };
            let call = termination.call();
            let mut earlier = task.terminations.iter();
            let is_repeated = earlier.any(|earlier| earlier.call() == call);
            let is_last =
                call.is_none() || is_repeated || task.terminations.len() == MAX_TERMINATIONS;
            task.terminations.push(termination);
            if is_last {
                return Err(crash_error(&task.terminations[0]));
            }
            // The first worker has already printed it.
            watch.sink = None;
        }
    }
}
