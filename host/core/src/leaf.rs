//! Calling a pass that isn't a Sequential: on the module, or on each of its functions.
//!
//! All functions are computed from the module as it was and then stored together. Where a pass
//! declares that it may, it runs on several functions at once; functions are gathered in module
//! order, diagnostics too, and of several failures the first in that order counts, so that nothing
//! depends on the number of threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use passdock_abi::{AttrKind, OpId, SymbolId};
use passdock_ir::text::TextSource;
use passdock_ir::{Function, Module, Symbols};
use rayon::prelude::*;

use crate::boundary::{
    Failure, FunctionRunner, FunctionSlot, ModuleInput, Surroundings, run_module_pass,
};
use crate::config::ConfigValue;
use crate::context::{ConfigValues, PassContext, stack};
use crate::diagnostic::Diagnostic;
use crate::error::{ErrorKind, PassError, Provider};
use crate::interface;
use crate::pass::{FunctionWork, Pass, Work};
use crate::plugin::{FieldValue, OpDefs, PassKind};
use crate::registry::solo;
use crate::util;

/// Fewer ops in all than this aren't worth waking other threads for.
const PARALLEL_OPS: usize = 4096;

/// How many passes may run inside each other. A thread of the program has stack for them, as far as
/// their own code goes easy on it.
const MAX_NESTED: usize = 64;

/// Runs a pass's work; the module comes back the same if nothing changed. What the pass said is
/// shown when it has returned, also if it failed.
pub(crate) fn call(
    pass: &dyn Pass,
    work: Work<'_>,
    module: &Module,
    cx: &PassContext,
    watched: bool,
) -> Result<Module, PassError> {
    let name = &pass.info().name;
    check_depth(name, cx)?;
    let cx = cx.for_pass(name);
    let around = Around::new(pass, &cx, module, watched)?;
    let result = stack::with_pushed(&cx, || around.run(work, module));
    let result = around.show(result);
    let after = result.map_err(|error| error.run_by(name))?;
    around.definitions_loaded()?;
    Ok(after)
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

/// What stands around a running pass.
struct Around<'c> {
    /// With the diagnostics of this pass.
    cx: &'c PassContext,
    watched: bool,
    provider: Option<&'c Provider>,
    options: ConfigValue,
    config: ConfigValues<'c>,
    ops: Arc<OpDefs>,
    text: Option<Arc<TextSource>>,
}

/// What a pass made of one function.
type Outcome = (Result<Option<Arc<Function>>, Box<Failure>>, Vec<Diagnostic>);

