//! The HTML report of a run.

use std::path::{Path, PathBuf};

use passdock_tools::page::RunPage;

/// Returns the HTML report that `--html-report` or an instrument of the pipeline requests.
pub(crate) fn run_page(report: Option<PathBuf>) -> RunPage {
    RunPage {
        requested: report,
        program: format!("passdock {}", env!("CARGO_PKG_VERSION")),
        command: command(),
    }
}

/// Returns the command line, with the program's file name as the first word.
fn command() -> Vec<String> {
    let mut args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    let program = args.next().unwrap_or_default();
    let program = Path::new(&program)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    program.into_iter().chain(args).collect()
}
