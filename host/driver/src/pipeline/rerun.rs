//! A request's pipeline, prepared once and run on many modules: for bisecting and reducing.

use std::sync::Arc;

use passdock_core::{PassContext, PassError, PassRun, Recorder, Registry};
use passdock_ir::Module;
use serde::{Deserialize, Serialize};

use super::types::inferred;
use crate::prepare::{Prepared, Request, Watched};

/// A pipeline that runs again and again. Of its instruments, those stay that judge the passes;
/// diagnostics are dropped.
pub struct Rerun {
    prepared: Prepared,
    recorder: Arc<Recorder>,
}

/// What came of a pipeline's run on a module.
#[derive(Debug, Serialize, Deserialize)]
pub enum Trial<M = Module> {
    /// It ran to its end and made this module.
    Made(M),
    /// It failed.
    Failed {
        /// The failure.
        error: PassError,
        /// Whether it is that of a pass, or of an instrument around it.
        of_pass: bool,
    },
}

impl<M> Trial<M> {
    /// Converts the module.
    ///
    /// # Errors
    /// That of the conversion.
    #[cfg(unix)]
    pub(crate) fn try_map<N>(
        self,
        convert: impl FnOnce(M) -> Result<N, PassError>,
    ) -> Result<Trial<N>, PassError> {
        Ok(match self {
            Trial::Made(module) => Trial::Made(convert(module)?),
            Trial::Failed { error, of_pass } => Trial::Failed { error, of_pass },
        })
    }
}

/// Runs of a pipeline on one module after the other, in this process or in others.
pub trait Trials {
    /// Runs it on a module. Unless what it makes is wanted, it may answer any module for it.
    ///
    /// # Errors
    /// If nothing can be run, on whatever module.
    fn run(&mut self, module: &Module, wants_made: bool) -> Result<Trial, PassError>;

    /// The module with the types that can be inferred; `None`: that is no more than there are.
    fn typed(&mut self, module: &Module) -> Option<Module>;
}

impl Trials for Rerun {
    fn run(&mut self, module: &Module, _: bool) -> Result<Trial, PassError> {
        Ok(match self.run_kept(module.clone()).0 {
            Ok(made) => Trial::Made(made),
            Err(error) => Trial::Failed {
                of_pass: error.site().is_some() && error.exit_status() == 1,
                error,
            },
        })
    }

    fn typed(&mut self, module: &Module) -> Option<Module> {
        let typed = inferred(self.context(), module).ok()?;
        (!typed.is_same(module)).then_some(typed)
    }
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
