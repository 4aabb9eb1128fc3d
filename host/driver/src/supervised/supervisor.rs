//! The supervisor: it has a job done by workers, and knows how they ended.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use passdock_crash::Death;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::pipeline::Watch;

use super::message::Task;
use super::process::Process;

/// The deaths after which a job is given up that goes on past them, as a search does.
const MAX_DEATHS: usize = 32;

/// How workers are started, and how long they may take.
#[derive(Clone, Debug, Default)]
pub struct Supervisor {
    /// The program, which makes a [`super::Worker`] of two numbers among its arguments.
    pub program: PathBuf,
    /// The arguments before the numbers.
    pub before: Vec<OsString>,
    /// The arguments behind the numbers.
    pub after: Vec<OsString>,
    /// Variables of its environment, besides those of this process.
    pub environment: Vec<(OsString, OsString)>,
    /// The time after which a worker is ended; `None`: it has as long as it takes.
    pub timeout: Option<Duration>,
}

/// The outcome of a job.
pub enum Ended<A> {
    /// The answer of the worker.
    Answered(A),
    /// The worker died, and no other one got past that.
    Died(Box<Death>),
}

impl Supervisor {
    /// Has a job done. If the worker dies in a pass, another one does the same and lets that pass fail instead: what it
    /// answers is as of a pass that failed. One that doesn't get there, because the input is gone or it dies itself,
    /// changes nothing: the first death is the outcome. `input` is what each of them has on standard input; `None`:
    /// what this process has.
    ///
    /// # Errors
    /// If no worker can be started.
    pub fn run<A: DeserializeOwned>(
        &self,
        job: &impl Serialize,
        mut input: Option<File>,
        mut watch: Watch,
    ) -> io::Result<Ended<A>> {
        let mut task = Task {
            job,
            deaths: Vec::new(),
            sends_passes: watch.on_pass.is_some(),
        };
        loop {
            // One that goes on past a death has to come as far again, perhaps more slowly.
            let times = if task.deaths.is_empty() { 1 } else { 2 };
            let timeout = self.timeout.map(|timeout| timeout * times);
            let attempt = Process::start(self, &task, input.as_mut()).and_then(|mut process| {
                let answered = process.answer(timeout, &watch);
                answered.map_or_else(|error| process.death(&error).map(Err), |it| Ok(Ok(it)))
            });
            let death = match attempt {
                Ok(Ok((answer, met))) if met >= task.deaths.len() => {
                    return Ok(Ended::Answered(answer));
                }
                Ok(Err(death)) => death,
                Err(error) if task.deaths.is_empty() => return Err(error),
                // The answer of a worker that didn't come as far replaces no death.
                Ok(Ok(_)) | Err(_) => return Ok(Ended::Died(Box::new(task.deaths.remove(0)))),
            };
            let place = death.place();
            let is_known = task.deaths.iter().any(|known| known.place() == place);
            let is_last = place.is_none() || is_known || task.deaths.len() == MAX_DEATHS;
            task.deaths.push(death);
            if is_last {
                return Ok(Ended::Died(Box::new(task.deaths.remove(0))));
            }
            // What is shown was shown.
            watch.sink = None;
        }
    }
}
