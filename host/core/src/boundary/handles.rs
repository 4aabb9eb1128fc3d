//! Extra operations on handles for passes of the embedding program: access to the IR itself, and reading a function
//! outside of a pass.

use std::ops::Deref;
use std::sync::Arc;

use passdock_abi::ConstId;
use passdock_ir::{ConstantData, Edit, Function, Module};
use passdock_plugin_api as sdk;
use passdock_plugin_api::__private::FunctionHandle;

use super::run::tables;
use super::session::fixed::Fixed;
use super::session::gate::Session;
use super::session::{Access, FunctionSession, ModuleSession};

/// A snapshot of a function, in the form that passes read.
pub struct FunctionSnapshot {
    // The fields are dropped in order: the handle before the session that it reads.
    handle: FunctionHandle,
    _session: Fixed<FunctionSession>,
}

impl FunctionSnapshot {
    /// Creates a snapshot of a function.
    pub fn new(function: Arc<Function>) -> FunctionSnapshot {
        FunctionSnapshot::from_session(FunctionSession::held(function, Access::Read))
    }

    /// Creates a snapshot of a function of a module. The module determines which ops are calls, whatever pass runs.
    pub fn in_module(function: Arc<Function>, module: Module) -> FunctionSnapshot {
        FunctionSnapshot::from_session(FunctionSession::held_in(function, module))
    }

    fn from_session(session: FunctionSession) -> FunctionSnapshot {
        let session = Fixed::new(session);
        // SAFETY: the session has a stable address and outlives the handle. It allows no edits.
        let handle = unsafe { sdk::Function::from_raw(tables(), session.reference()) };
        FunctionSnapshot {
            handle,
            _session: session,
        }
    }
}

impl Deref for FunctionSnapshot {
    type Target = sdk::Function;

    fn deref(&self) -> &sdk::Function {
        &self.handle
    }
}

/// Returns the data of a constant, which may outlive the pass.
///
/// # Errors
/// If the function has no such constant, or its handle has ended.
pub fn constant_data(function: &sdk::Function, constant: ConstId) -> Edit<Arc<ConstantData>> {
    with_function(function, |function| {
        function.live_constant(constant)?;
        Ok(function.constant_data(constant).clone())
    })?
}

/// Calls `body` with the current state of a handle's function, edits included. Useful for printing it.
///
/// # Errors
/// If its handle has ended.
pub fn with_function<T>(function: &sdk::Function, body: impl FnOnce(&Function) -> T) -> Edit<T> {
    // SAFETY: every handle that a program can borrow comes from this host, and its session lives.
    let session = unsafe { FunctionSession::from_handle(function.as_raw().handle) }?;
    session.with(|state| Ok(body(state.read()?)))
}

/// Copies a function of any module into the symbols of another function's module, so that the latter can copy from it.
///
/// # Errors
/// If the handle has ended.
pub fn adopted(function: &sdk::Function, other: &Function) -> Edit<FunctionSnapshot> {
    let symbols = with_function(function, |own| own.symbols().clone())?;
    Ok(FunctionSnapshot::new(Arc::new(other.copied_to(&symbols))))
}

/// Adds a copy of a callee from any module to the module of the function that a function pass edits. It is added after
/// the pass. If the module has a function of the same name, it must be equal.
///
/// # Errors
/// If no function pass edits the function.
pub fn add_callee(function: &sdk::Function, callee: &Function) -> Edit {
    // SAFETY: as above.
    let session = unsafe { FunctionSession::from_handle(function.as_raw().handle) }?;
    session.with(|state| {
        let copy = callee.copied_to(state.read()?.symbols());
        state.add_callee(copy)
    })
}

/// Returns the current state of a module, edits included.
///
/// # Errors
/// If one of its functions is being edited, or the host panicked during an edit of it.
pub fn module_now(module: &sdk::Module<'_>) -> Edit<Module> {
    // SAFETY: as above.
    let session = unsafe { ModuleSession::from_handle(module.as_raw().handle) }?;
    session.now()
}

/// Replaces the module that a module pass edits. Handles of its functions end.
///
/// # Errors
/// If the module is read-only.
pub fn replace_module(module: &mut sdk::Module<'_>, by: Module) -> Edit {
    // SAFETY: as above.
    let session = unsafe { ModuleSession::from_handle(module.as_raw().handle) }?;
    session.replace(by)
}
