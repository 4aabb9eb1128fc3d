//! The process that plugins run in, so that it may die.

use std::time::Duration;

use passdock::PassError;
use passdock::pipeline::{self, Report, Request, Watch};
use passdock::replay::Replay;

use super::replay::{self, Replaying};
use crate::plugins;
#[cfg(unix)]
use crate::worker_args::{WORKER, WorkerArgs};

/// Runs a request, in a process of its own unless it is to be this one.
pub(crate) fn run(
    request: &Request,
    in_process: bool,
    timeout: Option<f64>,
    watch: Watch,
) -> Report {
    #[cfg(unix)]
    if !in_process && let Some(supervisor) = supervised::supervisor(timeout) {
        return supervised::run(&supervisor, request, watch);
    }
    let _ = (in_process, timeout.map(Duration::from_secs_f64));
    pipeline::run(&plugins::registry(), request, watch)
}

/// Runs a reproducer again, in a process of its own.
pub(crate) fn replay(
    job: Replaying,
    timeout: Option<f64>,
    watch: Watch,
) -> Result<Replay, PassError> {
    #[cfg(unix)]
    if let Some(supervisor) = supervised::supervisor(timeout) {
        return supervised::replay(&supervisor, job, watch);
    }
    let _ = timeout;
    replay::run(job, watch)
}

#[cfg(unix)]
pub(crate) use supervised::work;

#[cfg(unix)]
mod supervised {
    use passdock::supervised::{self, Ended, Supervisor, Worker};
    use passdock::{Diagnostic, ErrorKind};
    use serde::{Deserialize, Serialize};

    use super::*;

    /// What a worker is told to do.
    #[derive(Serialize, Deserialize)]
    enum Job {
        Run(Request),
        Replay(Replaying),
    }

    /// The supervisor of workers of this program; `None`: the system doesn't say which file it is.
    pub(super) fn supervisor(timeout: Option<f64>) -> Option<Supervisor> {
        Some(Supervisor {
            program: std::env::current_exe().ok()?,
            arguments: vec![WORKER.to_owned()],
            timeout: timeout.map(Duration::from_secs_f64),
        })
    }

    pub(super) fn run(supervisor: &Supervisor, request: &Request, watch: Watch) -> Report {
        supervised::run(
            supervisor,
            request,
            |request| Job::Run(request.clone()),
            watch,
        )
    }

    pub(super) fn replay(
        supervisor: &Supervisor,
        job: Replaying,
        watch: Watch,
    ) -> Result<Replay, PassError> {
        let answer = supervisor.run(&Job::Replay(job), None, watch);
        match answer.map_err(|error| supervised::not_started(&error))? {
            Ended::Answered(Answered::Done(replay)) => Ok(*replay),
            Ended::Answered(Answered::Failed(error)) => {
                Err(PassError::new(ErrorKind::Failed, error.message))
            }
            Ended::Died(death) => Err(supervised::died(&death)),
        }
    }

    /// What came of a job that may fail before it begins.
    #[derive(Serialize, Deserialize)]
    enum Answered<T> {
        Done(Box<T>),
        Failed(Box<Diagnostic>),
    }

    /// Does what a supervisor tells.
    pub(crate) fn work(args: &WorkerArgs) -> Result<u8, PassError> {
        let wrong = |error| {
            let message = format!("This is no worker of a supervisor: {error}.");
            PassError::new(ErrorKind::Usage, message)
        };
        let (worker, job) = Worker::start::<Job>(args.channel, args.deaths).map_err(wrong)?;
        let watch = worker.watch();
        let answered = match job {
            Job::Run(request) => {
                worker.answer(&pipeline::run(&plugins::registry(), &request, watch))
            }
            Job::Replay(job) => worker.answer(&match replay::run(job, watch) {
                Ok(replay) => Answered::Done(Box::new(replay)),
                Err(error) => Answered::Failed(Box::new(error.to_diagnostic())),
            }),
        };
        answered.map_err(wrong)?;
        Ok(0)
    }
}
