//! Calling a pass that isn't a Sequential: on the module, or on each of its functions.
//!
//! All functions are computed from the module as it was and then stored together. Where a pass
//! declares that it may, it runs on several functions at once; functions are gathered in module
//! order, diagnostics too, and of several failures the first in that order counts, so that nothing
//! depends on the number of threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use passdock_abi::{AttrKind, FunctionKind, OpId, SymbolId};
use passdock_diagnostic::Diagnostic;
use passdock_ir::{Function, Module, Symbols};
use rayon::prelude::*;

use super::solo;
use crate::boundary::{
    Failure, Frame, FunctionCode, FunctionRunner, FunctionSlot, ModuleCode, ModuleInput,
    run_module_pass,
};
use crate::config::ConfigValue;
use crate::context::{ContextFrame, PassContext, stack};
use crate::error::{ErrorKind, PassError, Provider, capitalized};
use crate::pass::{Pass, Work};
use crate::{util, verify};

/// Fewer ops in all than this aren't worth waking other threads for.
const PARALLEL_OPS: usize = 4096;

/// How many passes may run inside each other. A thread of the program has stack for them, as far as
/// their own code goes easy on it.
const MAX_NESTED: usize = 64;

/// Runs a pass's work; the module comes back the same if nothing changed. What the pass said is
/// shown when it has returned, also if it failed.
pub(super) fn call(
    pass: &dyn Pass,
    options: &ConfigValue,
    module: &Module,
    cx: &PassContext,
    watched: bool,
) -> Result<Module, PassError> {
    let work = pass.work()?;
    let name = &pass.info().name;
    check_depth(name, cx)?;
    let cx = cx.for_pass(name);
    let call = LeafCall {
        pass,
        options,
        frame: ContextFrame::running(&cx, module, super::run_registered, watched),
    };
    let result = {
        let _pushed = stack::pushed(&cx);
        call.run(work, module)
    };
    let after = call.show(result).map_err(|error| error.run_by(name))?;
    // What it did without the definition isn't what the user asked for.
    match call.frame.missing_definition() {
        None => Ok(after),
        Some(error) => Err(error.into()),
    }
}

/// Whether functions are worth more than one thread.
fn are_many<'s>(slots: impl Iterator<Item = &'s FunctionSlot>) -> bool {
    let (mut functions, mut ops) = (0, 0);
    for slot in slots {
        functions += 1;
        ops += slot.function().op_ids();
        if functions > 1 && ops >= PARALLEL_OPS {
            return true;
        }
    }
    false
}

/// Refuses a pass that is run by one that is run by one, and so on for ever.
fn check_depth(name: &str, cx: &PassContext) -> Result<(), PassError> {
    let around = cx.diag_ctx().map_or(0, |outer| outer.run_by().len() + 1);
    if around < MAX_NESTED {
        return Ok(());
    }
    let message = format!("More than {MAX_NESTED} passes run each other, down to `{name}`.");
    Err(PassError::new(ErrorKind::TooDeep, message)
        .help("A pass that runs itself, or one that runs it, has to come to an end."))
}

/// One call of a pass.
struct LeafCall<'c> {
    pass: &'c dyn Pass,
    options: &'c ConfigValue,
    /// With the diagnostics of this pass.
    frame: ContextFrame<'c>,
}

/// What a pass made of one function.
type Made = (Result<Option<Arc<Function>>, Box<Failure>>, Vec<Diagnostic>);

