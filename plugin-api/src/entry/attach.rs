//! Attaching a plugin to a host, and the C functions of the plugin's table.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use passdock_abi as abi;
use passdock_abi::{OpId, Status};

use super::calls::{self, Bound};
use super::table;
use crate::ffi::{self, describe, Tables};
use crate::ir::{Function, Module};
use crate::op::{OpCall, OpDef};
use crate::pass::PassContext;
use crate::plugin::{FunctionPass, ModulePass, PluginSpec};

/// The hosts that a plugin is attached to. An application and a module in it may both be hosts, and the library is
/// loaded once.
#[doc(hidden)]
pub struct Slot(Mutex<Vec<Attached>>);

impl Slot {
    /// Creates a slot without hosts.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Slot {
        Slot(Mutex::new(Vec::new()))
    }
}

/// A host that the plugin is attached to. It is never freed, because the library is never unloaded.
struct Attached {
    host: *const abi::Host,
    table: &'static abi::Plugin,
    /// The tables that the parts of the plugin refer to. This reference keeps them reachable even if there are no
    /// parts.
    _tables: &'static Tables,
}

// SAFETY: the host's address is only compared.
unsafe impl Send for Attached {}

/// Returns the plugin's table for a host, created at the first call. Returns null for an incompatible host, with the
/// reason in `attach`.
///
/// # Safety
/// `host` conforms to the ABI and lives for the rest of the process; `attach` is valid until the function returns.
#[doc(hidden)]
pub unsafe fn attach(
    slot: &'static Slot,
    plugin: &'static PluginSpec,
    host: *const abi::Host,
    attach: *mut abi::Attach,
) -> *const abi::Plugin {
    let mut attached = slot.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(own) = attached.iter().find(|attached| attached.host == host) {
        return own.table;
    }
    // SAFETY: the caller guarantees a valid `host`.
    let tables = match unsafe { Tables::new(host) } {
        Ok(tables) => tables,
        Err(reason) => {
            let reason: &'static str = Box::leak(reason.into_boxed_str());
            // SAFETY: the caller guarantees a valid `attach`; all hosts have this field.
            unsafe { ptr::addr_of_mut!((*attach).reason).write(abi::Str::new(reason)) };
            return ptr::null();
        }
    };
    ffi::install_hook();
    let tables: &'static Tables = Box::leak(Box::new(tables));
    let table: &'static abi::Plugin = Box::leak(Box::new(table::new(plugin, tables)));
    attached.push(Attached {
        host,
        table,
        _tables: tables,
    });
    table
}

/// Runs code of a pass or instrument inside the gate. A panic is reported as its failure.
#[inline]
pub(super) fn enter(cx: &PassContext, body: impl FnOnce() -> Status) -> Status {
    ffi::enter(cx.tables, body, |panic| {
        cx.raw_fail(&describe::panicked(panic))
    })
}

// The functions of the entries. SAFETY (all): by the rules of the ABI, `state` is the entry's state, and the handles
// live until the function returns.

/// Runs a function or prim-function pass.
pub(super) unsafe extern "C" fn run_function(
    state: *mut c_void,
    context: *mut abi::Context,
    function: *const abi::FunctionRef,
    module: *const abi::ModuleRef,
) -> Status {
    // SAFETY: see above; only this pass has the function.
    let (pass, cx, function) = unsafe {
        let pass = Bound::<FunctionPass>::from_state(state);
        (
            pass,
            PassContext::from_raw(pass.tables, context, module),
            Function::from_raw(pass.tables, *function),
        )
    };
    enter(&cx, calls::function_pass(pass, function, &cx))
}

/// Runs a module pass.
pub(super) unsafe extern "C" fn run_module(
    state: *mut c_void,
    context: *mut abi::Context,
    module: *const abi::ModuleRef,
) -> Status {
    // SAFETY: see above; only this pass has the module.
    let (pass, cx, module) = unsafe {
        let pass = Bound::<ModulePass>::from_state(state);
        (
            pass,
            PassContext::from_raw(pass.tables, context, ptr::null()),
            Module::from_raw(pass.tables, *module),
        )
    };
    enter(&cx, calls::module_pass(pass, module, &cx))
}

/// Calls the function of an op's definition with the index `FUNCTION` in [`OpDef::functions`].
pub(super) unsafe extern "C" fn run_op<const FUNCTION: usize>(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: see above.
    let (bound, call) = unsafe {
        let bound = Bound::<&OpDef>::from_state(state);
        (bound, OpCall::from_raw(bound.tables, call, *function, op))
    };
    let body = || match bound.part.functions()[FUNCTION].map(|run| run(&call)) {
        Some(Ok(())) => Status::OK,
        Some(Err(rejection)) => {
            call.raw_reject(&rejection.reason);
            Status::REJECTED
        }
        None => Status::UNSUPPORTED,
    };
    ffi::enter(bound.tables, body, |panic| {
        call.raw_reject(&panic.to_message())
    })
}
