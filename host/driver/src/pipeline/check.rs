//! Whether a request is right; nothing runs.

use passdock_core::{ErrorKind, PassError, Registry};

use crate::prepare::{Prepared, Request, Watched};

/// Checks whether a request is right, down to the plugins that it needs: they are loaded.
/// Nothing runs.
///
/// # Errors
/// The first mistake; a pipeline that lists no passes is one.
pub fn check(registry: &Registry, request: &Request) -> Result<(), PassError> {
    let mut prepared = Prepared::new(registry, request, Watched::default())?;
    prepared.load()?;
    // What is wrong with what it says comes first.
    let file = &prepared.file;
    if request.pipeline.is_some() && request.passes.is_empty() && file.passes.is_empty() {
        let name = &file.source.name;
        let message = format!("The pipeline `{name}` lists no passes: it does nothing.");
        let error = PassError::new(ErrorKind::Pipeline, message);
        return Err(error.help(
            "List them as `passes = [\"relax.transform.FoldConstant\"]`, or as `[[passes]]` tables.",
        ));
    }
    Ok(())
}
