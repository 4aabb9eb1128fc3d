//! Calling passes: the host's own way in, for loaded plugins, static ones and closures alike.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use passdock_abi::{OpId, Status, symbol};
use passdock_diagnostic::Diagnostic;
use passdock_ir::{Function, Module};
use passdock_loader::LoadedPass;
use passdock_plugin_api as sdk;
use passdock_plugin_api::__private::{Panicked, PluginSpec, Slot, Tables, attach, enter};

use super::context::{ContextSession, Failure};
use super::frame::Frame;
use super::host;
use super::modules::{ModuleInput, ModuleSession};
use super::session::{FunctionSession, FunctionSlot};
use crate::config::ConfigValue;

/// A closure that is a function pass, or a prim-function pass.
pub type FunctionClosure =
    dyn Fn(&mut sdk::Function, &sdk::PassContext) -> sdk::PassResult + Send + Sync;

/// A closure that is a module pass.
pub type ModuleClosure =
    dyn for<'h> Fn(&mut sdk::Module<'h>, &sdk::PassContext) -> sdk::PassResult + Send + Sync;

/// The code of a pass on one function.
#[derive(Clone, Copy)]
pub enum FunctionCode<'p> {
    /// Of a plugin.
    Loaded(&'p LoadedPass),
    /// The embedder's own.
    Closure(&'p FunctionClosure),
}

/// The code of a pass on the module.
#[derive(Clone, Copy)]
pub enum ModuleCode<'p> {
    /// Of a plugin.
    Loaded(&'p LoadedPass),
    /// The embedder's own.
    Closure(&'p ModuleClosure),
}

/// Runs function passes of one module on one thread. Each thread makes its own from the shared
/// [`ModuleInput`].
pub struct FunctionRunner<'a> {
    context: ContextSession<'a>,
    module: ModuleSession<'a>,
    function: FunctionSession,
}

impl<'a> FunctionRunner<'a> {
    /// Ready to run.
    pub fn new(
        input: &'a ModuleInput<'_>,
        frame: &'a dyn Frame,
        options: &'a ConfigValue,
    ) -> FunctionRunner<'a> {
        FunctionRunner {
            context: ContextSession::new(frame, options),
            module: ModuleSession::read(input),
            function: FunctionSession::vacant(),
        }
    }

    /// Runs a pass on a function of the module; `None` if it changed nothing.
    pub fn run(
        &mut self,
        pass: FunctionCode<'_>,
        function: &Arc<Function>,
    ) -> Result<Option<Arc<Function>>, Box<Failure>> {
        self.run_in(pass, &mut FunctionSlot::new(function.clone()))
    }

    /// Runs a pass on the function of a slot; `None` if it changed nothing.
    #[inline]
    pub fn run_in(
        &mut self,
        pass: FunctionCode<'_>,
        slot: &mut FunctionSlot,
    ) -> Result<Option<Arc<Function>>, Box<Failure>> {
        // SAFETY: the slot is this call's alone, and `finish` stands below; a pass doesn't unwind,
        // and a session that was left in the middle is started anew or dropped.
        unsafe { self.function.start(slot) };
        let status = {
            let _entered = self.context.enter(&self.function, &self.module);
            self.call(pass)
        };
        let own = self.function.finish(slot);
        match (status, own) {
            (Status::OK, Ok(None)) => Ok(None),
            (Status::OK, Ok(Some(own))) => Ok(Some(Arc::new(*own))),
            (Status::OK, Err(error)) => Err(Box::new(Failure {
                message: error.message,
                ..Failure::default()
            })),
            (status, _) => Err(Box::new(self.context.failure(status))),
        }
    }

    /// Whether the passes have said nothing at all.
    #[inline]
    pub fn is_silent(&self) -> bool {
        self.context.is_silent()
    }

    /// What the passes said since this was last asked.
    pub fn take_diagnostics(&self) -> Vec<Diagnostic> {
        self.context.take_diagnostics()
    }

    #[inline]
    fn call(&self, pass: FunctionCode<'_>) -> Status {
        let function = self.function.reference();
        let module = self.module.reference();
        match pass {
            FunctionCode::Loaded(pass) => match pass.entry.run_function {
                // SAFETY: the function and its state come from the table of a plugin that stays
                // loaded; the handles live until it returns.
                Some(run) => unsafe {
                    run(pass.entry.state, self.context.handle(), &function, &module)
                },
                None => Status::UNSUPPORTED,
            },
            FunctionCode::Closure(run) => gated(&self.context, |tables| {
                // SAFETY: the handles live until the closure returns, and nobody else edits.
                let mut function = unsafe { sdk::Function::from_raw(tables, function) };
                // SAFETY: as above.
                let cx = unsafe {
                    sdk::PassContext::from_raw(tables, self.context.handle(), Some(module))
                };
                run(&mut function, &cx)
            }),
        }
    }
}

