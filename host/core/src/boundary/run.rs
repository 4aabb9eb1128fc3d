//! Calls of passes: of loaded plugins, static plugins and closures alike.

use std::panic::AssertUnwindSafe;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use passdock_abi::{FunctionEntry, OpId, Status, symbol};
use passdock_diagnostic::Diagnostic;
use passdock_ir::{Edit, Function, Module};
use passdock_loader::LoadedPass;
use passdock_plugin_api as sdk;
use passdock_plugin_api::__private::{Panicked, Tables, enter, install_hook};

use super::host;
use super::session::context::CallFailure;
use super::session::frame::Frame;
use super::session::lending;
use super::session::rewrites::Rewrites;
use super::session::{
    ContextSession, FunctionSession, FunctionSlot, ModuleSession, entries, lends,
};
use crate::config::ConfigValue;

/// A closure that implements a function pass or a prim function pass.
pub type FunctionClosure =
    dyn Fn(&mut sdk::Function, &sdk::PassContext) -> sdk::PassResult + Send + Sync;

/// A closure that implements a module pass.
pub type ModuleClosure =
    dyn for<'h> Fn(&mut sdk::Module<'h>, &sdk::PassContext) -> sdk::PassResult + Send + Sync;

/// The code of a function pass.
#[derive(Clone, Copy)]
pub enum FunctionCode<'p> {
    /// The code of a plugin's pass.
    Loaded(&'p LoadedPass),
    /// A closure of the embedding program.
    Closure(&'p FunctionClosure),
}

/// The code of a module pass.
#[derive(Clone, Copy)]
pub enum ModuleCode<'p> {
    /// The code of a plugin's pass.
    Loaded(&'p LoadedPass),
    /// A closure of the embedding program.
    Closure(&'p ModuleClosure),
}

/// A module in the form that passes read, created once for a pass and shared by its threads.
pub struct ModuleInput<'m> {
    module: &'m Module,
    functions: Vec<FunctionEntry>,
    /// The version of the list of functions, unique to this input.
    version: u64,
}

/// The list and the slots, cached for the next pass on the same state of a module.
type CachedInput = (Vec<FunctionEntry>, Vec<FunctionSlot>);

impl<'m> ModuleInput<'m> {
    /// Returns the input for a module, and a slot for each function. Reuses the list and the slots that an earlier pass
    /// on the same state of the module cached.
    pub fn new(module: &'m Module) -> (ModuleInput<'m>, Vec<FunctionSlot>) {
        // Greater than the version of any list in an editing session.
        static NEXT: AtomicU64 = AtomicU64::new(1 << 32);
        let cached = module.take_cached();
        let cached = cached.and_then(|cached| cached.downcast::<CachedInput>().ok());
        let (functions, slots) = match cached {
            Some(cached) => *cached,
            None => {
                let slots = module.functions().cloned().map(FunctionSlot::new);
                (entries(module), slots.collect())
            }
        };
        let version = NEXT.fetch_add(1, Ordering::Relaxed);
        let input = ModuleInput {
            module,
            functions,
            version,
        };
        (input, slots)
    }

    /// Caches the slots for the next pass on the same state of the module.
    pub fn cache(self, slots: Vec<FunctionSlot>) {
        self.module
            .cache(Box::<CachedInput>::new((self.functions, slots)));
    }
}

/// Runs a pass on the function of each slot. Calls `report` with the result for each function that the pass changed,
/// failed on or emitted diagnostics about. An error of `report` ends the run.
pub fn run_function_pass<'s, E>(
    pass: FunctionCode<'_>,
    input: &ModuleInput<'_>,
    slots: impl IntoIterator<Item = &'s mut FunctionSlot>,
    frame: &dyn Frame,
    options: &ConfigValue,
    mut report: impl FnMut(&Arc<Function>, FunctionOutcome) -> Result<(), E>,
) -> Result<(), E> {
    let _outer = lends().then(lending::put_aside);
    let context = ContextSession::new(frame, options);
    let module = ModuleSession::reading(input.module, &input.functions, input.version);
    let session = FunctionSession::vacant();
    let entered = frame.callee().map(|callee| callee.enter());
    let _current = context.enter(&session, &module);
    let (context_handle, module) = (context.handle(), module.reference());
    let result = slots.into_iter().try_for_each(|slot| {
        if let Some(entered) = &entered {
            entered.set_function(|| slot.function().text(slot.function().name()));
        }
        // SAFETY: the loop borrows the slot exclusively and calls `stop` below. A pass doesn't unwind.
        unsafe { session.start(slot) };
        let function = session.reference();
        let status = match pass {
            FunctionCode::Loaded(pass) => match pass.entry.run_function {
                // SAFETY: the function and its state come from the table of a plugin, which is never unloaded. The
                // handles live until the call returns.
                Some(run) => unsafe {
                    let (host, state) = (pass.host, pass.entry.state);
                    run(host, state, context_handle, &function, &module)
                },
                None => Status::UNSUPPORTED,
            },
            FunctionCode::Closure(run) => gated(&context, |tables| {
                // SAFETY: the handles live until the closure returns, and no other code edits.
                let mut function = unsafe { sdk::Function::from_raw(tables, function) };
                // SAFETY: as above.
                let cx = unsafe { sdk::PassContext::from_raw(tables, context_handle, &module) };
                run(&mut function, &cx)
            }),
        };
        let is_same = session.stop();
        if status != Status::OK || !is_same || !context.is_silent() {
            let (result, added_functions) = session.finish(slot);
            report(
                slot.function(),
                PassOutcome::new(&context, status, result, added_functions),
            )?;
        }
        Ok(())
    });
    if let Some(entered) = entered {
        entered.leave();
    }
    result
}

