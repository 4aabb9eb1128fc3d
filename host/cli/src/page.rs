//! The page of a run, beside its report.

use std::path::{Path, PathBuf};

use passdock::PassError;
use passdock::pipeline::Report;

/// Writes the page that was asked for, by `--report` or as an instrument of a pipeline, and takes its data out of the
/// report. The answer is the page's file, if there is one.
pub(crate) fn write(
    asked: Option<&Path>,
    report: &mut Report,
) -> Result<Option<PathBuf>, PassError> {
    let program = format!("passdock {}", env!("CARGO_PKG_VERSION"));
    passdock_page::write_run(asked, report, program, command())
}

/// The command line; the program by its name alone.
fn command() -> Vec<String> {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let program = words.next().unwrap_or_default();
    let program = Path::new(&program)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    program.into_iter().chain(words).collect()
}