impl LeafCall<'_> {
    fn run(&self, work: Work<'_>, module: &Module) -> Result<Module, PassError> {
        match work {
            Work::Module(pass) => self.module(pass, module),
            Work::Functions(kind, pass) => self.functions(kind, pass, module),
            Work::Host(body) => catch_unwind(AssertUnwindSafe(|| body(module)))
                .unwrap_or_else(|payload| Err(panicked(&util::panic_text(&*payload), None))),
            Work::Sequence(_) => unreachable!("the run loop runs these itself"),
        }
    }

    fn module(&self, pass: ModuleCode<'_>, module: &Module) -> Result<Module, PassError> {
        let (result, said) = run_module_pass(pass, module, &self.frame, self.options);
        let failed = self.collect(said);
        let after = result.map_err(|failure| failure_error(*failure, failed.as_deref()))?;
        let changes_interface = self.pass.declaration().changes_interface;
        if let (Some(after), false, None) = (&after, changes_interface, failed) {
            verify::kept_main(module, after)?;
        }
        Ok(after.unwrap_or_else(|| module.clone()))
    }

    fn functions(
        &self,
        kind: FunctionKind,
        pass: FunctionCode<'_>,
        module: &Module,
    ) -> Result<Module, PassError> {
        let declared = self.pass.declaration();
        let skipped = SkipAttrs::new(module.symbols());
        let is_meant = |slot: &FunctionSlot| {
            let function = slot.function();
            function.kind() == kind && !skipped.applies(function)
        };
        let (input, mut slots) = ModuleInput::with_slots(module);
        let mut changed = Vec::new();
        let mut said_error = None;
        let mut gather = |before: &Arc<Function>, (result, said): Made| -> Result<(), PassError> {
            let failed = self.collect(said);
            let in_function = |mut error: PassError| {
                let name = || before.text(before.name()).to_owned();
                if error.pass.is_none() {
                    error.function.get_or_insert_with(name);
                }
                error
            };
            let after = result
                .map_err(|failure| in_function(failure_error(*failure, failed.as_deref())))?;
            if failed.is_some() {
                // The pass goes on: what it says of the other functions is worth as much.
                said_error.get_or_insert_with(|| in_function(PassError::diagnostics()));
            } else if let Some(after) = after {
                if !declared.changes_interface {
                    verify::kept(before, &after).map_err(in_function)?;
                }
                changed.push(after);
            }
            Ok(())
        };
        let is_worth_it =
            declared.thread_safe && are_many(slots.iter().filter(|slot| is_meant(slot)));
        // Inside a pass that isn't thread-safe, another thread might wait for this one to leave it.
        if is_worth_it
            && !solo::is_inside()
            && let Some(pool) = self.frame.context().pool()
        {
            let mut meant: Vec<&mut FunctionSlot> =
                slots.iter_mut().filter(|slot| is_meant(slot)).collect();
            let outcomes = pool.install(|| self.parallel(pass, &mut meant, &input));
            let mut pairs = meant.iter().zip(outcomes);
            pairs.try_for_each(|(slot, outcome)| gather(slot.function(), outcome))?;
        } else {
            let mut runner = FunctionRunner::new(&input, &self.frame, self.options);
            for slot in slots.iter_mut().filter(|slot| is_meant(slot)) {
                let result = runner.run_in(pass, slot);
                // What most functions answer to most passes.
                if matches!(result, Ok(None)) && runner.is_silent() {
                    continue;
                }
                gather(slot.function(), (result, runner.take_diagnostics()))?;
            }
        }
        if let Some(error) = said_error {
            return Err(error);
        }
        if changed.is_empty() {
            // The next pass finds the module as this one did.
            input.keep(slots);
            return Ok(module.clone());
        }
        let mut after = module.clone();
        for function in changed {
            after.replace(function).map_err(|error| {
                let message = format!("What the pass made can't be stored: {error}");
                PassError::new(ErrorKind::Failed, message)
            })?;
        }
        Ok(after)
    }

    /// Each function's outcome, in order, worked out by the threads of the pool that this is called in.
    fn parallel(
        &self,
        pass: FunctionCode<'_>,
        slots: &mut [&mut FunctionSlot],
        input: &ModuleInput<'_>,
    ) -> Vec<Made> {
        // Small enough pieces that threads stay busy, large enough that starting one is nothing.
        let piece = (slots.len() / (rayon::current_num_threads() * 16)).max(1);
        let pieces = slots.par_chunks_mut(piece).map(|slots| {
            let _pushed = stack::pushed(self.frame.context());
            let mut runner = FunctionRunner::new(input, &self.frame, self.options);
            let mut outcomes: Vec<Made> = Vec::with_capacity(slots.len());
            for slot in slots {
                let result = runner.run_in(pass, slot);
                outcomes.push((result, runner.take_diagnostics()));
            }
            outcomes
        });
        pieces.flatten_iter().collect()
    }

    /// Keeps what a pass said of the module or of one function; answers the first error of it.
    fn collect(&self, said: Vec<Diagnostic>) -> Option<Box<str>> {
        let mut failures = said.iter().filter(|one| one.severity.is_failure());
        let first = failures.next().map(|first| first.message.as_str().into());
        let collected = self.frame.context().diag_ctx()?;
        said.into_iter().for_each(|one| collected.emit(one));
        first
    }

    /// Shows what the pass said, in order. If an error was among it, the pass failed.
    fn show(&self, result: Result<Module, PassError>) -> Result<Module, PassError> {
        let Some(collected) = self.frame.context().diag_ctx() else {
            return result;
        };
        let mut said = collected.take();
        if said.is_empty() {
            return result;
        }
        for one in &mut said {
            one.pass = Some(collected.pass().to_owned());
            one.run_by = collected.run_by().to_vec();
            one.plugin = self.pass.provider().map(|p| p.plugin.clone());
            one.file = self.pass.provider().and_then(Provider::file);
        }
        let failed = said.iter().any(|one| one.severity.is_failure());
        let shown = catch_unwind(AssertUnwindSafe(|| collected.renderer()(&said)));
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

/// A pass's failure as an error of the run; `said`: the first error that it emitted.
pub(super) fn failure_error(failure: Failure, said: Option<&str>) -> PassError {
    if let Some(first) = said
        && !failure.panicked
        && (failure.silent || failure.message == first)
    {
        return PassError::diagnostics();
    }
    let nested = match failure.nested {
        // It only handed on what it was told.
        Some((error, told)) if told == failure.message => return error,
        Some((error, _)) => Some(error),
        None => None,
    };
    let mut error = match failure.panicked {
        true => panicked(&failure.message, failure.panic_at.as_deref()),
        false => PassError::new(ErrorKind::Failed, failure.message),
    };
    error.function = failure.function;
    error.op = failure.op;
    error.location = failure.location;
    error.snippet = failure.snippet.map(Box::new);
    error.labels = failure.labels;
    match nested {
        Some(nested) => error.caused_by(Arc::new(nested)),
        None => error,
    }
}

/// The attributes that keep function passes out of a function.
struct SkipAttrs([Option<SymbolId>; 3]);

impl SkipAttrs {
    fn new(symbols: &Symbols) -> SkipAttrs {
        SkipAttrs(["SkipOptimization", "Compiler", "Extern"].map(|name| symbols.find(name)))
    }

    /// Whether one is set, and not to 0.
    fn applies(&self, function: &Function) -> bool {
        let names = self.0.iter().flatten();
        let mut set = names.filter_map(|&name| function.attr(OpId::NONE, name));
        set.any(|attr| attr.kind != AttrKind::INT || attr.bits != 0)
    }
}

fn panicked(text: &str, at: Option<&str>) -> PassError {
    let message = match at {
        Some(at) => format!("The pass panicked at {at}: {text}"),
        None => format!("The pass panicked: {text}"),
    };
    PassError::new(ErrorKind::Panicked, capitalized(&message))
}