impl<'c> Around<'c> {
    fn new(
        pass: &'c dyn Pass,
        cx: &'c PassContext,
        module: &Module,
        watched: bool,
    ) -> Result<Around<'c>, PassError> {
        Ok(Around {
            cx,
            watched,
            provider: pass.provider(),
            options: pass.options(cx)?,
            config: ConfigValues::new(cx),
            ops: cx.registry().op_defs(),
            text: module.text_source().cloned(),
        })
    }

    fn run(&self, work: Work<'_>, module: &Module) -> Result<Module, PassError> {
        match work {
            Work::Module(work) => {
                let (result, said) = run_module_pass(work.pass, module, self);
                let failed = self.collect(said);
                let after = result.map_err(|failure| self.failed(*failure, failed.as_deref()))?;
                if let (Some(after), false, None) = (&after, work.changes_interface, failed) {
                    interface::kept_main(module, after)?;
                }
                Ok(after.unwrap_or_else(|| module.clone()))
            }
            Work::Functions(work) => self.functions(work, module),
            Work::Host(body) => catch_unwind(AssertUnwindSafe(|| body(module, self.cx)))
                .unwrap_or_else(|payload| Err(panicked(&util::panic_text(&*payload), None))),
            Work::Sequence(_) => unreachable!("the run loop runs these itself"),
        }
    }

    fn functions(&self, work: FunctionWork<'_>, module: &Module) -> Result<Module, PassError> {
        let skipped = SkipAttrs::new(module.symbols());
        let is_meant = |slot: &FunctionSlot| {
            let function = slot.function();
            function.kind() == work.kind && !skipped.applies(function)
        };
        let (input, mut slots) = ModuleInput::with_slots(module);
        let mut changed = Vec::new();
        let mut said_error = None;
        let mut gather =
            |before: &Arc<Function>, (result, said): Outcome| -> Result<(), PassError> {
                let failed = self.collect(said);
                let in_function = |mut error: PassError| {
                    let name = || before.text(before.name()).to_owned();
                    if error.pass.is_none() {
                        error.function.get_or_insert_with(name);
                    }
                    error
                };
                let after = result
                    .map_err(|failure| in_function(self.failed(*failure, failed.as_deref())))?;
                if failed.is_some() {
                    // The pass goes on: what it says of the other functions is worth as much.
                    said_error.get_or_insert_with(|| in_function(PassError::diagnostics()));
                } else if let Some(after) = after {
                    if !work.changes_interface {
                        interface::kept(before, &after).map_err(in_function)?;
                    }
                    changed.push(after);
                }
                Ok(())
            };
        let is_worth_it = work.thread_safe && are_many(slots.iter().filter(|slot| is_meant(slot)));
        // Inside a pass that isn't thread-safe, another thread might wait for this one to leave it.
        if is_worth_it
            && !solo::is_inside()
            && let Some(pool) = self.cx.pool()
        {
            let mut meant: Vec<&mut FunctionSlot> =
                slots.iter_mut().filter(|slot| is_meant(slot)).collect();
            let outcomes = pool.install(|| self.parallel(&work, &mut meant, &input));
            let mut pairs = meant.iter().zip(outcomes);
            pairs.try_for_each(|(slot, outcome)| gather(slot.function(), outcome))?;
        } else {
            let mut runner = FunctionRunner::new(&input, self);
            for slot in slots.iter_mut().filter(|slot| is_meant(slot)) {
                let result = runner.run_in(work.pass, slot);
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
        work: &FunctionWork<'_>,
        slots: &mut [&mut FunctionSlot],
        input: &ModuleInput<'_>,
    ) -> Vec<Outcome> {
        // Small enough pieces that threads stay busy, large enough that starting one is nothing.
        let piece = (slots.len() / (rayon::current_num_threads() * 16)).max(1);
        let pieces = slots.par_chunks_mut(piece).map(|slots| {
            stack::with_pushed(self.cx, || {
                let mut runner = FunctionRunner::new(input, self);
                let mut outcomes: Vec<Outcome> = Vec::with_capacity(slots.len());
                for slot in slots {
                    let result = runner.run_in(work.pass, slot);
                    outcomes.push((result, runner.take_diagnostics()));
                }
                outcomes
            })
        });
        pieces.flatten_iter().collect()
    }

    /// Keeps what a pass said of the module or of one function; answers the first error of it.
    fn collect(&self, said: Vec<Diagnostic>) -> Option<Box<str>> {
        let mut failures = said.iter().filter(|one| one.severity.is_failure());
        let first = failures.next().map(|first| first.message.as_str().into());
        let collected = self.cx.diag_ctx()?;
        said.into_iter().for_each(|one| collected.emit(one));
        first
    }

    /// Shows what the pass said, in order. If an error was among it, the pass failed.
    fn show(&self, result: Result<Module, PassError>) -> Result<Module, PassError> {
        let Some(collected) = self.cx.diag_ctx() else {
            return result;
        };
        let mut said = collected.take();
        if said.is_empty() {
            return result;
        }
        for one in &mut said {
            one.pass = Some(collected.pass().to_owned());
            one.run_by = collected.run_by().to_vec();
            one.plugin = self.provider.map(|p| p.plugin.clone());
            one.file = self.provider.and_then(Provider::file);
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

    /// An error if the pass asked for an op whose plugin can't be loaded: what it did without the
    /// definition isn't what the user asked for.
    fn definitions_loaded(&self) -> Result<(), PassError> {
        match self.ops.failures().into_iter().next() {
            None => Ok(()),
            Some(error) => Err(error.into()),
        }
    }

    /// A pass's failure as an error of the run; `said`: the first error that it emitted.
    fn failed(&self, failure: Failure, said: Option<&str>) -> PassError {
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
}

impl Surroundings for Around<'_> {
    fn opt_level(&self) -> u32 {
        self.cx.opt_level()
    }

    fn option(&self, name: &str) -> Option<&FieldValue> {
        self.options.get(name)
    }

    fn config(&self, key: &str, field: &str) -> Result<&FieldValue, String> {
        self.config.get(key, field)
    }

    fn pass_kind(&self, name: &str) -> Option<PassKind> {
        self.cx.registry().pass_kind(name)
    }

    fn run_pass(&self, module: &Module, name: &str) -> Result<Module, PassError> {
        let pass = self.cx.registry().get_pass(name);
        let ran = pass.and_then(|pass| crate::run::call(&*pass, module, self.cx, self.watched));
        ran.map_err(|mut error| {
            // What can't be run isn't what the user asked for: the pass has failed that asks for it.
            if error.kind.exit_status() == 2 {
                error.kind = ErrorKind::Failed;
            }
            error
        })
    }

    fn op_defs(&self) -> &OpDefs {
        &self.ops
    }

    fn text_source(&self) -> Option<&TextSource> {
        self.text.as_deref()
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
    PassError::new(ErrorKind::Panicked, crate::error::capitalized(&message))
}
