//! Passes written in the program's own language, such as Python, which are found by their location.

use std::sync::Arc;

use super::Registry;
use crate::error::{ErrorKind, PassError};
use crate::pass::PassRef;

/// A function that finds passes written in the program's own language.
pub(super) type Importer = dyn Fn(&str, bool) -> Result<PassRef, PassError> + Send + Sync;

impl Registry {
    /// Sets the function that finds passes for `python` entries of pipelines, `package.module:name`. Its second
    /// argument is whether the pipeline is trusted. For programs that run Python.
    pub fn set_importer(
        &self,
        importer: impl Fn(&str, bool) -> Result<PassRef, PassError> + Send + Sync + 'static,
    ) {
        self.write().importer = Some(Arc::new(importer));
    }

    /// Finds a pass written in the program's own language by its location. If `trusted`, it may be in a module that the
    /// program hasn't imported.
    ///
    /// # Errors
    /// If the program can't find such passes, or there is no such pass.
    pub fn import_pass(&self, target: &str, trusted: bool) -> Result<PassRef, PassError> {
        let importer = self.read().importer.clone();
        // Without the lock, since the imported code may register passes.
        if let Some(importer) = importer {
            return importer(target, trusted).map_err(|mut error| {
                error
                    .notes
                    .push(format!("requested by `python = {target:?}`"));
                error
            });
        }
        let message = format!("cannot run Python pass `{target}` outside of Python");
        let error = PassError::new(ErrorKind::UnknownPass, message);
        Err(error.help("run the pipeline in Python: `passdock.run(model, pipeline, output)`"))
    }
}
