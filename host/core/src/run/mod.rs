//! The run loop: the steps around each pass, and their order.
//!
//! enabled? → required → should_run → before → call → verify what changed → after, or failed.
//!
//! [`crate::plan`] has decided the first two before anything runs; `leaf` calls the pass;
//! [`crate::verify`] checks what it changed. The loop keeps only the current module and the one
//! before it, so a pass that fails leaves the module as it was.

mod done;
mod edit;
mod host_passes;
mod inner;
mod interrupt;
mod leaf;
mod record;
pub mod site;
mod solo;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use done::Done;
pub use edit::{build_module, edit_module};
pub use host_passes::{apply_pass_to_function, create_host_pass, filter, print_ir, printing};
use inner::Inner;
pub use interrupt::{check_interrupt, set_interrupt};
pub use leaf::is_unexplained;
use passdock_abi::SymbolId;
use passdock_crash::{Callee, Death};
use passdock_diagnostic::suggest;
use passdock_ir::{Function, Module};

pub use solo::forked;

use crate::boundary::Rewrites;
use crate::config::ConfigValue;
use crate::context::{ContextFrame, PassContext, PassRecord};
use crate::error::PassError;
use crate::instrument::{InstrumentRef, PassCall, calls};
use crate::pass::{Pass, Sequential, check_info};
use crate::plan::{self, Held, Plan, Step};
use crate::verify::{self, PrintedInput, Verify};

impl dyn Pass + '_ {
    /// Runs the pass under this thread's current context: whatever its level, and without the
    /// passes that it requires, which are a [`Sequential`]'s business. What comes back shares with
    /// clones of the module what didn't change.
    ///
    /// # Errors
    /// The pass's, an instrument's, or the verifier's of what the pass made.
    pub fn call(&self, module: Module) -> Result<Module, PassError> {
        self.call_in(module, &PassContext::current())
    }

    /// Runs the pass under a given context.
    ///
    /// # Errors
    /// As `call`.
    pub fn call_in(&self, module: Module, cx: &PassContext) -> Result<Module, PassError> {
        let begun = cx.begin_call();
        let made = call(self, &module, cx, !calls::in_callback());
        // It ends with the call, and what only it holds.
        drop(module);
        cx.end_call(begun, made)
    }
}

impl Sequential {
    /// Runs its enabled passes under this thread's current context, with what they require.
    ///
    /// # Errors
    /// What can't be resolved, before anything runs; then the first failure of a pass or of an
    /// instrument.
    pub fn call(&self, module: Module) -> Result<Module, PassError> {
        (self as &dyn Pass).call(module)
    }

    /// Runs its enabled passes under a given context, with what they require.
    ///
    /// # Errors
    /// As [`Sequential::call`].
    pub fn call_in(&self, module: Module, cx: &PassContext) -> Result<Module, PassError> {
        (self as &dyn Pass).call_in(module, cx)
    }

    /// Runs its passes by a plan that [`prepare`] made of it under the same context.
    ///
    /// # Errors
    /// The first failure of a pass or of an instrument.
    pub fn call_planned(
        &self,
        plan: &Plan,
        module: Module,
        cx: &PassContext,
    ) -> Result<Module, PassError> {
        cx.meet(&self.info().name);
        call_planned(self, Some(plan), &module, cx, !calls::in_callback())
    }
}

/// Runs a pass from outside: whatever its level, without what it requires. Instruments are called
/// if it is `watched`.
///
/// # Errors
/// What can't be resolved; then the first failure of a pass or of an instrument.
pub fn call(
    pass: &dyn Pass,
    module: &Module,
    cx: &PassContext,
    watched: bool,
) -> Result<Module, PassError> {
    check_info(pass.info())?;
    cx.meet(&pass.info().name);
    let sequential = pass.as_sequential();
    let plan = sequential.map(|s| plan::resolve(s, cx)).transpose()?;
    if let Some(plan) = &plan {
        plan.load()?;
    }
    call_planned(pass, plan.as_ref(), module, cx, watched)
}

/// Runs a pass. A Sequential runs by its plan, whose plugins are loaded.
fn call_planned(
    pass: &dyn Pass,
    plan: Option<&Plan>,
    module: &Module,
    cx: &PassContext,
    watched: bool,
) -> Result<Module, PassError> {
    if let Some(plan) = plan {
        plan::of_model(&plan.of_model, module, cx.registry())?;
    }
    if cx.verify() == Verify::All {
        verify::all(module).map_err(|error| error.note("before any pass ran"))?;
    }
    if cx.diag_ctx().is_none() && watched {
        cx.count_rewrites_anew();
    }
    let mut run = Run::new(cx, watched);
    if let (true, Some(plan)) = (cx.resumes(), plan) {
        run.resume(plan);
    }
    let job = Job {
        pass,
        options: None,
        plan,
        forced: cx.is_forced(&pass.info().name),
    };
    let outcome = run.pass(job, module);
    match outcome.map_err(|error| site::around(error, pass.as_sequential(), module, cx))? {
        Outcome::Ran(after) => Ok(after),
        Outcome::Vetoed(_) => Ok(module.clone()),
    }
}

