//! The run loop: the steps around each pass, and their order.
//!
//! enabled? → required → should_run → before → call → verify what changed → after, or failed.
//!
//! [`crate::plan`] does the first two steps before any pass runs. `leaf` calls the pass, and [`crate::verify`] checks
//! its changes. The loop stores only the current module and the previous one, so a failed pass leaves the module
//! unchanged.

mod edit;
mod host_passes;
mod inner;
mod leaf;
mod record;
pub mod site;
mod solo;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub use edit::{build_module, edit_module};
pub use host_passes::{apply_pass_to_function, create_host_pass, filter, print_ir, printing};
use passdock_abi::SymbolId;
use passdock_crash::{Callee, Termination};
use passdock_diagnostic::suggest;
use passdock_ir::Module;
use passdock_loader::Origin;
pub use solo::forked;

use crate::boundary::Rewrites;
use crate::config::ConfigValue;
use crate::context::{ContextFrame, PassContext, PassRecord};
use crate::error::Provider;
use crate::error::{ErrorKind, PassError};
use crate::instrument::{InstrumentRef, PassCall, calls};
use crate::pass::{Pass, Sequential, check_info};
use crate::plan::{self, Plan, Step};
use crate::verify::{self, Verify};

impl dyn Pass + '_ {
    /// Runs the pass under this thread's current context. It runs at any level, and without the passes that it
    /// requires, which a [`Sequential`] runs. The result shares unchanged parts with other clones of the module.
    ///
    /// # Errors
    /// If the pass, an instrument, or the verification of the pass's changes fails.
    pub fn call(&self, module: Module) -> Result<Module, PassError> {
        self.call_in(module, &PassContext::current())
    }

    /// Runs the pass under a given context.
    ///
    /// # Errors
    /// As `call`.
    pub fn call_in(&self, module: Module, cx: &PassContext) -> Result<Module, PassError> {
        let begun = cx.begin_call();
        let result = call(self, &module, cx, !calls::in_callback());
        // The module ends with the call, with everything that only it owns.
        drop(module);
        cx.end_call(begun, result)
    }
}

impl Sequential {
    /// Runs its enabled passes under this thread's current context, with the passes that they require.
    ///
    /// # Errors
    /// If planning fails, before any pass runs. Otherwise the first failure of a pass or of an instrument.
    pub fn call(&self, module: Module) -> Result<Module, PassError> {
        (self as &dyn Pass).call(module)
    }

    /// Runs its enabled passes under a given context, with the passes that they require.
    ///
    /// # Errors
    /// See [`Sequential::call`].
    pub fn call_in(&self, module: Module, cx: &PassContext) -> Result<Module, PassError> {
        (self as &dyn Pass).call_in(module, cx)
    }

    /// Runs its passes by a plan, which [`prepare`] returned for it under the same context.
    ///
    /// # Errors
    /// For the first failure of a pass or of an instrument.
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

/// Runs a pass at any level, without the passes that it requires. Instruments are called if `watched`.
///
/// # Errors
/// If planning fails. Otherwise the first failure of a pass or of an instrument.
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
        pass.work()?;
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
    if cx.verify() == Verify::All {
        verify::all(module).map_err(|error| error.note("before any pass ran"))?;
    }
    if cx.diag_ctx().is_none() && watched {
        cx.reset_rewrite_count();
    }
    let mut run = Run {
        cx,
        watched,
        done: Done::default(),
        parents: Vec::new(),
        depth: 0,
        is_inner: false,
        foreign: Vec::new(),
    };
    if let (true, Some(plan)) = (cx.settings().resumes, plan) {
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
        Outcome::Ran(after, _) => Ok(after),
        Outcome::Vetoed(_) => Ok(module.clone()),
    }
}

/// Checks that a Sequential can run, and returns its plan. Loads the plugins for it and for the context's instruments,
/// and creates the instruments.
///
/// # Errors
/// If planning fails, or a plugin or an instrument can't be loaded.
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
    /// The values of its options, if a plan has computed them.
    options: Option<&'a ConfigValue>,
    /// The plan of the pass, if it is a Sequential.
    plan: Option<&'a Plan>,
    /// Whether instruments can't veto the pass.
    forced: bool,
}

/// The result of a pass that didn't fail.
enum Outcome {
    /// The pass ran: the module after it, and the rewrites of its rules.
    Ran(Module, Rewrites),
    /// Instruments vetoed the pass, for this reason.
    Vetoed(String),
}

/// The state of one call, from its first pass to its last.
struct Run<'c> {
    cx: &'c PassContext,
    /// Whether instruments are called.
    watched: bool,
    /// The passes that ran.
    done: Done,
    /// The names of the Sequentials and passes around the current pass, outermost first. The outermost Sequential isn't
    /// included.
    parents: Vec<String>,
    depth: u32,
    /// Whether a pass runs these passes.
    is_inner: bool,
    /// The names of the passes from plugin files that ran, without duplicates.
    foreign: Vec<String>,
}

