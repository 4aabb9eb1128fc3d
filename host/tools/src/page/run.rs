//! The page of a run, out of its report.

use std::path::PathBuf;

use passdock_core::{Diagnostic, ErrorKind, PassError};
use passdock_driver::pipeline::Report;

use super::document::{Document, RunFacts};
use super::html;
use super::recorder::{NAME, Recorded};

/// The page of a run. It is written before the output is put in its place, so that a run has failed if its page can't
/// be written.
#[derive(Clone)]
pub struct RunPage {
    /// The file that `--report` names; without one, that of an instrument of the pipeline is written, if there is one.
    pub asked: Option<PathBuf>,
    /// The program's name and version.
    pub program: String,
    /// The command line.
    pub command: Vec<String>,
}

impl RunPage {
    /// Writes the page, and takes its data out of the report. Returns the page's file, if there is one.
    ///
    /// # Errors
    /// If the page can't be written.
    pub fn write(&self, report: &mut Report) -> Result<Option<PathBuf>, PassError> {
        let recorded = take_recorded(report);
        let recorded_file = recorded.as_ref().map(|recorded| recorded.file.clone());
        let Some(file) = self.asked.clone().or(recorded_file) else {
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
            program: self.program.clone(),
            command: self.command.clone(),
            bytes_before: report.model.bytes_before,
            bytes_after: report.model.bytes_after,
        };
        let document = Document::new(report, recorded.as_ref(), &facts);
        html::write(&file, &document).map_err(|error| {
            let message = format!("The page `{}` can't be written: {error}.", file.display());
            PassError::new(ErrorKind::Write, message)
        })?;
        Ok(Some(file))
    }
}

/// What the instrument recorded: none if the process that ran it died.
fn take_recorded(report: &mut Report) -> Option<Recorded> {
    let at = report
        .instruments
        .iter()
        .position(|instrument| instrument.name == NAME)?;
    serde_json::from_value(report.instruments.remove(at).data?).ok()
}