/// Runs a module pass; `None` if it changed nothing. The diagnostics come back either way.
pub fn run_module_pass(
    pass: ModuleCode<'_>,
    module: &Module,
    frame: &dyn Frame,
    options: &ConfigValue,
) -> (Result<Option<Module>, Box<Failure>>, Vec<Diagnostic>) {
    with_module(module, frame, options, |session, context| {
        call_module(pass, session, context)
    })
}

/// Edits a module as a module pass does; `None` if nothing changed.
pub fn edit_module(
    module: &Module,
    frame: &dyn Frame,
    body: impl FnOnce(&mut sdk::Module<'_>) -> sdk::PassResult,
) -> Result<Option<Module>, Box<Failure>> {
    let (result, _) = with_module(module, frame, &ConfigValue::new(), |session, context| {
        gated(context, |tables| {
            // SAFETY: the handle lives until the closure returns, and nobody else edits.
            body(&mut unsafe { sdk::Module::from_raw(tables, session.reference()) })
        })
    });
    result
}

fn with_module(
    module: &Module,
    frame: &dyn Frame,
    options: &ConfigValue,
    run: impl FnOnce(&ModuleSession<'_>, &ContextSession<'_>) -> Status,
) -> (Result<Option<Module>, Box<Failure>>, Vec<Diagnostic>) {
    let context = ContextSession::new(frame, options);
    let session = ModuleSession::edit(module);
    let status = {
        let _entered = context.enter(std::ptr::null(), &session);
        run(&session, &context)
    };
    let result = match status {
        Status::OK => session.finish(module).map_err(|error| {
            Box::new(Failure {
                message: error.message,
                ..Failure::default()
            })
        }),
        status => Err(Box::new(context.failure(status))),
    };
    (result, context.take_diagnostics())
}

fn call_module(
    pass: ModuleCode<'_>,
    session: &ModuleSession<'_>,
    context: &ContextSession<'_>,
) -> Status {
    let module = session.reference();
    match pass {
        ModuleCode::Loaded(pass) => match pass.entry.run_module {
            // SAFETY: the function and its state come from the table of a plugin that stays loaded;
            // the handles live until it returns.
            Some(run) => unsafe { run(pass.entry.state, context.handle(), &module) },
            None => Status::UNSUPPORTED,
        },
        ModuleCode::Closure(run) => gated(context, |tables| {
            // SAFETY: the handles live until the closure returns, and nobody else edits.
            let mut module = unsafe { sdk::Module::from_raw(tables, module) };
            // SAFETY: as above.
            let cx = unsafe { sdk::PassContext::from_raw(tables, context.handle(), None) };
            run(&mut module, &cx)
        }),
    }
}

/// Runs a closure as a plugin's shim runs a pass: its panic is kept, its error told.
fn gated(
    context: &ContextSession<'_>,
    body: impl FnOnce(&'static Tables) -> sdk::PassResult,
) -> Status {
    let Some(tables) = tables() else {
        return Status::UNSUPPORTED;
    };
    let body = AssertUnwindSafe(body);
    let run = || match body.0(tables) {
        Ok(()) => Status::OK,
        Err(error) => {
            if !error.is_emitted() {
                let op = error.op.unwrap_or(OpId::NONE);
                let function = error.function.unwrap_or(symbol::EMPTY);
                context.fail(op, function, error.message, None);
            }
            Status::FAILED
        }
    };
    enter(tables, run, |panic: &Panicked| {
        let at = format!("{}:{}:{}", panic.file, panic.line, panic.column);
        let at = (!panic.file.is_empty()).then_some(at);
        context.fail(OpId::NONE, symbol::EMPTY, panic.message.clone(), at);
    })
}

/// The SDK's tables for closures, and its panic hook.
fn tables() -> Option<&'static Tables> {
    static TABLES: OnceLock<Option<Tables>> = OnceLock::new();
    static HOST: Slot = Slot::new();
    static NOTHING: PluginSpec = PluginSpec::new("", true);
    let tables = TABLES.get_or_init(|| {
        // SAFETY: the host's tables are as the contract says and live for good.
        unsafe {
            attach(&HOST, &NOTHING, host().get());
            Tables::new(host().get())
        }
    });
    tables.as_ref()
}