// The run loop: a sequence of steps, each a pass between the callbacks of instruments.
impl Run<'_> {
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

    /// Runs one step of a plan, and records it.
    fn step(&mut self, step: &Step, module: &mut Module) -> Result<(), PassError> {
        check_interrupt()?;
        if self.cx.is_cancelled() {
            let error = PassError::new(ErrorKind::Cancelled, "the run was cancelled");
            return Err(site::at(error, step, module, self.cx));
        }
        let recorder = self.cx.recorder();
        let record = recorder.map(|recorder| self.record_start(recorder, step, module));
        let job = Job {
            pass: &*step.pass,
            options: Some(&step.options),
            plan: step.plan.as_ref(),
            forced: step.forced,
        };
        let result = self.pass(job, module);
        if let Some(record) = record {
            self.record_end(record, step, module, &result);
        }
        let outcome = result.map_err(|error| site::at(error, step, module, self.cx))?;
        if let Outcome::Ran(after, _) = outcome {
            self.done.remember(step);
            *module = after;
        }
        Ok(())
    }

    /// Runs one pass, from `should_run` on.
    fn pass(&mut self, job: Job<'_>, module: &Module) -> Result<Outcome, PassError> {
        let callee = Callee::pass(&job.pass.declaration().info.name, file_of(job.pass));
        let entered = callee.enter();
        let outcome = self.recorded_pass(job, module, callee);
        entered.leave();
        outcome
    }

    /// Runs one pass. A crash report names `callee`.
    fn recorded_pass(
        &mut self,
        job: Job<'_>,
        module: &Module,
        callee: Callee<'_>,
    ) -> Result<Outcome, PassError> {
        let Job { pass, plan, .. } = job;
        let (info, provider) = (&pass.declaration().info, pass.provider());
        let in_pass = |error: PassError| error.in_pass(&info.name, provider);
        let frame = ContextFrame::around(self.cx, callee);
        let call = PassCall {
            module,
            info,
            provider,
            frame: &frame,
        };
        let list = self.watched.then(|| self.cx.instrument_list());
        let list = list.as_deref().unwrap_or_default();
        if !job.forced {
            let vetoes = self.watch(list, || calls::vetoes(list, &call));
            let vetoes = vetoes.map_err(in_pass)?;
            if !vetoes.is_empty() {
                self.cx.meet_unrun(pass);
                let by = suggest::listed(vetoes);
                return Ok(Outcome::Vetoed(format!("vetoed by instrument {by}")));
            }
        }
        self.watch(list, || calls::before(list, &call))
            .map_err(in_pass)?;
        let result = match (passdock_crash::terminated(&callee), plan) {
            (Some(termination), _) => Err(self.terminated(termination)),
            (None, Some(plan)) => self.nested(&info.name, plan, module),
            (None, None) => self.leaf(job, module, callee),
        };
        match result.map_err(in_pass) {
            Ok((after, rewrites)) => {
                self.watch(list, || calls::after(list, &call, &after))
                    .map_err(in_pass)?;
                Ok(Outcome::Ran(after, rewrites))
            }
            Err(error) if list.is_empty() => Err(error),
            Err(error) => Err(self.untimed(|| calls::failed(list, &call, error))),
        }
    }

    /// Runs a pass that isn't a Sequential, and verifies its changes.
    fn leaf(
        &mut self,
        job: Job<'_>,
        module: &Module,
        callee: Callee<'_>,
    ) -> Result<(Module, Rewrites), PassError> {
        let called = leaf::call(self, job, module, callee);
        let called =
            called.and_then(|(after, rewrites)| Ok((self.verified(module, after)?, rewrites)));
        let name = &job.pass.declaration().info.name;
        if called.is_ok() && file_of(job.pass).is_some() && !self.foreign.contains(name) {
            self.foreign.push(name.clone());
        }
        called.map_err(|error| self.broken_input(job.pass, module).unwrap_or(error))
    }

    /// Verifies the module after a pass, and returns it compacted.
    fn verified(&mut self, before: &Module, mut after: Module) -> Result<Module, PassError> {
        let verify = self.cx.verify();
        if !after.is_same(before) {
            self.done.changed();
            verify::changed(before, &after, verify, || self.cx.registry().op_defs())?;
            compact(before, &mut after);
        } else if matches!(verify, Verify::All) {
            verify::all(&after)?;
        }
        Ok(after)
    }
}

