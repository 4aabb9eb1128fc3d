//! The supervisor, which runs jobs in workers.

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use passdock_core::PassError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::pipeline::Watch;

use super::message::Task;
use super::process::Process;
use super::{crash_error, not_started};

/// The crashes after which a job fails that goes on past them, as a search does.
const MAX_TERMINATIONS: usize = 32;

/// The way to start workers, and their time limit.
#[derive(Clone, Debug, Default)]
pub struct Supervisor {
    /// The program, which starts a [`super::Worker`] with two numbers among its arguments.
    pub program: PathBuf,
    /// The arguments before the numbers.
    pub before: Vec<OsString>,
    /// The arguments after the numbers.
    pub after: Vec<OsString>,
    /// Variables of its environment, in addition to those of this process.
    pub environment: Vec<(OsString, OsString)>,
    /// The time after which a worker is ended; `None`: no limit.
    pub timeout: Option<Duration>,
}

impl Supervisor {
    /// Runs a job in a worker, and returns its answer. If the worker crashes in a pass, another one does the same and
    /// lets that pass fail instead: its answer is as of a pass that failed. `input` is the standard input of each;
    /// `None`: that of this process.
    ///
    /// # Errors
    /// If no worker can be started, or a worker crashed and no other one got past that: the first crash.
    pub fn run<A: DeserializeOwned>(
        &self,
        job: &impl Serialize,
        mut input: Option<File>,
        mut watch: Watch,
    ) -> Result<A, PassError> {
        let mut task = Task {
            job,
            terminations: Vec::new(),
            sends_passes: watch.on_pass.is_some(),
        };
        loop {
            // A worker that goes on past a crash has to come as far again, perhaps more slowly.
            let times = if task.terminations.is_empty() { 1 } else { 2 };
            let timeout = self.timeout.map(|timeout| timeout * times);
            let attempt = Process::start(self, &task, input.as_mut()).and_then(|mut process| {
                let answered = process.answer(timeout, &watch);
                answered.map_or_else(
                    |error| process.termination(&error).map(Err),
                    |it| Ok(Ok(it)),
                )
            });
            let termination = match attempt {
                Ok(Ok((answer, skipped))) if skipped >= task.terminations.len() => {
                    return Ok(answer);
                }
                Ok(Err(termination)) => termination,
                Err(error) if task.terminations.is_empty() => return Err(not_started(&error)),
                // The answer of a worker that didn't come as far replaces no crash.
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
            // The first worker has printed it.
            watch.sink = None;
        }
    }
}
