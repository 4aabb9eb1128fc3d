//! A request's pipeline, built once and run on many modules: what bisecting and reducing do.

use std::sync::Arc;

use passdock_ir::Module;

use super::build::{self, Built};
use super::request::Request;
use passdock_core::Recorder;
use passdock_core::{PassContext, PassError, PassRun, Registry, Sequential};

/// A pipeline that runs again and again. Of its instruments, those stay that may fail: they judge
/// the passes. Diagnostics are nobody's.
pub struct Rerun {
    sequential: Sequential,
    context: PassContext,
    recorder: Arc<Recorder>,
}

impl Rerun {
    /// Looks up everything, and loads the plugins. Those of the request's directories come to the
    /// registry.
    pub fn new(registry: &Registry, request: &Request) -> Result<Rerun, PassError> {
        let Built {
            sequential,
            context,
            ..
        } = build::build(registry, request, None, true)?;
        let recorder = Arc::new(Recorder::keeping(None));
        let context = context
            .recorder(recorder.clone())
            .on_diagnostic(|_| ())
            .build()?;
        passdock_core::run::prepare(&sequential, &context)?;
        Ok(Rerun {
            sequential,
            context,
            recorder,
        })
    }

    /// Runs it on a module.
    pub fn run(&self, module: Module) -> Result<Module, PassError> {
        self.run_kept(module).0
    }

    /// Runs it on a module; the runs of its passes come with what came of it.
    pub fn run_kept(&self, module: Module) -> (Result<Module, PassError>, Vec<PassRun>) {
        let result = self.context.scope(|_| self.sequential.call(module));
        self.recorder.take();
        (result, self.recorder.take_runs())
    }

    /// What it runs under.
    pub fn context(&self) -> &PassContext {
        &self.context
    }
}
