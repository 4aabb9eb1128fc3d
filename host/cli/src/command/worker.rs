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
    use std::io;
    use std::path::{Path, PathBuf};

    use clap::Parser;
    use passdock::ErrorKind;
    use passdock::files::{Staging, raw_path};
    use passdock::pipeline::SandboxReport;
    use passdock::supervised::{self, Supervisor, Worker};
    use serde::{Deserialize, Serialize};
    use serde_json::Value;

    use super::*;
    use crate::args::{Cli, Command};
    use crate::command::{Files, bisect, error_to_json, replay, run_here, shared};
    use crate::show;
    use crate::test_command::{TestCommand, TestFiles};
    use crate::worker;
    use crate::worker::{WORKER, WorkerArgs};

    /// The job of a worker.
    #[derive(Serialize, Deserialize)]
    pub(super) enum Job {
        /// A request, and the staging directory of the output.
        Run(Request, #[serde(with = "raw_path")] Option<PathBuf>),
        Trials(Request),
        /// The command in the worker's arguments, the paths of its outputs, and their staging directories.
        Whole {
            #[serde(with = "raw_path")]
            outputs: Vec<PathBuf>,
            #[serde(with = "raw_path")]
            staging: Vec<PathBuf>,
        },
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
            sandbox: process.sandbox,
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
        let done = response(&supervisor, command, &files).map(|(status, outputs)| {
            outputs.into_iter().for_each(show::add_output);
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
        command: &Command,
        files: &Files<'_>,
    ) -> Result<(u8, Vec<StagedModel>), PassError> {
        let created = files.directory.filter(|directory| !directory.exists());
        if let Some(directory) = files.directory {
            show::create_dir(directory).map_err(show::reported)?;
        }
        let stage = |path: &PathBuf| Some((path.clone(), StagedModel::staging_for(path, false)?));
        let mut staged: Vec<(PathBuf, Staging)> = files.outputs.iter().filter_map(stage).collect();
        let paths = staged
            .iter()
            .map(|(path, staging)| (path.clone(), staging.path().to_owned()));
        let (outputs, staging) = paths.unzip();
        let job = Job::Whole { outputs, staging };
        let input = files.model.map_or(Ok(None), supervised::seekable_input)?;
        let mut sandbox = SandboxReport::default();
        let mut test = None;
        let mut on_ask = |question: Value, temporary: &Path| {
            let files: TestFiles = serde_json::from_value(question)?;
            if !files.are_in(temporary) {
                return Err(io::Error::other("not a temporary file of this run"));
            }
            let result = test_command(command, &mut test).and_then(|test| test.run(&files));
            Ok(serde_json::to_value(result)?)
        };
        let watch = Watch::default();
        let response = supervisor.run(&job, input, watch, &mut on_ask, &mut sandbox);
        sandbox
            .warnings()
            .for_each(|warning| show::diagnostic(&warning));
        let response: Result<(u8, Vec<StagedModel>), PassError> = response;
        let owned = response.and_then(|(status, outputs)| {
            let own = |output: StagedModel| {
                let at = staged.iter().position(|(path, _)| path == output.path());
                output.at(at.map(|at| staged.swap_remove(at).1))
            };
            Ok((
                status,
                outputs
                    .into_iter()
                    .map(own)
                    .collect::<Result<Vec<_>, _>>()?,
            ))
        });
        drop(staged);
        if let Some(directory) = created {
            // It isn't empty if the command wrote something.
            _ = std::fs::remove_dir(directory);
        }
        owned
    }

    /// Returns the test command of a command that runs in a worker.
    fn test_command<'t>(
        command: &Command,
        test: &'t mut Option<TestCommand>,
    ) -> Result<&'t TestCommand, PassError> {
        if test.is_none() {
            *test = match command {
                Command::Bisect(args) => bisect::test_command(args)?,
                Command::Replay(args) => replay::test_command(args)?,
                _ => None,
            };
        }
        test.as_ref()
            .ok_or_else(|| PassError::new(ErrorKind::Usage, "this command has no test command"))
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
        if let Job::Whole { staging, .. } = &job {
            staging.iter().for_each(passdock::sandbox::allow_write);
        }
        let worker = worker::set(worker);
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
            Job::Whole { outputs, staging } => {
                _ = show::STAGING.set(outputs.into_iter().zip(staging).collect());
                let status = command(args);
                worker.respond(&(status, show::take_outputs()))
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