/// Checks that a Sequential can run, and returns its plan: loads the plugins that it and the
/// context's instruments need, and makes the instruments. States that the module must be in aren't
/// checked.
///
/// # Errors
/// What can't be resolved or loaded.
pub fn prepare(sequential: &Sequential, cx: &PassContext) -> Result<Plan, PassError> {
    let plan = plan::resolve(sequential, cx)?;
    plan.load()?;
    cx.prepare_instruments()?;
    Ok(plan)
}

/// A pass to run.
#[derive(Clone, Copy)]
struct Job<'a> {
    pass: &'a dyn Pass,
    /// The values of its options, if a plan has worked them out.
    options: Option<&'a ConfigValue>,
    /// The plan of the pass, if it is a Sequential.
    plan: Option<&'a Plan>,
    /// Whether instruments can't veto the pass.
    forced: bool,
}

/// The outcome of a pass that didn't fail.
enum Outcome {
    /// The pass ran and made this module.
    Ran(Module),
    /// Instruments vetoed the pass, for this reason.
    Vetoed(String),
}

/// The state of one call, kept from one pass to the next.
struct Run<'c> {
    cx: &'c PassContext,
    /// Whether instruments are called.
    watched: bool,
    /// The passes that ran.
    done: Done,
    held: Held,
    /// The names of the Sequentials around the pass, without the outermost, and of the passes that ran
    /// what is in them.
    parents: Vec<String>,
    depth: u32,
    /// Whether a pass runs these passes.
    is_inner: bool,
    /// What the rules of the last pass did, until its record is made.
    rewrites: Rewrites,
    /// The passes that ran and are in files of plugins, each once.
    foreign: Vec<String>,
}

