//! What a plugin's table points to: the functions that the host calls.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use passdock_abi as abi;
use passdock_abi::{OpId, Status};

use super::bound::{enter, Bound};
use super::table;
use crate::ffi::{self, Tables};
use crate::ir::{Function, Module};
use crate::op::{OpCall, OpDef};
use crate::pass::PassContext;
use crate::plugin::{FunctionPass, ModulePass, PluginSpec};

/// The hosts that a plugin is attached to: an application and a module in it may both be hosts, and
/// the library is loaded once.
#[doc(hidden)]
pub struct Slot(Mutex<Vec<Attached>>);

impl Slot {
    /// Attached to nobody.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Slot {
        Slot(Mutex::new(Vec::new()))
    }
}

/// A plugin attached to a host; made once for each, lives for ever, as the library does.
struct Attached {
    host: *const abi::Host,
    table: &'static abi::Plugin,
    /// What the parts of the table refer to. It is reached from here even if there are none.
    _tables: &'static Tables,
}

// SAFETY: the host's address is only compared.
unsafe impl Send for Attached {}

/// Answers the plugin's table for a host, made at its first call; null for a host it doesn't fit, with
/// the reason in `told`.
///
/// # Safety
/// `host` is as the contract says and lives for ever; `told` is until the function returns.
#[doc(hidden)]
pub unsafe fn attach(
    slot: &'static Slot,
    plugin: &'static PluginSpec,
    host: *const abi::Host,
    told: *mut abi::Attach,
) -> *const abi::Plugin {
    let mut attached = slot.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = attached.iter().find(|known| known.host == host) {
        return known.table;
    }
    // SAFETY: the caller's promise.
    let tables = match unsafe { Tables::new(host) } {
        Ok(tables) => tables,
        Err(reason) => {
            let reason: &'static str = Box::leak(reason.into_boxed_str());
            // SAFETY: the caller's promise; all hosts have this field.
            unsafe { ptr::addr_of_mut!((*told).reason).write(abi::Str::new(reason)) };
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

// The functions of the entries. SAFETY (all): the contract. `state` is what the entry holds, and the
// handles live until the function returns.

/// The host calls a function or prim-function pass.
pub(super) unsafe extern "C" fn run_function(
    state: *mut c_void,
    context: *mut abi::Context,
    function: *const abi::FunctionRef,
    module: *const abi::ModuleRef,
) -> Status {
    // SAFETY: see above; the function is the pass's.
    let (pass, cx, mut function) = unsafe {
        let pass = Bound::<FunctionPass>::from_state(state);
        (
            pass,
            PassContext::from_raw(pass.tables, context, module),
            Function::from_raw(pass.tables, *function),
        )
    };
    enter(&cx, || (pass.part)(&mut function, &cx))
}

/// The host calls a module pass.
pub(super) unsafe extern "C" fn run_module(
    state: *mut c_void,
    context: *mut abi::Context,
    module: *const abi::ModuleRef,
) -> Status {
    // SAFETY: see above; the module is the pass's.
    let (pass, cx, mut module) = unsafe {
        let pass = Bound::<ModulePass>::from_state(state);
        (
            pass,
            PassContext::from_raw(pass.tables, context, ptr::null()),
            Module::from_raw(pass.tables, *module),
        )
    };
    enter(&cx, || (pass.part)(&mut module, &cx))
}

/// The host asks a function of an op's definition: that of a number in [`OpDef::functions`].
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
        Some(Err(refusal)) => {
            call.raw_refuse(&refusal.reason);
            Status::REFUSED
        }
        None => Status::UNSUPPORTED,
    };
    ffi::enter(bound.tables, body, |panic| {
        call.raw_refuse(&panic.sentence())
    })
}
