//! The call of a pass that isn't a Sequential: on the module, or on each of its functions.
//!
//! All functions are computed from the input module, and then stored together. If the pass declares that it is
//! thread-safe, it runs on several functions in parallel. Functions and diagnostics are collected in module order, and
//! the first failure in that order is returned. So nothing depends on the number of threads.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use passdock_abi::FunctionKind;
use passdock_crash::Callee;
use passdock_diagnostic::Diagnostic;
use passdock_ir::{Function, Module, OpName, text};
use rayon::prelude::*;

use super::inner::Inner;
use super::{Job, Run, solo};
use crate::boundary::{
    CallFailure, Frame, FunctionCode, FunctionOutcome, FunctionSlot, ModuleCode, ModuleInput,
    Rewrites, run_function_pass, run_module_pass,
};
use crate::config::ConfigValue;
use crate::context::{ContextFrame, PassContext, running};
use crate::error::{ErrorKind, PassError, PassFault, Provider};
use crate::pass::{Pass, Work};
use crate::{util, verify};

/// The minimum number of ops in all functions for running in parallel.
const PARALLEL_OPS: usize = 4096;

/// The maximum number of passes that run inside each other. A thread's stack has room for them, unless their own code
/// uses much of it.
const MAX_NESTED: usize = 64;

/// Runs a pass. Returns the new module, or the same one if nothing changed, and the rewrites of its rules. The pass's
/// diagnostics are shown after it has returned, even if it failed.
pub(super) fn call(
    run: &Run<'_>,
    job: Job<'_>,
    module: &Module,
    callee: Callee<'_>,
) -> Result<(Module, Rewrites), PassError> {
    let pass = job.pass;
    let own_options;
    let options = match job.options {
        Some(options) => options,
        None => {
            own_options = pass.options(run.cx.config_given())?;
            &own_options
        }
    };
    let declared = pass.declaration();
    let name = &declared.info.name;
    let _alone = (pass.provider().is_some() && !declared.thread_safe).then(solo::enter);
    let printed = run.cx.watches_input().then(|| text::print(module));
    let inner = Inner {
        outer: run,
        pass,
        input: module,
        last: Mutex::new(None),
    };
    let work = pass.work()?;
    let is_host = matches!(work, Work::Host(_));
    check_depth(name, &inner)?;
    let cx = run.cx.for_pass(name);
    let run_pass = |cx: &PassContext, module: &Module, name: &str| inner.run_pass(cx, module, name);
    let call = LeafCall {
        pass,
        options,
        frame: ContextFrame::running(&cx, module, &run_pass, callee),
    };
    let mut rewrites = Rewrites::default();
    let result = {
        let _pushed = running::pushed(&cx);
        call.run(work, module, &mut rewrites)
    };
    let shown = call.show(result).map_err(|error| error.run_by(name));
    if let (Some(before), Err(error)) = (&printed, &shown)
        && error.kind != ErrorKind::Verify
    {
        verify::same_input(before, module, name)?;
    }
    let mut after = shown?;
    if !after.is_same(module) {
        call.import_domains(module, &mut after);
    }
    // Without the definition, the result may be wrong.
    let missing = match is_host {
        // A host pass may have used definitions of the context directly, without the frame.
        true => cx.registry().missing_definition(),
        false => call.frame.missing_definition(),
    };
    if let Some(missing) = missing {
        return Err(missing.into());
    }
    if let Some(before) = printed {
        verify::same_input(&before, module, name)?;
    }
    Ok((after, rewrites))
}

/// Whether the functions have enough ops to run in parallel.
fn are_many<'s>(slots: impl Iterator<Item = &'s FunctionSlot>) -> bool {
    let (mut functions, mut ops) = (0, 0);
    for slot in slots {
        functions += 1;
        ops += slot.op_ids();
        if functions > 1 && ops >= PARALLEL_OPS {
            return true;
        }
    }
    false
}

/// Rejects a pass that is nested too deeply in passes that run each other.
fn check_depth(name: &str, run: &Inner<'_, '_>) -> Result<(), PassError> {
    let Some(outer) = run.outer.cx.diag_ctx() else {
        return Ok(());
    };
    if outer.run_by().len() + 1 < MAX_NESTED {
        return Ok(());
    }
    // A host pass starts a separate run, whose `parents` don't include the passes around it.
    let mut all: Vec<&str> = outer.run_by().iter().rev().map(String::as_str).collect();
    all.push(outer.pass());
    let around: Vec<&str> = run.outer.parents.iter().map(String::as_str).collect();
    let last = |names: &[&str]| names.iter().rposition(|outer| *outer == name);
    let chain = match (last(&around), last(&all)) {
        (Some(at), _) => &around[at..],
        (None, at) => &all[at.unwrap_or(0)..],
    };
    let message = format!(
        "passes run each other more than {MAX_NESTED} levels deep: {} -> {name}",
        chain.join(" -> ")
    );
    Err(PassError::new(ErrorKind::TooDeep, message).help("remove the recursion"))
}

