//! `run` under supervision: from a request to a report, whatever a plugin does.

use std::fs::File;
use std::io;
use std::path::Path;

use passdock_core::{ErrorKind, PassError, Verify, Watch};
use passdock_crash::Death;
use passdock_files::{directory_of, leftovers};
use serde::Serialize;
use serde_json::Value;

use super::{Ended, Supervisor};
use crate::model_file::{is_standard, is_used};
use crate::pipeline::{ModelReport, Report, Request};

/// Runs a request in a worker, which answers the report of [`crate::pipeline::run()`]. Whatever the worker dies of is
/// in the report, and then nothing was written.
///
/// `job` says to the program's workers what to do: run this request.
pub fn run<J: Serialize>(
    supervisor: &Supervisor,
    request: &Request,
    job: impl Fn(&Request) -> J,
    watch: Watch,
) -> Report {
    let attempt = |request: &Request, input: &Option<File>, watch| {
        let input = input.as_ref().map(File::try_clone).transpose()?;
        supervisor.run(&job(request), input, watch, &mut |()| Value::Null)
    };
    let ended =
        kept_input(&request.model).and_then(|input| match attempt(request, &input, watch)? {
            Ended::Answered(report) if is_broken(&report) && request.verify == Verify::Changed => {
                // By whom, shows if one looks after each pass.
                let looking = Request {
                    verify: Verify::All,
                    ..request.clone()
                };
                Ok(match attempt(&looking, &input, Watch::default())? {
                    Ended::Died(_) => Ended::Answered(report),
                    answered => answered,
                })
            }
            ended => Ok(ended),
        });
    let error = match ended {
        Ok(Ended::Answered(report)) => return report,
        Ok(Ended::Died(death)) => {
            if let Some(output) = &request.output {
                remove_leftovers(output);
            }
            died(&death)
        }
        Err(error) => not_started(&error),
    };
    Report {
        exit_status: error.exit_status(),
        diagnostics: vec![error.to_diagnostic()],
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

/// Removes the unfinished files of a worker that died before it wrote its output.
pub fn remove_leftovers(output: &Path) {
    if !is_standard(output) {
        leftovers::remove(directory_of(output), Some(is_used));
    }
}

/// The error of a process that couldn't be started.
pub fn not_started(error: &std::io::Error) -> PassError {
    let message = format!("The process that runs plugins can't be started: {error}.");
    PassError::new(ErrorKind::Crashed, message).help("`--in-process` runs them without one.")
}

/// The error of a worker that died outside of a pass, where nobody can say, or on a trial.
pub fn died(death: &Death) -> PassError {
    let mut error = PassError::of_death(death);
    error.help = None;
    error.pass = death.running_pass().map(|pass| pass.name.clone());
    if death.culprit.is_some() {
        return error;
    }
    if error.pass.is_none() {
        error.message = format!(
            "Something outside of the calls into plugins {}.",
            death.cause
        );
    }
    error.help(
        "A thread that a plugin started, or passdock itself: run it under a debugger with `--in-process`.",
    )
}
