//! The supervisor: it has a job done by workers, and knows how they ended.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use passdock_crash::{Culprit, Death, DeathCause};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::pipeline::{Watch, Writing};
use crate::sent_error::SentError;

use super::limit::PLACING;
use super::message::{Marks, Said, Task};
use super::process::Process;

/// The deaths after which a job is given up that goes on past them.
const MAX_DEATHS: usize = 256;

/// How workers are started, and how long they may take.
#[derive(Clone, Debug)]
pub struct Supervisor {
    /// The program, which makes a [`super::Worker`] of two numbers among its arguments.
    pub program: PathBuf,
    /// The arguments before the numbers.
    pub before: Vec<OsString>,
    /// The arguments behind the numbers.
    pub after: Vec<OsString>,
    /// The time after which a worker is ended; `None`: it has as long as it takes.
    pub timeout: Option<Duration>,
}

/// The outcome of a job.
pub enum Ended<A> {
    /// The answer of the worker.
    Answered(A),
    /// The worker died, and going on past that is no use: no pass ran, or one died that was left out.
    Died(Box<Death>),
}

impl Supervisor {
    /// Has a job done. If the worker dies in a pass, another one does the same and lets that pass fail instead: what
    /// it answers is as of a pass that failed. One that dies after it was let write isn't followed by another, nor
    /// one whose time is over outside of passes. `input` is what each of them has on standard input; `None`: what this
    /// process has. `asked` answers what they ask, each question once; its time isn't theirs.
    ///
    /// # Errors
    /// If no worker can be started.
    pub fn run<Q: DeserializeOwned, A: DeserializeOwned>(
        &self,
        job: &impl Serialize,
        mut input: Option<File>,
        mut watch: Watch,
        asked: &mut dyn FnMut(Q) -> Value,
    ) -> io::Result<Ended<A>> {
        let mut task = Task {
            job,
            deaths: Vec::new(),
            says_passes: watch.on_pass.is_some(),
            waits: false,
            limit: self.timeout,
            marks: Marks::new(),
        };
        let mut answers = Vec::new();
        loop {
            // One that goes on past a death has to come as far again, perhaps more slowly.
            let is_first = task.deaths.is_empty() && !task.waits;
            task.limit = self
                .timeout
                .map(|limit| limit * if is_first { 1 } else { 2 });
            let process = Process::start(self, &task, input.as_mut())?;
            let lost = match attempt(process, task.limit, &watch, &mut answers, asked)? {
                Ok(answer) => return Ok(Ended::Answered(answer)),
                Err(lost) => lost,
            };
            let Lost { death, is_sure, .. } = lost;
            // What is shown was shown.
            watch.sink = None;
            let place = death.place();
            let is_late = matches!(death.cause, DeathCause::Timeout { .. });
            if lost.may_write || is_late && death.is_of_nothing() {
                return Ok(Ended::Died(Box::new(death)));
            }
            // One that spoilt what it wrote down, or the channel, is asked to tell each step next time.
            let is_nobody = place.is_none() && death.is_of_nothing() && !task.says_passes;
            if is_nobody || !is_sure && !task.waits {
                task.says_passes = true;
                task.waits = true;
                continue;
            }
            let is_known = task.deaths.iter().any(|known| known.place() == place);
            if place.is_none() || is_known || task.deaths.len() >= MAX_DEATHS {
                return Ok(Ended::Died(Box::new(death)));
            }
            task.deaths.push(death);
        }
    }
}

/// A worker that died.
struct Lost {
    death: Death,
    /// Whether that is sure of what the worker was at.
    is_sure: bool,
    /// Whether it was let put the output in its place.
    may_write: bool,
}

/// Hears one worker up to its answer, or its death.
fn attempt<Q: DeserializeOwned, A: DeserializeOwned>(
    mut process: Process<'_>,
    timeout: Option<Duration>,
    watch: &Watch,
    answers: &mut Vec<Value>,
    asked: &mut dyn FnMut(Q) -> Value,
) -> io::Result<Result<A, Lost>> {
    let (mut left, mut questions) = (timeout, 0);
    let mut may_write = false;
    let (mut passes, mut last) = (0, None);
    loop {
        match process.hear::<Q, A>(&mut left) {
            Ok(Said::Pass(name)) => {
                passes += 1;
                if let Some(on_pass) = &watch.on_pass {
                    on_pass(&name);
                }
                last = Some(name);
            }
            Ok(Said::Print(text)) => {
                if let Some(sink) = &watch.sink {
                    sink(&text);
                }
            }
            Ok(Said::Ask(question)) => {
                if questions == answers.len() {
                    answers.push(asked(question));
                }
                process.tell(&answers[questions])?;
                questions += 1;
                left = timeout;
            }
            Ok(Said::Here) => process.tell(&())?,
            Ok(Said::Writes(report)) => {
                let on_write = watch.on_write.as_ref();
                let begun = on_write.map_or(Ok(()), |on_write| on_write(Writing::Begins(&report)));
                left = timeout.map(|limit| limit.max(PLACING));
                may_write = begun.is_ok();
                process.tell(&begun.map_err(|error| SentError::from(&error)))?;
            }
            Ok(Said::Answer(answer)) => {
                process.finish()?;
                return Ok(Ok(answer));
            }
            Err(_) => {
                let (mut death, is_sure) = process.death()?;
                if death.is_of_nothing() {
                    death.pass = last.map(|name| Culprit::pass(name, passes));
                }
                return Ok(Err(Lost {
                    death,
                    is_sure,
                    may_write,
                }));
            }
        }
    }
}
