//! `run` under supervision: from a request to a report, whatever a plugin does.

use std::fs::File;
use std::io;
use std::path::Path;

use passdock_core::{ErrorKind, PassError, Verify};
use passdock_crash::{Death, DeathCause};
use passdock_files::Staging;
use serde::Serialize;

use super::{Ended, Supervisor};
use crate::model_file::{StagedModel, is_standard};
use crate::pipeline::{ModelReport, Report, Request, Watch};

/// Runs a request in a worker, which answers the report of [`crate::pipeline::run_staged`] and the output. Whatever the
/// worker dies of is in the report. The output isn't in its place yet: this process has the directory that it is in.
///
/// `job` says to the program's workers what to do: run this request, with this staging directory.
pub fn run<J: Serialize>(
    supervisor: &Supervisor,
    request: &Request,
    job: impl Fn(&Request, Option<&str>) -> J,
    watch: Watch,
) -> (Report, Option<StagedModel>) {
    let output = request.output.as_deref();
    let place = output.and_then(|output| StagedModel::place_for(output, request.replaces_links));
    let staging = place.as_ref().map(Staging::name);
    let attempt = |request: &Request, input: &Option<File>, watch| {
        let input = input.as_ref().map(File::try_clone).transpose()?;
        let job = job(request, staging.as_deref());
        supervisor.run(&job, input, watch)
    };
    let ended = kept_input(&request.model).and_then(|input| {
        let first = attempt(request, &input, watch)?;
        match &first {
            Ended::Answered((report, _))
                if is_broken(report) && request.verify == Verify::Changed =>
            {
                // Whose doing it is shows if one looks after each pass.
                let looking = Request {
                    verify: Verify::All,
                    ..request.clone()
                };
                Ok(match attempt(&looking, &input, Watch::default())? {
                    Ended::Died(_) => first,
                    answered => answered,
                })
            }
            _ => Ok(first),
        }
    });
    let answered: Result<(Report, Option<StagedModel>), PassError> = match ended {
        Ok(Ended::Answered(answered)) => Ok(answered),
        Ok(Ended::Died(death)) => Err(died(&death)),
        Err(error) => Err(not_started(&error)),
    };
    let owned = answered.and_then(|(report, output)| {
        let output = output.map(|output| output.at(place)).transpose()?;
        Ok((report, output))
    });
    owned.unwrap_or_else(|error| {
        let report = Report {
            exit_status: error.exit_status(),
            diagnostics: vec![error.to_diagnostic()],
            ..empty(request)
        };
        (report, None)
    })
}

/// The report of a request of which nothing else is known.
fn empty(request: &Request) -> Report {
    Report {
        model: ModelReport {
            input: request.model.display().to_string(),
            ..ModelReport::default()
        },
        ..Report::default()
    }
}

/// Whether a pass wrote into the IR past the host.
fn is_broken(report: &Report) -> bool {
    let code = ErrorKind::Broken.code();
    !report.ok && report.diagnostics.iter().any(|said| said.code == code)
}

/// What is on standard input, kept for each worker, if the model is there.
///
/// # Errors
/// If it can't be read, or not be kept.
pub fn kept_input(model: &Path) -> io::Result<Option<File>> {
    if !is_standard(model) {
        return Ok(None);
    }
    let mut file = tempfile::tempfile()?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    Ok(Some(file))
}

/// The error of a process that couldn't be started.
pub fn not_started(error: &std::io::Error) -> PassError {
    let message = format!("The process that runs plugins can't be started: {error}.");
    PassError::new(ErrorKind::Crashed, message).help("`--in-process` runs them without one.")
}

/// The error of a worker that died outside of a pass, where nobody can say, or on a trial.
pub fn died(death: &Death) -> PassError {
    let mut error = PassError::from_death(death);
    error.help = None;
    error.pass = death.running_pass().map(|pass| pass.name.clone());
    if death.culprit.is_some() {
        return error;
    }
    if error.pass.is_none() && matches!(death.cause, DeathCause::Timeout { .. }) {
        error.message = format!("The run {}, and no pass ran by then.", death.cause);
        return error
            .help("Reading and writing models takes time, too: a longer `--timeout` does.");
    }
    if error.pass.is_none() {
        let who = match death.cause {
            DeathCause::Descriptors => "A plugin",
            _ => "Something outside of the calls into plugins",
        };
        error.message = format!("{who} {}.", death.cause);
    }
    error.help(
        "A thread that a plugin started, or passdock itself: run it under a debugger with `--in-process`.",
    )
}