impl<'c> Run<'c> {
    fn new(cx: &'c PassContext, watched: bool) -> Run<'c> {
        Run {
            cx,
            watched,
            done: Done::default(),
            held: Held::default(),
            parents: Vec::new(),
            depth: 0,
            is_inner: false,
            rewrites: Rewrites::default(),
            foreign: Vec::new(),
        }
    }

    /// Remembers the passes that the first pass requires as done: the module is the one from right
    /// before that pass.
    fn resume(&mut self, plan: &Plan) {
        if let Some(first) = plan.children.iter().find(|child| child.skipped.is_none()) {
            first
                .required
                .iter()
                .for_each(|step| self.done.remember(step));
        }
    }

    /// Runs the children of a Sequential, each after the passes that it requires.
    fn sequence(&mut self, plan: &Plan, module: &Module) -> Result<Module, PassError> {
        let mut module = module.clone();
        for (at, child) in plan.children.iter().enumerate() {
            if let Some(reason) = &child.skipped {
                self.record_skip(&child.step, reason, &module);
                continue;
            }
            for step in &child.required {
                if self.done.has(step) {
                    self.record_skip(step, PassRecord::RAN_BEFORE, &module);
                } else {
                    self.step(step, &mut module)
                        .map_err(|error| site::followed_by(error, &plan.children[at..]))?;
                }
            }
            self.step(&child.step, &mut module)
                .map_err(|error| site::followed_by(error, &plan.children[at + 1..]))?;
        }
        Ok(module)
    }

    fn step(&mut self, step: &Step, module: &mut Module) -> Result<(), PassError> {
        check_interrupt()?;
        let record = self.record_start(step, module);
        let job = Job {
            pass: &*step.pass,
            options: Some(&step.options),
            plan: step.plan.as_ref(),
            forced: step.forced,
        };
        let result = self.pass(job, module);
        let rewrites = std::mem::take(&mut self.rewrites);
        self.record_end(record, step, module, &result, rewrites);
        let outcome = result.map_err(|error| site::at(error, step, module, self.cx))?;
        if let Outcome::Ran(after) = outcome {
            self.done.remember(step);
            *module = after;
        }
        Ok(())
    }

    /// Runs one pass, from `should_run` on.
    fn pass(&mut self, job: Job<'_>, module: &Module) -> Result<Outcome, PassError> {
        let Job { pass, plan, .. } = job;
        let info = pass.info();
        let name = |error: PassError| error.in_pass(&info.name, pass.provider());
        // The list that it starts with is the list that it ends with.
        let watching: Option<Arc<[InstrumentRef]>> =
            self.watched.then(|| self.cx.instrument_list());
        let watching = watching.as_deref().unwrap_or_default();
        let file = pass.provider().and_then(|of| of.origin.path());
        let callee = Callee::pass(&info.name, file);
        let _entered = callee.enter();
        let frame = ContextFrame::around(self.cx, callee);
        let told = PassCall {
            module,
            info,
            provider: pass.provider(),
            frame: &frame,
        };
        if !job.forced {
            let asked = || calls::vetoes(watching, &told);
            let vetoes = self.watching(watching, asked).map_err(name)?;
            if !vetoes.is_empty() {
                self.cx.meet_unrun(pass);
                let by = suggest::listed(vetoes);
                self.held.vetoed(pass, plan, &by);
                return Ok(Outcome::Vetoed(format!("vetoed by the instrument {by}")));
            }
        }
        self.held.check(pass, module).map_err(name)?;
        self.watching(watching, || calls::before(watching, &told))
            .map_err(name)?;
        let result = match (passdock_crash::expected(&callee), plan) {
            (Some(death), _) => Err(self.died(death)),
            (None, Some(plan)) => self.nested(&info.name, plan, module),
            (None, None) => self.leaf(job, module, callee),
        };
        match result.map_err(name) {
            Ok(after) => {
                self.held.ran(pass);
                self.watching(watching, || calls::after(watching, &told, &after))
                    .map_err(name)?;
                Ok(Outcome::Ran(after))
            }
            Err(error) => Err(self.watching(watching, || calls::failed(watching, &told, error))),
        }
    }

    /// The error of a pass that another process, which ran the same, died in.
    fn died(&self, death: &Death) -> PassError {
        for plugin in self.cx.registry().plugins() {
            let file = plugin.origin().path().and_then(Path::to_str);
            if file.is_some_and(|file| death.loaded.iter().any(|loaded| loaded == file)) {
                plugin.ask();
            }
        }
        PassError::of_death(death)
    }

    fn nested(&mut self, name: &str, plan: &Plan, module: &Module) -> Result<Module, PassError> {
        self.depth += 1;
        if self.depth > 1 {
            self.parents.push(name.to_owned());
        }
        let result = self.sequence(plan, module);
        if self.depth > 1 {
            self.parents.pop();
        }
        self.depth -= 1;
        result
    }

    /// Runs a pass that isn't a Sequential, and verifies its result.
    fn leaf(
        &mut self,
        job: Job<'_>,
        module: &Module,
        callee: Callee<'_>,
    ) -> Result<Module, PassError> {
        let pass = job.pass;
        let result = self.leaf_verified(job, module, callee);
        let name = &pass.info().name;
        let is_foreign = pass.provider().is_some_and(|p| p.origin.path().is_some());
        let is_new = is_foreign && !self.foreign.contains(name);
        if result.is_ok() {
            if is_new {
                self.foreign.push(name.clone());
            }
            return result;
        }
        // What it was given may be what is wrong: another pass wrote into it, or this one, beside failing.
        let mut ran = match self.cx.verify() {
            Verify::Off => return result,
            Verify::Changed => self.foreign.clone(),
            Verify::All => Vec::new(),
        };
        if is_foreign && !ran.contains(name) {
            ran.push(name.clone());
        }
        result.map_err(|error| match verify::broken(module, &ran) {
            None => error,
            Some(mut broken) => {
                // Nothing else could have done it.
                if ran == [name.as_str()] {
                    broken.pass = Some(name.clone());
                    broken.plugin = pass.provider().cloned();
                }
                broken
            }
        })
    }

    fn leaf_verified(
        &mut self,
        job: Job<'_>,
        module: &Module,
        callee: Callee<'_>,
    ) -> Result<Module, PassError> {
        let Job { pass, options, .. } = job;
        let options = match options {
            Some(options) => Cow::Borrowed(options),
            None => Cow::Owned(pass.options(self.cx.config_given())?),
        };
        let mut after = {
            let is_alone = pass.provider().is_some() && !pass.declaration().thread_safe;
            let _alone = is_alone.then(solo::enter);
            let input = PrintedInput::new(module, self.cx.watches_input());
            let inner = Inner::new(self, pass, module);
            let (after, rewrites) = leaf::call(pass, &options, module, self.cx, callee, &inner)?;
            input.check(module, &pass.info().name)?;
            self.rewrites = rewrites;
            after
        };
        if after.is_same(module) {
            verify::unchanged(&after, self.cx.verify())?;
        } else {
            self.done.changed();
            verify::changed(module, &after, self.cx.verify())?;
            compact(module, &mut after);
        }
        Ok(after)
    }
}

/// Compacts each changed function whose records are mostly dead, and settles the depths of one
/// whose regions were inlined.
fn compact(before: &Module, after: &mut Module) {
    let is_new = |function: &&Arc<Function>| {
        let known = before.function(function.name());
        known.is_none_or(|known| !Arc::ptr_eq(known, function))
    };
    let names: Vec<SymbolId> = after
        .functions()
        .filter(is_new)
        .filter(|function| function.needs_compaction() || function.has_loose_depths())
        .map(|function| function.name())
        .collect();
    for name in names {
        if let Some(function) = after.function_mut(name) {
            match function.needs_compaction() {
                true => function.compact(),
                false => function.settle_depths(),
            }
        }
    }
}
