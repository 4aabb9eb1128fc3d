//! The supervisor, which runs jobs in workers.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use passdock_core::PassError;
use passdock_crash::Death;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::pipeline::Watch;

use super::message::Task;
use super::process::Process;
use super::{died, not_started};

/// The crashes after which a job fails that goes on past them, as a search does.
const MAX_DEATHS: usize = 32;

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
        input: Option<File>,
        watch: Watch,
    ) -> Result<A, PassError> {
        let answered = self.answer(job, input, watch);
        answered
            .map_err(|error| not_started(&error))?
            .map_err(|death| died(&death))
    }

    fn answer<A: DeserializeOwned>(
        &self,
        job: &impl Serialize,
        mut input: Option<File>,
        mut watch: Watch,
    ) -> io::Result<Result<A, Box<Death>>> {
        let mut task = Task {
            job,
            deaths: Vec::new(),
            sends_passes: watch.on_pass.is_some(),
        };
        loop {
            // A worker that goes on past a crash has to come as far again, perhaps more slowly.
            let times = if task.deaths.is_empty() { 1 } else { 2 };
            let timeout = self.timeout.map(|timeout| timeout * times);
            let attempt = Process::start(self, &task, input.as_mut()).and_then(|mut process| {
                let answered = process.answer(timeout, &watch);
                answered.map_or_else(|error| process.death(&error).map(Err), |it| Ok(Ok(it)))
            });
            let death = match attempt {
                Ok(Ok((answer, met))) if met >= task.deaths.len() => {
                    return Ok(Ok(answer));
                }
                Ok(Err(death)) => death,
                Err(error) if task.deaths.is_empty() => return Err(error),
                // The answer of a worker that didn't come as far replaces no crash.
                Ok(Ok(_)) | Err(_) => return Ok(Err(Box::new(task.deaths.remove(0)))),
            };
            let place = death.place();
            let is_known = task.deaths.iter().any(|known| known.place() == place);
            let is_last = place.is_none() || is_known || task.deaths.len() == MAX_DEATHS;
            task.deaths.push(death);
            if is_last {
                return Ok(Err(Box::new(task.deaths.remove(0))));
            }
            // The first worker has printed it.
            watch.sink = None;
        }
    }
}
