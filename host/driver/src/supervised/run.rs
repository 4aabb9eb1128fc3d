//! `run` in a worker: executes a request and returns a report, even if a plugin crashes.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use passdock_core::{ErrorKind, PassError, Verify};
use passdock_crash::{Termination, TerminationCause};
use serde::Serialize;

use super::Supervisor;
use super::process::no_answer;
use crate::model_file::{StagedModel, is_standard};
use crate::pipeline::{Report, Request, SandboxReport, Watch};

/// Runs a request in a worker, and returns the report of [`crate::pipeline::run_staged`] and the output. A crash of the
/// worker is an error in the report. The output is in a staging directory of this process, not yet committed.
///
/// `job` creates the job with which the program's workers run a request, given the path of the staging directory.
pub fn run<J: Serialize>(
    supervisor: &Supervisor,
    request: &Request,
    job: impl Fn(Request, Option<PathBuf>) -> J,
    watch: Watch,
) -> (Report, Option<StagedModel>) {
    let output = request.output.as_deref();
    let staging =
        output.and_then(|output| StagedModel::staging_for(output, request.replaces_links));
    let staging_path = staging.as_ref().map(|staging| staging.path().to_owned());
    let mut sandbox = SandboxReport::default();
    let mut attempt = |request: &Request, input: &Option<File>, watch| {
        let input = input.as_ref().map(File::try_clone).transpose();
        let input = input.map_err(|error| not_started(&error))?;
        let job = job(request.clone(), staging_path.clone());
        supervisor.run(&job, input, watch, &mut no_answer, &mut sandbox)
    };
    let response = seekable_input(&request.model).and_then(|input| {
        let first: (Report, Option<StagedModel>) = attempt(request, &input, watch)?;
        if !is_broken(&first.0) || request.verify != Verify::Changed {
            return Ok(first);
        }
        // With all functions verified after each pass, the responsible pass is found.
        let verifying = Request {
            verify: Verify::All,
            ..request.clone()
        };
        Ok(attempt(&verifying, &input, Watch::default()).unwrap_or(first))
    });
    let owned = response.and_then(|(report, output)| {
        let output = output.map(|output| output.at(staging)).transpose()?;
        Ok((report, output))
    });
    let (mut report, output) =
        owned.unwrap_or_else(|error| (Report::failed(&request.model, &error), None));
    report.set_sandbox(sandbox);
    (report, output)
}

/// Returns `true` if a pass corrupted the IR by writing to it directly.
fn is_broken(report: &Report) -> bool {
    let code = ErrorKind::Broken.code();
    let mut diagnostics = report.diagnostics.iter();
    !report.ok && diagnostics.any(|diagnostic| diagnostic.code == code)
}

/// Copies standard input to a file that several workers can read, if it is the model.
///
/// # Errors
/// If it can't be read, or the file can't be written.
pub fn seekable_input(model: &Path) -> Result<Option<File>, PassError> {
    if !is_standard(model) {
        return Ok(None);
    }
    let copy = || -> io::Result<File> {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut io::stdin().lock(), &mut file)?;
        Ok(file)
    };
    copy().map(Some).map_err(|error| {
        let message = format!("could not copy standard input: {error}");
        PassError::new(ErrorKind::Read, message)
    })
}

/// Returns the error for a process that couldn't be started.
pub(super) fn not_started(error: &std::io::Error) -> PassError {
    let message = format!("could not start the process that runs plugins: {error}");
    PassError::new(ErrorKind::Crashed, message).help("pass `--in-process` to run them without one")
}

/// Returns the error for a worker that crashed outside of a pass, or in a trial.
pub(super) fn crash_error(termination: &Termination) -> PassError {
    let mut error = PassError::from_termination(termination);
    error.help = None;
    error.pass = termination.running_pass().map(|pass| pass.name.clone());
    if termination.culprit.is_some() {
        return error;
    }
    if error.pass.is_none() && matches!(termination.cause, TerminationCause::Timeout { .. }) {
        error.message = format!("the run {}, before the first pass", termination.cause);
        return error.help("pass a longer `--timeout`; it includes reading and writing models");
    }
    if error.pass.is_none() {
        let subject = match termination.cause {
            TerminationCause::Descriptors => "a plugin",
            _ => "code outside the calls into plugins",
        };
        error.message = format!("{subject} {}", termination.cause);
    }
    error.help(
        "the cause is a thread that a plugin started, or passdock itself; to find it, run the command under a debugger \
         with `--in-process`",
    )
}
