//! `run` under supervision: from a request to a report, whatever a plugin does.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use passdock_core::{ErrorKind, PassError, Severity, Verify, util};
use passdock_crash::{Death, DeathCause};
use passdock_files::{directory_of, leftovers};
use serde::Serialize;
use serde_json::Value;

use super::{Ended, Supervisor};
use crate::model_file::{is_standard, is_used};
use crate::pipeline::{ModelReport, OnWrite, Report, Request, Watch, Writing};

/// Runs a request in a worker, which answers the report of [`crate::pipeline::run()`]. Whatever the worker dies of is
/// in the report, and then nothing was written; or the output was in its place by then, and the report says that.
///
/// `job` says to the program's workers what to do: run this request.
pub fn run<J: Serialize>(
    supervisor: &Supervisor,
    request: &Request,
    job: impl Fn(&Request) -> J,
    mut watch: Watch,
) -> Report {
    let before = Arc::new(Mutex::new(None));
    let asked = Arc::new(watch.on_write.take());
    let on_write = || {
        let (output, before, asked) = (request.output.clone(), before.clone(), asked.clone());
        let seen = move |writing: Writing<'_>| {
            (*asked).as_ref().map_or(Ok(()), |asked| asked(writing))?;
            *util::lock(&before) = Some(output.as_deref().and_then(identity));
            Ok(())
        };
        Some(Box::new(seen) as Box<OnWrite>)
    };
    watch.on_write = on_write();
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
                let watch = Watch {
                    on_write: on_write(),
                    ..Watch::default()
                };
                Ok(match attempt(&looking, &input, watch)? {
                    Ended::Died(_) => Ended::Answered(report),
                    answered => answered,
                })
            }
            ended => Ok(ended),
        });
    let error = match ended {
        Ok(Ended::Answered(report)) => return report,
        Ok(Ended::Died(death)) => {
            let before = util::lock(&before).take();
            let now = request.output.as_deref().and_then(identity);
            if now.is_some() && before.is_some_and(|before| before != now) {
                return written(request, &death);
            }
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
        ..empty(request)
    }
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

/// The report of a worker that died when the output was in its place: all was done.
fn written(request: &Request, death: &Death) -> Report {
    let mut report = empty(request);
    let mut warning = died(death).to_diagnostic();
    warning.severity = Severity::Warning;
    warning
        .notes
        .push("what each pass did is lost with it".to_owned());
    warning.help = Some("The output was written before that, and it is whole.".to_owned());
    report.ok = true;
    report.diagnostics.push(warning);
    let output = request.output.as_ref();
    report.model.output = output.map(|path| path.display().to_string());
    report
}

/// What tells a file from the one that takes its place; `None`: it isn't there, or no file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let known = path.metadata().ok().filter(Metadata::is_file)?;
    Some((known.dev(), known.ino()))
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
    if error.pass.is_none() && matches!(death.cause, DeathCause::Timeout { .. }) {
        error.message = format!("The run {}, and no pass ran by then.", death.cause);
        return error
            .help("Reading and writing models takes time, too: a longer `--timeout` does.");
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
