//! The supervisor: it has a job done by workers, and knows how they ended.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use passdock_crash::Death;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::pipeline::Watch;

use super::message::{Task, WorkerMessage};
use super::process::Process;

/// The deaths after which a job is given up that goes on past them, as a search does.
const MAX_DEATHS: usize = 32;

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
    /// The worker died, and no other one got past that.
    Died(Box<Death>),
}

impl Supervisor {
    /// Has a job done. If the worker dies in a pass, another one does the same and lets that pass fail instead: what it
    /// answers is as of a pass that failed. One that doesn't get there, because the input is gone or it dies itself,
    /// changes nothing: the first death is the outcome. `input` is what each of them has on standard input; `None`:
    /// what this process has. `answer` answers their questions, each once; its time isn't theirs.
    ///
    /// # Errors
    /// If no worker can be started.
    pub fn run<Q: DeserializeOwned, A: DeserializeOwned>(
        &self,
        job: &impl Serialize,
        mut input: Option<File>,
        mut watch: Watch,
        answer: &mut dyn FnMut(Q) -> Value,
    ) -> io::Result<Ended<A>> {
        let mut task = Task {
            job,
            deaths: Vec::new(),
            sends_passes: watch.on_pass.is_some(),
        };
        let mut answers = Vec::new();
        loop {
            let first = task.deaths.first().cloned();
            let process = match (Process::start(self, &task, input.as_mut()), first.clone()) {
                (Err(error), None) => return Err(error),
                (Err(_), Some(first)) => return Ok(Ended::Died(Box::new(first))),
                (Ok(process), _) => process,
            };
            // One that goes on past a death has to come as far again, perhaps more slowly.
            let times = if task.deaths.is_empty() { 1 } else { 2 };
            let timeout = self.timeout.map(|timeout| timeout * times);
            let attempt = attempt(process, timeout, &watch, &mut answers, answer)?;
            let death = match (attempt, first.clone()) {
                (Ok((_, met)), Some(first)) if met < task.deaths.len() => {
                    return Ok(Ended::Died(Box::new(first)));
                }
                (Ok((answer, _)), _) => return Ok(Ended::Answered(answer)),
                (Err(death), _) => death,
            };
            // What is shown was shown.
            watch.sink = None;
            let place = death.place();
            let is_known = task.deaths.iter().any(|known| known.place() == place);
            if place.is_none() || is_known || task.deaths.len() == MAX_DEATHS {
                return Ok(Ended::Died(Box::new(first.unwrap_or(death))));
            }
            task.deaths.push(death);
        }
    }
}

/// Hears one worker up to its answer, with the number of deaths that it went past; or up to its death.
fn attempt<Q: DeserializeOwned, A: DeserializeOwned>(
    mut process: Process,
    timeout: Option<Duration>,
    watch: &Watch,
    answers: &mut Vec<Value>,
    answer: &mut dyn FnMut(Q) -> Value,
) -> io::Result<Result<(A, usize), Death>> {
    let (mut left, mut questions) = (timeout, 0);
    loop {
        match process.hear::<Q, A>(&mut left) {
            Ok(WorkerMessage::Pass(name)) => {
                if let Some(on_pass) = &watch.on_pass {
                    on_pass(&name);
                }
            }
            Ok(WorkerMessage::Print(text)) => {
                if let Some(sink) = &watch.sink {
                    sink(&text);
                }
            }
            Ok(WorkerMessage::Question(question)) => {
                if questions == answers.len() {
                    answers.push(answer(question));
                }
                process.tell(&answers[questions])?;
                questions += 1;
                left = timeout;
            }
            Ok(WorkerMessage::Answer(answer, met)) => {
                process.finish()?;
                return Ok(Ok((answer, met)));
            }
            Err(error) => return Ok(Err(process.death(&error)?)),
        }
    }
}