/// A call of a pass.
struct LeafCall<'c> {
    pass: &'c dyn Pass,
    options: &'c ConfigValue,
    /// The frame of the call, whose context collects the diagnostics of the pass.
    frame: ContextFrame<'c>,
}

impl LeafCall<'_> {
    /// Adds the domains of new ops to the imports of their functions.
    fn import_domains(&self, module: &Module, after: &mut Module) {
        let defs = self.frame.op_defs();
        after.import_new_domains(module, |domain| {
            let domain_of = |name| OpName::parse(name).and_then(|name| name.domain);
            let of_it = defs
                .iter()
                .filter(|(name, ..)| domain_of(name).as_deref() == Some(domain));
            of_it.map(|(_, since, _)| since).max()
        });
    }

    /// Calls the pass, and adds the rewrites of its rules to `rewrites`.
    fn run(
        &self,
        work: Work<'_>,
        module: &Module,
        rewrites: &mut Rewrites,
    ) -> Result<Module, PassError> {
        match work {
            Work::Module(pass) => self.module(pass, module, rewrites),
            Work::Functions(kind, pass) => self.functions(kind, pass, module, rewrites),
            Work::Host(body) => catch_unwind(AssertUnwindSafe(|| body(module, self.options)))
                .unwrap_or_else(|payload| Err(panicked(&util::panic_text(&*payload), None))),
            Work::Sequence(_) => unreachable!("the run loop runs these itself"),
        }
    }

    fn module(
        &self,
        pass: ModuleCode<'_>,
        module: &Module,
        rewrites: &mut Rewrites,
    ) -> Result<Module, PassError> {
        let outcome = run_module_pass(pass, module, &self.frame, self.options);
        let failed = self.collect(outcome.diagnostics);
        *rewrites = outcome.rewrites;
        let after = outcome
            .result
            .map_err(|failure| failure_error(*failure, failed.as_deref()))?;
        let changes_interface = self.pass.declaration().changes_interface;
        if let (Some(after), false, None) = (&after, changes_interface, failed) {
            verify::check_module(module, after)?;
        }
        Ok(after.unwrap_or_else(|| module.clone()))
    }

    fn functions(
        &self,
        kind: FunctionKind,
        pass: FunctionCode<'_>,
        module: &Module,
        rewrites: &mut Rewrites,
    ) -> Result<Module, PassError> {
        let declared = self.pass.declaration();
        let (input, mut slots) = ModuleInput::new(module);
        let is_selected = |slot: &FunctionSlot| slot.is_for(kind);
        let (mut changed, mut added_functions) = (Vec::new(), Vec::new());
        let mut emitted_error = None;
        let mut gather =
            |before: &Arc<Function>, outcome: FunctionOutcome| -> Result<(), PassError> {
                let failed = self.collect(outcome.diagnostics);
                rewrites.add(outcome.rewrites);
                let in_function = |mut error: PassError| {
                    let name = || before.text(before.name()).to_owned();
                    if error.pass.is_none() {
                        error.function.get_or_insert_with(name);
                    }
                    error
                };
                let after = outcome
                    .result
                    .map_err(|failure| in_function(failure_error(*failure, failed.as_deref())))?;
                if failed.is_some() {
                    // The pass continues, since diagnostics about the other functions are useful, too.
                    emitted_error.get_or_insert_with(|| in_function(PassError::diagnostics()));
                } else if let Some(after) = after {
                    if !declared.changes_interface {
                        verify::check_function(before, &after).map_err(in_function)?;
                    }
                    changed.push(after);
                    added_functions.extend(outcome.added_functions);
                }
                Ok(())
            };
        let is_worth_it =
            declared.thread_safe && are_many(slots.iter().filter(|slot| is_selected(slot)));
        // The limit applies to rewrites in module order, so the functions can't run in parallel.
        let is_limited = self.frame.context().settings().rewrite_limit.is_some();
        // Inside a pass that isn't thread-safe, a worker might wait for this thread to release the lock.
        if is_worth_it
            && !is_limited
            && !solo::is_inside()
            && let Some(pool) = self.frame.context().pool()
        {
            let mut selected: Vec<&mut FunctionSlot> =
                slots.iter_mut().filter(|slot| is_selected(slot)).collect();
            let outcomes = pool.install(|| self.parallel(pass, &mut selected, &input));
            outcomes
                .into_iter()
                .try_for_each(|(function, outcome)| gather(&function, outcome))?;
        } else {
            let selected = slots.iter_mut().filter(|slot| is_selected(slot));
            run_function_pass(pass, &input, selected, &self.frame, self.options, gather)?;
        }
        if let Some(error) = emitted_error {
            return Err(error);
        }
        if changed.is_empty() {
            // The next pass gets the same module.
            input.cache(slots);
            return Ok(module.clone());
        }
        let mut after = module.clone();
        for function in changed {
            after.replace(function).map_err(|error| {
                let message =
                    format!("could not store the function that the pass created: {error}");
                PassError::new(ErrorKind::Failed, message)
            })?;
        }
        for function in added_functions {
            let added = after.insert_callee(function, module);
            added.map_err(|error| PassError::new(ErrorKind::Failed, error.message))?;
        }
        Ok(after)
    }

    /// Runs the pass on the slots with the current pool of threads. Returns the outcomes to report, in module order.
    fn parallel(
        &self,
        pass: FunctionCode<'_>,
        slots: &mut [&mut FunctionSlot],
        input: &ModuleInput<'_>,
    ) -> Vec<(Arc<Function>, FunctionOutcome)> {
        // Small enough chunks to keep all threads busy, and large enough ones to make the overhead negligible.
        let piece = (slots.len() / (rayon::current_num_threads() * 16)).max(1);
        let pieces = slots.par_chunks_mut(piece).map(|slots| {
            let _pushed = running::pushed(self.frame.context());
            let mut all = Vec::new();
            let slots = slots.iter_mut().map(|slot| &mut **slot);
            let report = |function: &Arc<Function>, outcome| {
                all.push((function.clone(), outcome));
                Ok::<(), Infallible>(())
            };
            let Ok(()) = run_function_pass(pass, input, slots, &self.frame, self.options, report);
            all
        });
        pieces.flatten_iter().collect()
    }

    /// Collects the diagnostics of a pass on the module or on one function. Returns the message of the first error.
    fn collect(&self, emitted: Vec<Diagnostic>) -> Option<Box<str>> {
        let mut failures = emitted.iter().filter(|one| one.severity.is_failure());
        let first = failures.next().map(|first| first.message.as_str().into());
        let collected = self.frame.context().diag_ctx()?;
        emitted.into_iter().for_each(|one| collected.emit(one));
        first
    }

    /// Shows the diagnostics of the pass, in order. The pass fails if an error is among them.
    fn show(&self, result: Result<Module, PassError>) -> Result<Module, PassError> {
        let Some(collected) = self.frame.context().diag_ctx() else {
            return result;
        };
        let mut emitted = collected.take();
        if emitted.is_empty() {
            return result;
        }
        for one in &mut emitted {
            one.pass = Some(collected.pass().to_owned());
            one.run_by = collected.run_by().to_vec();
            one.plugin = self.pass.provider().map(|p| p.plugin.clone());
            one.file = self.pass.provider().and_then(Provider::file);
        }
        let failed = emitted.iter().any(|one| one.severity.is_failure());
        let shown = catch_unwind(AssertUnwindSafe(|| collected.renderer()(&emitted)));
        let result = match (result, failed) {
            (Ok(_), true) => Err(PassError::diagnostics()),
            (result, _) => result,
        };
        match shown {
            Ok(()) => result,
            Err(payload) => {
                let panic = util::panic_text(&*payload);
                let note = format!("the renderer of diagnostics panicked: {panic}");
                result.map_err(|error| error.note(note))
            }
        }
    }
}

