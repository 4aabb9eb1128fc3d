//! Pipelines that are prepared once and run on many modules, for bisecting and reducing.

use std::sync::Arc;

use passdock_core::{PassContext, PassError, PassRun, Recorder, Registry};
use passdock_ir::Module;
use serde::{Deserialize, Serialize};

use super::types::inferred;
use crate::prepare::{Prepared, Request, Watched};
use crate::trust;

/// A prepared pipeline for repeated runs. Only instruments that can fail a run are called. Diagnostics are dropped.
pub struct Rerun {
    prepared: Prepared,
    recorder: Arc<Recorder>,
}

/// The result of running a pipeline on a module.
#[derive(Debug, Serialize, Deserialize)]
pub enum Trial<M = Module> {
    /// Success, with the resulting module.
    Succeeded(M),
    /// Failure.
    Failed {
        /// The error.
        error: PassError,
        /// Whether a pass or an instrument around a pass caused it.
        of_pass: bool,
    },
}

impl<M> Trial<M> {
    /// Converts the resulting module.
    ///
    /// # Errors
    /// The error of the conversion.
    #[cfg(unix)]
    pub(crate) fn try_map<N>(
        self,
        convert: impl FnOnce(M) -> Result<N, PassError>,
    ) -> Result<Trial<N>, PassError> {
        Ok(match self {
            Trial::Succeeded(module) => Trial::Succeeded(convert(module)?),
            Trial::Failed { error, of_pass } => Trial::Failed { error, of_pass },
        })
    }
}

/// Repeated runs of a pipeline, in this process or in workers.
pub trait Trials {
    /// Runs the pipeline on a module. If `needs_output` is false, the resulting module may be any module.
    ///
    /// # Errors
    /// If the pipeline can't be run at all.
    fn run(&mut self, module: &Module, needs_output: bool) -> Result<Trial, PassError>;

    /// Returns the module with inferred types, or `None` if inference adds none.
    fn typed(&mut self, module: &Module) -> Option<Module>;
}

impl Trials for Rerun {
    fn run(&mut self, module: &Module, _: bool) -> Result<Trial, PassError> {
        Ok(match self.run_recorded(module.clone()).0 {
            Ok(output) => Trial::Succeeded(output),
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
    /// Resolves all names and loads the plugins. Plugins in the request's directories are added to the registry.
    ///
    /// # Errors
    /// If a name is unknown, or a plugin can't be loaded.
    pub fn new(registry: &Registry, request: &Request) -> Result<Rerun, PassError> {
        let recorder = Arc::new(Recorder::keeping(None));
        let watched = Watched {
            recorder: Some(recorder.clone()),
            on_diagnostic: Some(Box::new(|_| ())),
            only_checks: true,
            ..Watched::default()
        };
        let mut prepared = trust::prepared(registry, request, watched)?;
        prepared.load()?;
        Ok(Rerun { prepared, recorder })
    }

    /// Runs the pipeline on a module. Returns the result and the runs of the passes.
    pub fn run_recorded(&self, module: Module) -> (Result<Module, PassError>, Vec<PassRun>) {
        let result = self.prepared.run(module);
        self.recorder.take();
        (result, self.recorder.take_runs())
    }

    /// Returns the context of the runs.
    pub fn context(&self) -> &PassContext {
        self.prepared.context()
    }
}
