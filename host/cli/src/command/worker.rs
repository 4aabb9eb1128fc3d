//! Worker processes of the command, which run plugins and may crash.

use passdock::PassError;
use passdock::model_file::StagedModel;
use passdock::pipeline::{self, Report, Request, Rerun, Trials, Watch};

use crate::args::process::ProcessArgs;
use crate::plugins;

/// Runs a request in a worker, or in this process with `--in-process`. The output is staged, not yet committed.
pub(crate) fn run(
    request: &Request,
    process: &ProcessArgs,
    watch: Watch,
) -> (Report, Option<StagedModel>) {
    #[cfg(unix)]
    if let Some(supervisor) = supervised::supervisor(process) {
        return passdock::supervised::run(&supervisor, request, supervised::Job::Run, watch);
    }
    let _ = process;
    let finished = pipeline::run_staged(&plugins::registry(), request, None, watch);
    (finished.report, finished.output)
}

/// Calls `body` with a request's pipeline, which it can run repeatedly. Each run is where [`run`] would run it.
pub(crate) fn trials<T>(
    request: &Request,
    process: &ProcessArgs,
    body: impl FnOnce(&mut dyn Trials) -> Result<T, PassError>,
) -> Result<T, PassError> {
    #[cfg(unix)]
    if let Some(supervisor) = supervised::supervisor(process) {
        let job = supervised::Job::Trials(request.clone());
        return body(&mut passdock::supervised::WorkerTrials::new(
            &supervisor,
            job,
        ));
    }
    let _ = process;
    body(&mut Rerun::new(&plugins::registry(), request)?)
}

#[cfg(unix)]
pub(crate) use supervised::{run_whole, work};

#[cfg(unix)]
mod supervised {
    use clap::Parser;
    use passdock::ErrorKind;
    use passdock::files::{Staging, TemporaryDirectory};
    use passdock::supervised::{self, Supervisor, Worker};
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::args::{Cli, Command};
    use crate::command::{Files, error_to_json, run_here, shared};
    use crate::show;
    use crate::worker_args::{WORKER, WorkerArgs};

    /// The job of a worker.
    #[derive(Serialize, Deserialize)]
    pub(super) enum Job {
        /// A request, and the name of the staging directory of the output.
        Run(Request, Option<String>),
        Trials(Request),
        /// The command in the worker's arguments, and the name of the staging directory.
        Whole(Option<String>),
    }

    /// Returns the supervisor of workers of this program. Returns `None` with `--in-process`, or if the executable's
    /// path is unknown.
    pub(super) fn supervisor(process: &ProcessArgs) -> Option<Supervisor> {
        if process.in_process {
            return None;
        }
        Some(Supervisor {
            program: std::env::current_exe().ok()?,
            before: vec![WORKER.into()],
            timeout: process.timeout,
            ..Supervisor::default()
        })
    }

    /// Runs a command in a worker and returns its exit status. Returns `None` for a command that doesn't run entirely
    /// in a worker.
    pub(crate) fn run_whole(command: &Command) -> Option<u8> {
        let shared = shared(command);
        let files = shared.whole?;
        let mut supervisor = supervisor(shared.process?)?;
        supervisor.after = std::env::args_os().skip(1).collect();
        // It is removed together with files that the worker leaves in it.
        let temporary = TemporaryDirectory::new().ok();
        let variable = temporary.as_ref();
        let variable = variable.map(|dir| ("TMPDIR".into(), dir.path().into()));
        supervisor.environment.extend(variable);
        let done = response(&supervisor, &files).map(|(status, output)| {
            show::set_output(output);
            status
        });
        Some(done.unwrap_or_else(|error| {
            let status = show::fail(&error);
            if shared.json {
                show::write_out(&error_to_json(command)(&error));
            }
            status
        }))
    }

    /// Returns the exit status and the output of a command that runs in a worker.
    fn response(
        supervisor: &Supervisor,
        files: &Files<'_>,
    ) -> Result<(u8, Option<StagedModel>), PassError> {
        let staging = files.output;
        let staging = staging.and_then(|output| StagedModel::staging_for(output, false));
        let job = Job::Whole(staging.as_ref().map(Staging::name));
        let input = files.model.map_or(Ok(None), supervised::seekable_input);
        let response = supervisor.run(&job, input?, Watch::default())?;
        let (status, output): (u8, Option<StagedModel>) = response;
        Ok((status, output.map(|output| output.at(staging)).transpose()?))
    }

    /// Runs the job of a worker and returns the exit status.
    pub(crate) fn work(args: WorkerArgs) -> u8 {
        let worked = do_job(args);
        worked.map_or_else(|error| show::fail(&error), |()| 0)
    }

    fn do_job(args: WorkerArgs) -> Result<(), PassError> {
        let failed = |kind, what: &str, error: std::io::Error| {
            PassError::new(kind, format!("{what}: {error}"))
        };
        let started = Worker::start::<Job>(args.channel, args.record);
        let (worker, job) = started
            .map_err(|error| failed(ErrorKind::Usage, "not started by a supervisor", error))?;
        match job {
            Job::Run(request, staging) => {
                let watch = Watch {
                    staging,
                    ..worker.watch()
                };
                let finished = pipeline::run_staged(&plugins::registry(), &request, None, watch);
                worker.respond(&(&finished.report, &finished.output))
            }
            Job::Trials(request) => worker.try_all(&plugins::registry(), &request),
            Job::Whole(staging) => {
                if let Some(staging) = staging {
                    _ = show::STAGING.set(staging);
                }
                let status = command(args);
                worker.respond(&(status, show::take_output()))
            }
        }
        .map_err(|error| {
            let what = "could not send the response to the supervisor";
            failed(ErrorKind::Write, what, error)
        })
    }

    /// Runs the command in a worker's arguments and returns its exit status.
    fn command(args: WorkerArgs) -> u8 {
        let program = std::ffi::OsString::from("passdock");
        let all = std::iter::once(program).chain(args.command);
        match Cli::try_parse_from(all) {
            Ok(cli) => {
                show::set_color(cli.color);
                run_here(cli.command)
            }
            Err(error) => {
                show::print_error(&error.to_string());
                2
            }
        }
    }
}
