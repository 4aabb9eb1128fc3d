//! Commands on two models, with the exit statuses of diff(1).

use std::path::Path;

use passdock::model_file::{self, ReadOptions, is_standard};
use passdock::{Diagnostic, ErrorKind, Module, PassError};
use serde::Serialize;

use crate::show;

pub(crate) mod compare;
pub(crate) mod diff;

/// The exit status of an error. 1 means that the models differ.
pub(crate) const FAILURE_STATUS: u8 = 2;

/// The output of `--json`.
#[derive(Serialize)]
struct TwoModelsOutput<'c, T> {
    ok: bool,
    exit_status: u8,
    before: &'c str,
    after: &'c str,
    #[serde(flatten)]
    comparison: Option<&'c T>,
    diagnostics: Vec<Diagnostic>,
}

/// Prints a comparison or its error, as JSON or with `render`. Returns the exit status.
fn result<T: Serialize>(
    compared: &Result<T, PassError>,
    is_same: impl FnOnce(&T) -> bool,
    [before, after]: [&Path; 2],
    json: bool,
    render: impl FnOnce(&T),
) -> u8 {
    let (comparison, error) = (compared.as_ref().ok(), compared.as_ref().err());
    let status = comparison.map_or(FAILURE_STATUS, |comparison| u8::from(!is_same(comparison)));
    let diagnostics: Vec<Diagnostic> = error.map(PassError::to_diagnostic).into_iter().collect();
    diagnostics.iter().for_each(show::diagnostic);
    if json {
        show::print_json(&TwoModelsOutput {
            ok: error.is_none(),
            exit_status: status,
            before: &before.to_string_lossy(),
            after: &after.to_string_lossy(),
            comparison,
            diagnostics,
        });
    } else if let Some(comparison) = comparison {
        render(comparison);
    }
    status
}

/// Reads two models, of which at most one is read from standard input.
fn read(paths: [&Path; 2], outside_data: bool) -> Result<[Module; 2], PassError> {
    if paths.iter().all(is_standard) {
        let message = "only one of the two models can be standard input";
        return Err(PassError::new(ErrorKind::Usage, message));
    }
    let [old, new] = paths.map(|path| model_file::read_with(path, ReadOptions { outside_data }));
    Ok([old?, new?])
}
