//! The process that plugins are in, so that it may die.

use std::path::Path;

use passdock::PassError;
use passdock::model_file::StagedModel;
use passdock::pipeline::{self, Report, Request, Rerun, Trials, Watch};

use crate::args::process::ProcessArgs;
use crate::plugins;
#[cfg(unix)]
use crate::worker_args::{WORKER, WorkerArgs};

/// Runs a request, in a process of its own unless it is to be this one. The output isn't in its place yet.
pub(crate) fn run(
    request: &Request,
    process: &ProcessArgs,
    watch: Watch,
) -> (Report, Option<StagedModel>) {
    #[cfg(unix)]
    if let Some(supervisor) = supervised::supervisor(process) {
        return supervised::run(&supervisor, request, watch);
    }
    let _ = process;
    let finished = pipeline::run_staged(&plugins::registry(), request, None, watch);
    (finished.report, finished.output)
}

/// Does something with a request's pipeline that runs again and again, as [`run`].
pub(crate) fn trials<T>(
    request: &Request,
    process: &ProcessArgs,
    body: impl FnOnce(&mut dyn Trials) -> Result<T, PassError>,
) -> Result<T, PassError> {
    #[cfg(unix)]
    if let Some(supervisor) = supervised::supervisor(process) {
        return body(&mut supervised::trials(&supervisor, request));
    }
    let _ = process;
    body(&mut Rerun::new(&plugins::registry(), request)?)
}

/// The files of a command that is done as a whole.
#[derive(Default)]
pub(crate) struct Files<'f> {
    /// The model, which may be standard input.
    pub(crate) model: Option<&'f Path>,
    /// The output.
    pub(crate) output: Option<&'f Path>,
}

/// Does a command, whose body is given, as [`run`]. It answers the exit status.
pub(crate) fn whole(
    process: &ProcessArgs,
    json: bool,
    files: Files<'_>,
    body: impl FnOnce() -> Result<u8, PassError>,
) -> Result<u8, PassError> {
    #[cfg(unix)]
    if let Some(supervisor) = supervised::supervisor(process) {
        return supervised::whole(supervisor, json, &files);
    }
    let Files { model, output } = files;
    let _ = (process, json, model, output);
    body()
}

/// The name of the directory that a command which is done as a whole writes its output to; `None`: it is this process's
/// to make.
pub(crate) fn staging() -> Option<&'static str> {
    #[cfg(unix)]
    return supervised::STAGING.get().map(String::as_str);
    #[cfg(not(unix))]
    None
}

#[cfg(unix)]
pub(crate) use supervised::work;

#[cfg(unix)]
mod supervised {
    use std::sync::OnceLock;

    use clap::Parser;
    use passdock::ErrorKind;
    use passdock::files::{Staging, TemporaryDirectory};
    use passdock::supervised::{self, Ended, Supervisor, Worker, WorkerTrials};
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;
    use crate::args::{Cli, Command};
    use crate::show;

    /// The name of the staging directory of a worker that does a command as a whole.
    pub(super) static STAGING: OnceLock<String> = OnceLock::new();

    /// What a worker is told to do.
    #[derive(Serialize, Deserialize)]
    pub(super) enum Job {
        /// A request, with the name of the directory that the output is written to.
        Run(Request, Option<String>),
        Trials(Request),
        /// The command that is among the worker's arguments, with that directory.
        Whole(Option<String>),
    }

    /// The supervisor of workers of this program; `None`: everything is to be done by this process, or the system
    /// doesn't say which file it is.
    pub(super) fn supervisor(process: &ProcessArgs) -> Option<Supervisor> {
        if process.in_process {
            return None;
        }
        Some(Supervisor {
            program: std::env::current_exe().ok()?,
            before: vec![WORKER.into()],
            timeout: process.limit(),
            ..Supervisor::default()
        })
    }

    pub(super) fn run(
        supervisor: &Supervisor,
        request: &Request,
        watch: Watch,
    ) -> (Report, Option<StagedModel>) {
        let job = |request: &Request, staging: Option<&str>| {
            Job::Run(request.clone(), staging.map(str::to_owned))
        };
        supervised::run(supervisor, request, job, watch)
    }

