//! Preparation of a request: all names and values are resolved before the model is read and before anything runs.

mod bind;
pub(crate) mod blame;
mod config;
mod instruments;
mod passes;
mod phases;
mod plugins;
mod protected_files;
mod request;
mod requested_instrument;
mod rules;

use std::collections::BTreeSet;
use std::sync::Arc;

use passdock_core::plan::{self, Plan};
use passdock_core::{
    Diagnostic, InstrumentRef, PassContext, PassError, Recorder, Registry, Sequential, Sink,
};
use passdock_ir::Module;

use crate::pipeline_file::PipelineFile;
pub(crate) use bind::PASSES as BINDING;
pub use passes::PIPELINE;
pub(crate) use passes::{RAISE_OPSET, passes_in};
pub(crate) use phases::Phases;
pub(crate) use plugins::{is_standard_dir, register};
pub use plugins::{load_plugins, no_plugins};
pub(crate) use protected_files::protected_file;
pub use request::{PipelineText, Print, Request};
pub(crate) use request::{TRUST, is_inside};
pub use requested_instrument::{RequestSource, RequestedInstrument};
pub use rules::{read_file as read_rules, read_patterns};

/// A pipeline with resolved names, and its context.
pub struct Prepared {
    pub(crate) file: PipelineFile,
    /// Whether the pipeline is built in.
    pub(crate) built_in: bool,
    pub(crate) sequential: Sequential,
    pub(crate) context: PassContext,
    /// The execution plan, after the plugins are loaded.
    pub(crate) plan: Option<Plan>,
    /// The passes that declare a phase, and the phases of the pipeline.
    pub(crate) phases: Phases,
}

/// Observers of a run, in addition to those of its request.
#[derive(Default)]
pub(crate) struct Watched {
    /// Instruments of the program, which are called before all others.
    pub(crate) instruments: Vec<InstrumentRef>,
    /// The sink for output of instruments, which overrides the request's.
    pub(crate) sink: Option<Sink>,
    /// The recorder of pass runs.
    pub(crate) recorder: Option<Arc<Recorder>>,
    /// The handler of diagnostics, which overrides the renderer.
    pub(crate) on_diagnostic: Option<Box<dyn Fn(Diagnostic) + Send + Sync>>,
    /// Whether to skip instruments that can't fail a run.
    pub(crate) only_checks: bool,
}

impl Prepared {
    /// Resolves all names in a request, whose plugins were registered. Use [`crate::trust::prepared`], which checks
    /// them.
    pub(crate) fn new(
        registry: &Registry,
        request: &Request,
        file: PipelineFile,
        watched: Watched,
    ) -> Result<Prepared, PassError> {
        let prepared = Prepared::resolve(registry, request, file, watched);
        prepared.map_err(|error| plugins::none_found(error, request, registry))
    }

    fn resolve(
        registry: &Registry,
        request: &Request,
        file: PipelineFile,
        watched: Watched,
    ) -> Result<Prepared, PassError> {
        bind::allow_files(request);
        rules::allow_tensors(&file.context.config, request);
        rules::allow_tensors_of(&file.passes, request);
        // Before plugin code runs, so that they may use files that it may not.
        let own_instruments = instruments::make(request, &watched, &file, registry, false);
        let mut phases = Phases::new(registry, &file.passes, &request.passes);
        let sequential = passes::sequential(request, &file, registry, &mut phases)?;
        passes::check_names(request, &file, registry, &sequential)?;
        let mut context = PassContext::builder()
            .registry(registry)
            .settings(config::settings(request, &file, registry, &sequential)?);
        let mut instruments = own_instruments?;
        instruments.extend(instruments::make(request, &watched, &file, registry, true)?);
        instruments.sort_by_key(|instrument| instrument.position);
        for own in watched.instruments {
            context = context.shared_instrument(own);
        }
        for prepared in instruments {
            if prepared.spec.checks_passes {
                context = context.checking_instrument(prepared.table);
            }
            if prepared.spec.checks_passes || !watched.only_checks {
                context = context.shared_instrument(prepared.instrument);
            }
        }
        if let Some(recorder) = watched.recorder {
            context = context.recorder(recorder);
        }
        if let Some(handler) = watched.on_diagnostic {
            context = context.on_diagnostic(handler);
        }
        Ok(Prepared {
            context: context.build()?,
            file,
            built_in: request.is_built_in(),
            sequential,
            plan: None,
            phases,
        })
    }

    /// Returns the context of the run.
    pub fn context(&self) -> &PassContext {
        &self.context
    }

    /// Prepends the passes for the request's bindings.
    pub(crate) fn bind(&mut self, request: &Request, module: &Module) -> Result<(), PassError> {
        if !request.bind.is_empty() {
            let registry = self.context.registry();
            self.sequential = bind::with_bindings(&self.sequential, request, module, registry)?;
            self.load()?;
        }
        Ok(())
    }

    /// Returns the execution plan without loading plugins.
    pub(crate) fn plan(&self) -> Result<Plan, PassError> {
        plan::resolve(&self.sequential, &self.context)
    }

    /// Returns the names of all listed passes at any depth, and of the passes that they require.
    pub(crate) fn pass_names(&self) -> BTreeSet<String> {
        let passes = passes_in(&self.sequential).into_iter();
        let passes = passes.chain(self.plan.iter().flat_map(Plan::order));
        passes.map(|pass| pass.info().name.clone()).collect()
    }

    /// Loads the plugins that the passes need. Later runs use the returned plan.
    pub(crate) fn load(&mut self) -> Result<&Plan, PassError> {
        let plan = passdock_core::run::prepare(&self.sequential, &self.context)?;
        Ok(self.plan.insert(plan))
    }

    /// Runs the passes on a module.
    ///
    /// # Errors
    /// The first error of a pass or an instrument.
    pub fn run(&self, module: Module) -> Result<Module, PassError> {
        self.context.scope(|_| self.call(module))
    }

    /// Runs the passes on a module. The context must be entered.
    pub(crate) fn call(&self, module: Module) -> Result<Module, PassError> {
        match &self.plan {
            Some(plan) => self.sequential.call_planned(plan, module, &self.context),
            None => self.sequential.call(module),
        }
    }
}
