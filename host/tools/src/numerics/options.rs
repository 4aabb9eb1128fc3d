//! The options of both instruments.

use std::collections::BTreeMap;
use std::path::PathBuf;

use passdock_core::instrument::wrong;
use passdock_core::{InstrumentSetup, PassError};

use super::compare::CompareOptions;

/// Reads the options that both instruments have: library and inputs, sizes of dims, and the two tolerances.
///
/// # Errors
/// If a file doesn't exist or a size is negative.
pub(super) fn common(
    instrument: &str,
    setup: &InstrumentSetup<'_>,
    [library, inputs]: [&str; 2],
    dims: BTreeMap<String, i64>,
    [rtol, atol]: [f64; 2],
) -> Result<CompareOptions, PassError> {
    if let Some((dim, size)) = dims.iter().find(|(_, size)| **size < 0) {
        let message = format!("The size of `{dim}` can't be {size}.");
        return Err(wrong(instrument, "dims", message).into());
    }
    let path = |field: &str, path: &str| -> Result<Option<PathBuf>, PassError> {
        let path = (!path.is_empty()).then(|| setup.path(path));
        match path {
            Some(path) if !path.exists() => {
                let message = format!("There is no `{}`.", path.display());
                let mut error = wrong(instrument, field, message);
                let help = "Paths start in the directory of the pipeline's file, those of `--instrument` in the \
                            current one.";
                error.help = Some(help.to_owned());
                Err(error.into())
            }
            path => Ok(path),
        }
    };
    let given = |tolerance: f64| (tolerance >= 0.0).then_some(tolerance);
    Ok(CompareOptions {
        library: path("library", library)?,
        inputs: path("inputs", inputs)?,
        dims,
        rtol: given(rtol),
        atol: given(atol),
        ..CompareOptions::default()
    })
}
