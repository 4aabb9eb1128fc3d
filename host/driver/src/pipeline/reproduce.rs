//! Writing the reproducer of a failed run, and the note about it.

use std::path::{Path, PathBuf};

use super::report::Report;
use crate::model_file;
use crate::prepare::Request;
use crate::reproducer::{self, ReproducerOptions};
use passdock_core::{Diagnostic, PassError, Severity};
use passdock_files::declare_output;

/// The code of diagnostics about reproducers.
pub(crate) const REPRODUCER: &str = "reproducer";

/// Declares the directory of a reproducer, so that it can be written from a sandbox.
pub(super) fn declare(request: &Request) {
    if let Some(directory) = directory(request) {
        declare_output(&directory);
    }
}

/// Writes the reproducer of a failure, if it has one, and adds a note with its path. It is written to the requested
/// directory, or else next to the output.
pub(super) fn write(request: &Request, error: &PassError, report: &mut Report) {
    let Some(site) = reproducer::failure_site(error) else {
        return;
    };
    let Some(dir) = directory(request) else {
        if request.resumes {
            return;
        }
        let message = "pass `--reproducer-dir DIR` to write a reproducer";
        let note = Diagnostic::new(Severity::Note, REPRODUCER, message);
        report.diagnostics.push(note);
        return;
    };
    let options = ReproducerOptions {
        self_contained: request.self_contained,
        pipeline: report.pipeline.name.clone(),
        model: Some(request.model.display().to_string()),
        ..ReproducerOptions::default()
    };
    let diagnostic = match reproducer::write(error, &dir, &options) {
        Ok(needs_trust) => {
            let dir = dir.display().to_string();
            let message = format!("wrote a reproducer to `{dir}`");
            let command = reproducer::command(
                dir.as_ref(),
                error,
                site,
                &request.default_dirs,
                needs_trust,
            );
            report.reproducer = Some(dir);
            let note = Diagnostic::new(Severity::Note, REPRODUCER, message);
            note.help(format!("replay it with `{command}`"))
        }
        Err(error) => {
            let mut warning = error.to_diagnostic();
            warning.severity = Severity::Warning;
            warning.code = REPRODUCER.to_owned();
            warning
        }
    };
    report.diagnostics.push(diagnostic);
}

fn directory(request: &Request) -> Option<PathBuf> {
    let output = request.output.as_deref();
    let output = output.filter(|output| !model_file::is_standard(output));
    let Some(dir) = &request.reproducer_dir else {
        let mut directory = output?.as_os_str().to_owned();
        directory.push(".reproducer");
        return Some(directory.into());
    };
    let model = match model_file::is_standard(&request.model) {
        true => Path::new("stdin"),
        false => &request.model,
    };
    let mut name = output.unwrap_or(model).file_name()?.to_owned();
    name.push(".reproducer");
    Some(dir.join(name))
}
