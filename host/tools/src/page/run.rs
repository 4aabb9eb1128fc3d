//! Writing the HTML report from the report of a run.

use std::path::PathBuf;

use passdock_core::{Diagnostic, ErrorKind, PassError};
use passdock_driver::pipeline::Report;

use super::document::{Document, RunFacts};
use super::html;
use super::recorder::{NAME, Recorded};

/// Settings for the HTML report of a run. The report is written before the output file is moved to its final path, so
/// that the run fails if the report can't be written.
#[derive(Clone)]
pub struct RunPage {
    /// The file that `--html-report` names; `None`: that of the pipeline's instrument `page`, if it has one.
    pub requested: Option<PathBuf>,
    /// The program's name and version.
    pub program: String,
    /// The command line.
    pub command: Vec<String>,
}

impl RunPage {
    /// Writes the HTML report, and removes its data from `report`. Returns the file, or `None` if none was requested.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn write(&self, report: &mut Report) -> Result<Option<PathBuf>, PassError> {
        let recorded = take_recorded(report);
        let recorded_file = recorded.as_ref().map(|recorded| recorded.file.clone());
        let Some(file) = self.requested.clone().or(recorded_file) else {
            return Ok(None);
        };
        // A usage error has no HTML report.
        if report.exit_status == 2 && report.passes.is_empty() {
            return Ok(None);
        }
        // The instrument found before the run that the file can't be written.
        let name = format!("`{}`", file.display());
        let is_write_error = |diagnostic: &Diagnostic| {
            diagnostic.code == "write" && diagnostic.message.contains(&name)
        };
        if recorded.is_none() && report.diagnostics.iter().any(is_write_error) {
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
            let message = format!(
                "could not write the HTML report `{}`: {error}",
                file.display()
            );
            PassError::new(ErrorKind::Write, message)
        })?;
        Ok(Some(file))
    }
}

/// Takes the data of the instrument `html-report`; `None` if its process crashed.
fn take_recorded(report: &mut Report) -> Option<Recorded> {
    let at = report
        .instruments
        .iter()
        .position(|instrument| instrument.name == NAME)?;
    serde_json::from_value(report.instruments.remove(at).data?).ok()
}
