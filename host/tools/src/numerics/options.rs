//! The options that both instruments have.

use std::path::PathBuf;

use passdock_core::instrument::option_error;
use passdock_core::sdk::Table;
use passdock_core::{InstrumentSetup, PassError};

use super::compare::CompareOptions;
use super::ort;

/// Reads the common options: the library, the inputs, the sizes of dims, and the two tolerances.
///
/// # Errors
/// If a file doesn't exist or a size is negative.
pub(super) fn common(
    instrument: &str,
    setup: &InstrumentSetup<'_>,
    [library, inputs]: [&str; 2],
    dims: Table<i64>,
    [rtol, atol]: [f64; 2],
) -> Result<CompareOptions, PassError> {
    if let Some((dim, size)) = dims.iter().find(|(_, size)| **size < 0) {
        let message = format!("invalid size of `{dim}`: expected at least 0, found {size}");
        return Err(option_error(instrument, "dims", message).into());
    }
    let path = |field: &str, path: &str| -> Result<Option<PathBuf>, PassError> {
        let path = (!path.is_empty()).then(|| setup.path(path));
        let Some(missing) = path.as_ref().filter(|path| !path.exists()) else {
            return Ok(path);
        };
        let message = format!("no such file or directory: `{}`", missing.display());
        let mut error = option_error(instrument, field, message);
        let help = "use a path relative to the pipeline file, or with `--instrument` to the current directory";
        error.help = Some(help.to_owned());
        Err(error.into())
    };
    let tolerance = |tolerance: f64| (tolerance >= 0.0).then_some(tolerance);
    let (library, inputs) = (path("library", library)?, path("inputs", inputs)?);
    ort::allow(library.as_deref());
    inputs.iter().for_each(passdock_sandbox::allow_read);
    Ok(CompareOptions {
        library,
        inputs,
        dims: dims.into_iter().collect(),
        rtol: tolerance(rtol),
        atol: tolerance(atol),
        ..CompareOptions::default()
    })
}