impl Run<'_> {
    /// Marks the passes that the first pass requires as done. The module is the one from right before the first pass.
    fn resume(&mut self, plan: &Plan) {
        if let Some(first) = plan.children.iter().find(|child| child.skipped.is_none()) {
            for step in &first.required {
                self.done.remember(step);
            }
        }
    }

    /// Calls instruments, if there are any.
    fn watch<T: Default>(
        &self,
        list: &[InstrumentRef],
        callbacks: impl FnOnce() -> Result<T, PassError>,
    ) -> Result<T, PassError> {
        match list.is_empty() {
            true => Ok(T::default()),
            false => self.untimed(callbacks),
        }
    }

    /// Calls instruments. Their time doesn't count as the pass's.
    fn untimed<T>(&self, callbacks: impl FnOnce() -> T) -> T {
        match self.cx.recorder() {
            Some(recorder) => recorder.watching(callbacks),
            None => callbacks(),
        }
    }

    /// Runs the passes of a nested Sequential.
    fn nested(
        &mut self,
        name: &str,
        plan: &Plan,
        module: &Module,
    ) -> Result<(Module, Rewrites), PassError> {
        self.depth += 1;
        if self.depth > 1 {
            self.parents.push(name.to_owned());
        }
        let result = self.sequence(plan, module);
        if self.depth > 1 {
            self.parents.pop();
        }
        self.depth -= 1;
        Ok((result?, Rewrites::default()))
    }

    /// Returns the error of a pass that terminated an earlier process of the same run.
    fn terminated(&self, termination: &Termination) -> PassError {
        for plugin in self.cx.registry().plugins() {
            let file = plugin.origin().path().and_then(Path::to_str);
            if file.is_some_and(|file| termination.loaded.iter().any(|loaded| loaded == file)) {
                plugin.mark_used();
            }
        }
        PassError::from_termination(termination)
    }

    /// Returns an error if the input module of a failed pass is broken. Either an earlier pass broke it, or this one
    /// did before it failed.
    fn broken_input(&self, pass: &dyn Pass, module: &Module) -> Option<PassError> {
        let name = &pass.info().name;
        let mut ran = match self.cx.verify() {
            Verify::Off => return None,
            Verify::Changed => self.foreign.clone(),
            Verify::All => Vec::new(),
        };
        if file_of(pass).is_some() && !ran.contains(name) {
            ran.push(name.clone());
        }
        let mut broken = verify::broken(module, &ran)?;
        // Only this pass could have done it.
        if ran == [name.as_str()] {
            broken.pass = Some(name.clone());
            broken.set_provider(pass.provider());
        }
        Some(broken)
    }
}

/// Returns the plugin file that a pass comes from.
fn file_of(pass: &dyn Pass) -> Option<&Path> {
    match pass.provider()? {
        Provider {
            origin: Origin::File(path),
            ..
        } => Some(path),
        _ => None,
    }
}

/// The passes that ran on a module, and whether the module has changed since.
#[derive(Clone, Default)]
struct Done {
    /// The number of the module's current state. Each change increments it.
    state: u64,
    /// The passes, with their options and the number of the state after their last run.
    ran: HashMap<String, (Arc<ConfigValue>, u64)>,
}

impl Done {
    /// Records that a pass ran, with the current state of the module after it.
    fn remember(&mut self, step: &Step) {
        let name = step.pass.declaration().info.name.clone();
        self.ran.insert(name, (step.options.clone(), self.state));
    }

    /// Whether a required pass ran with the same options, and the module hasn't changed since.
    fn has(&self, step: &Step) -> bool {
        let last = self.ran.get(&step.pass.info().name);
        last.is_some_and(|(options, state)| *state == self.state && *options == step.options)
    }

    /// Records that the module changed.
    fn changed(&mut self) {
        self.state += 1;
    }
}

static INTERRUPT: OnceLock<fn() -> Option<PassError>> = OnceLock::new();

/// Sets a function that is called before each pass of a Sequential and before a pipeline's output is written. To end
/// the run, it returns an error. Only the first call of `set_interrupt` has an effect.
pub fn set_interrupt(interrupt: fn() -> Option<PassError>) {
    _ = INTERRUPT.set(interrupt);
}

/// Calls the function of [`set_interrupt`], if any.
///
/// # Errors
/// If that function returns an error.
pub fn check_interrupt() -> Result<(), PassError> {
    let interrupt = INTERRUPT.get();
    interrupt.and_then(|check| check()).map_or(Ok(()), Err)
}

/// Compacts each changed function whose records are mostly dead.
fn compact(before: &Module, after: &mut Module) {
    let changed = after.changed_since(before);
    let sparse = changed.filter(|(_, function, _)| function.needs_compaction());
    let names: Vec<SymbolId> = sparse.map(|(name, ..)| name).collect();
    for name in names {
        if let Some(function) = after.function_mut(name) {
            function.compact();
        }
    }
}
