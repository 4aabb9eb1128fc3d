//! The commands about two models, whose exit statuses are those of diff(1).

use std::path::Path;

use passdock::model_file::{self, ReadOptions, is_standard};
use passdock::{Diagnostic, ErrorKind, Module, PassError};
use serde::Serialize;

use crate::show;

pub(crate) mod compare;
pub(crate) mod diff;

/// The exit statuses.
const SAME: u8 = 0;
const DIFFERENT: u8 = 1;
pub(crate) const TROUBLE: u8 = 2;

/// The output of `--json`.
#[derive(Serialize)]
struct TwoModelsOutput<'c, T> {
    ok: bool,
    exit_status: u8,
    old: &'c str,
    new: &'c str,
    #[serde(flatten)]
    answer: T,
    diagnostics: Vec<Diagnostic>,
}

/// Shows the error of a comparison; returns the exit status.
fn status_of<T>(compared: &Result<T, PassError>, is_same: impl FnOnce(&T) -> bool) -> u8 {
    match compared {
        Ok(compared) if is_same(compared) => SAME,
        Ok(_) => DIFFERENT,
        Err(error) => {
            show::diagnostic(&error.to_diagnostic());
            TROUBLE
        }
    }
}

/// Prints the answer about two models, or the error, as JSON.
fn print_json(
    status: u8,
    [old, new]: [&Path; 2],
    answer: impl Serialize,
    error: Option<&PassError>,
) {
    show::print_json(&TwoModelsOutput {
        ok: error.is_none(),
        exit_status: status,
        old: &old.to_string_lossy(),
        new: &new.to_string_lossy(),
        answer,
        diagnostics: error.map(PassError::to_diagnostic).into_iter().collect(),
    });
}

/// Reads the two models, of which one may come from standard input.
fn read(paths: [&Path; 2], outside_data: bool) -> Result<[Module; 2], PassError> {
    if paths.iter().all(is_standard) {
        let message = "Only one of the two models can come from standard input.";
        return Err(PassError::new(ErrorKind::Usage, message));
    }
    let [old, new] = paths.map(|path| model_file::read_with(path, ReadOptions { outside_data }));
    Ok([old?, new?])
}
