//! What a program may do with the handles that its own passes get, beyond what plugins can: take the
//! IR itself out of them, and hold a function for reading without any pass.

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

/// A function as passes read it, held as it is for as long as this lives.
pub struct FunctionSnapshot {
    // Before the session that it reads.
    handle: FunctionHandle,
    _session: Fixed<FunctionSession>,
}

impl FunctionSnapshot {
    /// The snapshot of a function.
    pub fn new(function: Arc<Function>) -> FunctionSnapshot {
        FunctionSnapshot::of(FunctionSession::held(function, Access::Read))
    }

    /// The snapshot of a function of a module: which ops are calls is that module's to know, whatever pass runs.
    pub fn in_module(function: Arc<Function>, module: Module) -> FunctionSnapshot {
        FunctionSnapshot::of(FunctionSession::held_in(function, module))
    }

    fn of(session: FunctionSession) -> FunctionSnapshot {
        let session = Fixed::new(session);
        let Some(tables) = tables() else {
            unreachable!("the host's own tables are of its own version");
        };
        // SAFETY: the session stays where it is, and longer than the handle; nobody edits.
        let handle = unsafe { sdk::Function::from_raw(tables, session.reference()) };
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

/// The data of a constant, to be held longer than the pass runs.
///
/// # Errors
/// If the function has no such constant, or its handle has ended.
pub fn constant_data(function: &sdk::Function, constant: ConstId) -> Edit<Arc<ConstantData>> {
    look_at(function, |function| {
        function.live_constant(constant)?;
        Ok(function.constant_data(constant).clone())
    })?
}

/// Calls `look` with the function behind a handle as it is now, edits included: to print it, say.
///
/// # Errors
/// If its handle has ended.
pub fn look_at<T>(function: &sdk::Function, look: impl FnOnce(&Function) -> T) -> Edit<T> {
    // SAFETY: a handle that is lent is one of this host, and its session lives.
    let session = unsafe { FunctionSession::of(function.as_raw().handle) }?;
    session.with(|state| Ok(look(state.read()?)))
}

/// A copy of a function of any module, as one of the module that another function is in: to copy from it into that one.
///
/// # Errors
/// If the handle has ended.
pub fn adopted(function: &sdk::Function, other: &Function) -> Edit<FunctionSnapshot> {
    let symbols = look_at(function, |own| own.symbols().clone())?;
    Ok(FunctionSnapshot::new(Arc::new(other.copied_to(&symbols))))
}

/// Adds a copy of a function of any module to the module of the function that a function pass edits, once the pass
/// has run: one that the function's ops call. A function of its name that the module has must be equal to it.
///
/// # Errors
/// If no function pass edits the function.
pub fn bring(function: &sdk::Function, callee: &Function) -> Edit {
    // SAFETY: as above.
    let session = unsafe { FunctionSession::of(function.as_raw().handle) }?;
    session.with(|state| {
        let copy = callee.copied_to(state.read()?.symbols());
        state.bring(copy)
    })
}

/// A module as it is now, edits included.
///
/// # Errors
/// If a function of it is in no state to be taken.
pub fn module_now(module: &sdk::Module<'_>) -> Edit<Module> {
    // SAFETY: as above.
    let session = unsafe { ModuleSession::of(module.as_raw().handle) }?;
    session.now()
}

/// Puts another module in the place of the one that a module pass edits. Handles of its functions end.
///
/// # Errors
/// If the module is there to be read only.
pub fn replace_module(module: &mut sdk::Module<'_>, by: Module) -> Edit {
    // SAFETY: as above.
    let session = unsafe { ModuleSession::of(module.as_raw().handle) }?;
    session.replace(by)
}
