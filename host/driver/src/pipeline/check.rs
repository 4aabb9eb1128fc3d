//! Checks of a request without running it.

use passdock_core::{ErrorKind, PassError, Registry};

use crate::prepare::{Request, Watched};
use crate::trust;

/// Checks a request without running it. The plugins that it needs are loaded.
///
/// # Errors
/// The first error. A pipeline without passes is an error, too.
pub fn check(registry: &Registry, request: &Request) -> Result<(), PassError> {
    let mut prepared = trust::prepared(registry, request, Watched::default())?;
    prepared.load()?;
    // Errors in its contents are reported first.
    let file = &prepared.file;
    if request.pipeline.is_some() && request.passes.is_empty() && file.passes.is_empty() {
        let name = &file.source.name;
        let message = format!("pipeline `{name}` has no passes");
        let error = PassError::new(ErrorKind::Pipeline, message);
        return Err(
            error.help("add `passes = [\"relax.transform.FoldConstant\"]` or `[[passes]]` tables")
        );
    }
    Ok(())
}
