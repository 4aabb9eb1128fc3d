//! A request's pipeline, prepared once and run on many modules: for bisecting and reducing.

use std::sync::Arc;

use passdock_core::{PassContext, PassError, PassRun, Recorder, Registry};
use passdock_ir::Module;

use crate::prepare::{Prepared, Request, Watched};

/// A pipeline that runs again and again. Of its instruments, those stay that judge the passes;
/// diagnostics are dropped.
pub struct Rerun {
    prepared: Prepared,
    recorder: Arc<Recorder>,
}

impl Rerun {
    /// Looks up everything, and loads the plugins. Those of the request's directories come to the
    /// registry.
    ///
    /// # Errors
    /// A name that isn't there, or a plugin that can't be loaded.
    pub fn new(registry: &Registry, request: &Request) -> Result<Rerun, PassError> {
        let recorder = Arc::new(Recorder::keeping(None));
        let watched = Watched {
            recorder: Some(recorder.clone()),
            on_diagnostic: Some(Box::new(|_| ())),
            only_judges: true,
            ..Watched::default()
        };
        let mut prepared = Prepared::new(registry, request, watched)?;
        prepared.load()?;
        Ok(Rerun { prepared, recorder })
    }

    /// Runs it on a module.
    ///
    /// # Errors
    /// The first failure of a pass, or of an instrument.
    pub fn run(&self, module: Module) -> Result<Module, PassError> {
        self.run_kept(module).0
    }

    /// Runs it on a module; the runs of its passes come with the result.
    pub fn run_kept(&self, module: Module) -> (Result<Module, PassError>, Vec<PassRun>) {
        let result = self.prepared.run(module);
        self.recorder.take();
        (result, self.recorder.take_runs())
    }

    /// The context that it runs under.
    pub fn context(&self) -> &PassContext {
        self.prepared.context()
    }
}