/// The result of a pass on a function or on a module.
pub struct PassOutcome<T> {
    /// The changed function or module, or `None` if it is unchanged.
    pub result: Result<Option<T>, Box<CallFailure>>,
    /// The functions that a function pass adds to the module.
    pub added_functions: Vec<Arc<Function>>,
    /// The diagnostics of the pass.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of rewrites by rule, even if the pass failed afterwards.
    pub rewrites: Rewrites,
}

impl<T> PassOutcome<T> {
    /// Creates the result of a pass that returned `status`, with the diagnostics and rewrites of the context.
    fn new(
        context: &ContextSession<'_>,
        status: Status,
        result: Edit<Option<T>>,
        added_functions: Vec<Arc<Function>>,
    ) -> PassOutcome<T> {
        PassOutcome {
            result: match (context.violation(), context.status(status), result) {
                (Some(violation), ..) => Err(Box::new(violation)),
                (_, Status::OK, Ok(changed)) => Ok(changed),
                (_, Status::OK, Err(error)) => Err(Box::new(CallFailure::new(error.message))),
                (_, status, _) => Err(Box::new(context.failure(status))),
            },
            added_functions,
            diagnostics: context.take_diagnostics(),
            rewrites: context.take_rewrites(),
        }
    }
}

/// The result of a pass on a function.
pub type FunctionOutcome = PassOutcome<Arc<Function>>;

/// Runs a module pass.
pub fn run_module_pass(
    pass: ModuleCode<'_>,
    module: &Module,
    frame: &dyn Frame,
    options: &ConfigValue,
) -> PassOutcome<Module> {
    with_module(module, frame, options, |session, context| {
        let module = session.reference();
        match pass {
            ModuleCode::Loaded(pass) => match pass.entry.run_module {
                // SAFETY: the function and its state come from the table of a plugin, which is never unloaded. The
                // handles live until the call returns.
                Some(run) => unsafe {
                    let (host, state) = (pass.host, pass.entry.state);
                    run(host, state, context.handle(), &module)
                },
                None => Status::UNSUPPORTED,
            },
            ModuleCode::Closure(run) => gated(context, |tables| {
                // SAFETY: the handles live until the closure returns, and no other code edits.
                let mut module = unsafe { sdk::Module::from_raw(tables, module) };
                // SAFETY: as above.
                let cx =
                    unsafe { sdk::PassContext::from_raw(tables, context.handle(), ptr::null()) };
                run(&mut module, &cx)
            }),
        }
    })
}

/// Edits a module as a module pass does. Returns `None` if nothing changed.
pub fn edit_module(
    module: &Module,
    frame: &dyn Frame,
    body: impl FnOnce(&mut sdk::Module<'_>) -> sdk::PassResult,
) -> Result<Option<Module>, Box<CallFailure>> {
    let outcome = with_module(module, frame, &ConfigValue::new(), |session, context| {
        gated(context, |tables| {
            // SAFETY: the handle lives until the closure returns, and no other code edits.
            body(&mut unsafe { sdk::Module::from_raw(tables, session.reference()) })
        })
    });
    outcome.result
}

fn with_module(
    module: &Module,
    frame: &dyn Frame,
    options: &ConfigValue,
    run: impl FnOnce(&ModuleSession<'_>, &ContextSession<'_>) -> Status,
) -> PassOutcome<Module> {
    let _outer = lends().then(lending::put_aside);
    let context = ContextSession::new(frame, options);
    let session = ModuleSession::editing(module);
    let status = {
        let _entered = context.enter(ptr::null(), &session);
        run(&session, &context)
    };
    let result = match status {
        Status::OK => session.finish(module),
        _ => {
            drop(session);
            Ok(None)
        }
    };
    PassOutcome::new(&context, status, result, Vec::new())
}

/// Runs a closure as the SDK runs a plugin's pass: catches panics, and reports errors.
fn gated(
    context: &ContextSession<'_>,
    body: impl FnOnce(&'static Tables) -> sdk::PassResult,
) -> Status {
    let body = AssertUnwindSafe(body);
    let run = || match body.0(tables()) {
        Ok(()) => Status::OK,
        Err(error) => {
            if !error.is_emitted() {
                let op = error.op.unwrap_or(OpId::NONE);
                let function = error.function.unwrap_or(symbol::EMPTY);
                context.keep_failure(op, function, error.message, None);
            }
            Status::FAILED
        }
    };
    enter(run, |panic: &Panicked| {
        let at = format!("{}:{}:{}", panic.file, panic.line, panic.column);
        let at = (!panic.file.is_empty()).then_some(at);
        context.keep_failure(OpId::NONE, symbol::EMPTY, panic.message.clone(), at);
    })
}

/// Returns the SDK's tables for closures. The first call installs the SDK's panic hook.
pub(in crate::boundary) fn tables() -> &'static Tables {
    install_hook();
    // SAFETY: the host's tables are valid by the plugin ABI, and `'static`.
    unsafe { Tables::of(host().get()) }
}