/// Converts a pass's failure to an error of the run. `emitted` is the message of the first error that it emitted.
pub(super) fn failure_error(failure: CallFailure, emitted: Option<&str>) -> PassError {
    if let Some(first) = emitted
        && !failure.panicked
        && (failure.silent || failure.message == first)
    {
        return PassError::diagnostics();
    }
    let fault = failure.fault();
    let nested = match failure.nested {
        // The pass only returned the message of the inner error.
        Some((error, message))
            if fault == Some(PassFault::Unexplained) || message == failure.message =>
        {
            return error;
        }
        nested => nested.map(|(error, _)| error),
    };
    let mut error = match (failure.panicked, failure.is_config) {
        (true, _) => panicked(&failure.message, failure.panic_at.as_deref()),
        (_, true) => PassError::new(ErrorKind::Config, failure.message),
        _ => PassError::new(ErrorKind::Failed, failure.message),
    };
    error.point_at(failure.at, "");
    error.definition = failure.definition;
    match nested {
        Some(nested) => error.source = Some(Arc::new(nested)),
        None => error.fault = fault,
    }
    error
}

fn panicked(text: &str, at: Option<&str>) -> PassError {
    let message = match at {
        Some(at) => format!("the pass panicked at {at}: {text}"),
        None => format!("the pass panicked: {text}"),
    };
    PassError::new(ErrorKind::Panicked, message)
}
