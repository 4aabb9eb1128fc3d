//! Passes that are written in the program's own language: found by where they are.

use std::sync::Arc;

use super::Registry;
use crate::error::{ErrorKind, PassError};
use crate::pass::PassRef;

/// What finds passes that are written in the program's own language.
pub(super) type Importer = dyn Fn(&str, bool) -> Result<PassRef, PassError> + Send + Sync;

impl Registry {
    /// Sets the function that finds the passes that `python` entries of pipelines name, `package.module:name`. It
    /// also gets whether the pipeline is trusted. For programs in which Python runs.
    pub fn set_importer(
        &self,
        importer: impl Fn(&str, bool) -> Result<PassRef, PassError> + Send + Sync + 'static,
    ) {
        self.write().importer = Some(Arc::new(importer));
    }

    /// Finds a pass that is written in the program's own language by its place; `trusted`: also in modules that
    /// the program hasn't loaded.
    ///
    /// # Errors
    /// If nothing here finds such passes, or there is none.
    pub fn import_pass(&self, place: &str, trusted: bool) -> Result<PassRef, PassError> {
        let importer = self.read().importer.clone();
        // Not under the lock: what is imported may register passes.
        if let Some(importer) = importer {
            return importer(place, trusted).map_err(|mut error| {
                error
                    .notes
                    .push(format!("the pass is named by `python = {place:?}`"));
                error
            });
        }
        let message = format!("`{place}` is a pass of Python, which doesn't run here.");
        let error = PassError::new(ErrorKind::UnknownPass, message);
        Err(error.help("Run the pipeline in Python: `passdock.run(model, pipeline, output)`."))
    }
}
