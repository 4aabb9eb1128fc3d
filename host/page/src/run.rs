//! The page of a run, out of its report.

use std::fs;
use std::path::{Path, PathBuf};

use passdock_core::{Diagnostic, ErrorKind, PassError};
use passdock_driver::model_file::is_standard;
use passdock_driver::pipeline::Report;

use crate::document::{Document, RunFacts};
use crate::html;
use crate::recorder::{NAME, Recorded};

/// Writes the page that was asked for, by `--report` or as an instrument of a pipeline, and takes its data out of the
/// report. The answer is the page's file, if there is one.
///
/// # Errors
/// If the page can't be written.
pub fn write_run(
    asked: Option<&Path>,
    report: &mut Report,
    program: String,
    command: Vec<String>,
) -> Result<Option<PathBuf>, PassError> {
    let recorded = take_recorded(report);
    let recorded_file = recorded.as_ref().map(|recorded| recorded.file.clone());
    let Some(file) = asked.map(Path::to_owned).or(recorded_file) else {
        return Ok(None);
    };
    // What can't be run for the command line's sake has no page.
    if report.exit_status == 2 && report.passes.is_empty() {
        return Ok(None);
    }
    // The instrument found out before anything ran.
    let name = format!("`{}`", file.display());
    let is_refusal = |said: &Diagnostic| said.code == "write" && said.message.contains(&name);
    if recorded.is_none() && report.diagnostics.iter().any(is_refusal) {
        return Ok(None);
    }
    let facts = RunFacts {
        program,
        command,
        bytes_before: size(Path::new(&report.model.input)),
        bytes_after: report.model.output.as_deref().map(Path::new).and_then(size),
    };
    let document = Document::new(report, recorded.as_ref(), &facts);
    html::write(&file, &document).map_err(|error| {
        let message = format!("The page `{}` can't be written: {error}.", file.display());
        PassError::new(ErrorKind::Write, message)
    })?;
    Ok(Some(file))
}

/// What the instrument recorded: none if the process that ran it died.
fn take_recorded(report: &mut Report) -> Option<Recorded> {
    let at = report
        .instruments
        .iter()
        .position(|instrument| instrument.name == NAME)?;
    serde_json::from_value(report.instruments.remove(at).data?).ok()
}

fn size(path: &Path) -> Option<u64> {
    if is_standard(path) {
        return None;
    }
    Some(fs::metadata(path).ok()?.len())
}