    pub(super) fn trials<'s>(
        supervisor: &'s Supervisor,
        request: &Request,
    ) -> WorkerTrials<'s, Job> {
        WorkerTrials::new(supervisor, Job::Trials(request.clone()), Watch::default())
    }

    pub(super) fn whole(
        mut supervisor: Supervisor,
        json: bool,
        files: &Files<'_>,
    ) -> Result<u8, PassError> {
        supervisor.after = std::env::args_os().skip(1).collect();
        // It goes away with what the worker leaves in it.
        let temporary = TemporaryDirectory::new().ok();
        let variable = temporary.as_ref().map(|dir| ("TMPDIR", dir.path()));
        let variable = variable.map(|(name, path)| (name.into(), path.into()));
        supervisor.environment.extend(variable);
        let place = files.output;
        let place = place.and_then(|output| StagedModel::place_for(output, false));
        let job = Job::Whole(place.as_ref().map(Staging::name));
        let done = answer(&supervisor, &job, files.model).and_then(|(status, output)| {
            show::place(output.map(|output| output.at(place)).transpose()?);
            Ok(status)
        });
        done.or_else(|error| {
            let status = show::fail(&error);
            if json {
                show::print_answer(status, json!({}), Some(&error));
            }
            Ok(status)
        })
    }

    /// The exit status of a command that a worker does, and its output; `model` may be standard input.
    fn answer(
        supervisor: &Supervisor,
        job: &Job,
        model: Option<&Path>,
    ) -> Result<(u8, Option<StagedModel>), PassError> {
        let input = model.map_or(Ok(None), supervised::kept_input);
        match input.and_then(|input| supervisor.run(job, input, Watch::default())) {
            Ok(Ended::Answered(answer)) => Ok(answer),
            Ok(Ended::Died(death)) => Err(supervised::died(&death)),
            Err(error) => Err(supervised::not_started(&error)),
        }
    }

    /// Does what a supervisor tells; answers the exit status.
    pub(crate) fn work(args: WorkerArgs) -> u8 {
        let worked = do_job(args);
        worked.map_or_else(|error| show::fail(&error), |()| 0)
    }

    fn do_job(args: WorkerArgs) -> Result<(), PassError> {
        let wrong = |error| {
            let message = format!("This is no worker of a supervisor: {error}.");
            PassError::new(ErrorKind::Usage, message)
        };
        let (worker, job) = Worker::start::<Job>(args.channel, args.record).map_err(wrong)?;
        match job {
            Job::Run(request, staging) => {
                let watch = Watch {
                    staging,
                    ..worker.watch()
                };
                let finished = pipeline::run_staged(&plugins::registry(), &request, None, watch);
                worker.answer(&(&finished.report, &finished.output))
            }
            Job::Trials(request) => worker.try_all(&plugins::registry(), &request),
            Job::Whole(staging) => {
                if let Some(staging) = staging {
                    _ = STAGING.set(staging);
                }
                let status = command(args);
                worker.answer(&(status, show::take_output()))
            }
        }
        .map_err(wrong)
    }

    /// Does a whole command in this process; answers its exit status.
    fn command(args: WorkerArgs) -> u8 {
        let program = std::ffi::OsString::from("passdock");
        let all = std::iter::once(program).chain(args.command);
        let mut cli = match Cli::try_parse_from(all) {
            Ok(cli) => cli,
            Err(error) => {
                show::print_error(&error.to_string());
                return 2;
            }
        };
        show::set_color(cli.color);
        match &mut cli.command {
            Command::Check(args) => args.process.in_process = true,
            Command::List(args) => args.process.in_process = true,
            Command::Convert(args) => args.process.in_process = true,
            Command::Extract(args) => args.process.in_process = true,
            Command::Bisect(args) => args.search.process.in_process = true,
            Command::Blame(args) => args.process.in_process = true,
            Command::Replay(args) => args.process.in_process = true,
            _ => {}
        }
        super::super::run(cli.command)
    }
}
