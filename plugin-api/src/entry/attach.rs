//! What a plugin's table points to: the functions that the host calls.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use passdock_abi as abi;
use passdock_abi::{OpId, Status};

use super::calls::{self, Bound};
use super::table;
use crate::ir::{Function, Module};
use crate::op::{OpDef, OpFn};
use crate::pass::PassContext;
use crate::plugin::{FunctionPass, ModulePass, PluginSpec};
use crate::raw::lent;
use crate::raw::{self, RawOpCall, Tables};

/// The hosts that a plugin is attached to: an application and a module in it may both be hosts, and
/// the library is loaded once.
#[doc(hidden)]
pub struct Slot(AtomicPtr<Attached>);

impl Slot {
    /// Attached to nobody.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Slot {
        Slot(AtomicPtr::new(ptr::null_mut()))
    }
}

/// A plugin attached to a host; made once for each, lives for ever, as the library does.
struct Attached {
    host: *const abi::Host,
    table: abi::Plugin,
    /// What the parts of the table refer to. It is reached from here even if there are none.
    _tables: &'static Tables,
    /// The host to which the plugin was attached before, or null.
    before: *const Attached,
}

impl Attached {
    /// The table for a host, in a list that begins here.
    ///
    /// # Safety
    /// `first` is null or a leaked box, and so is `before` of each in the list.
    unsafe fn find(first: *const Attached, host: *const abi::Host) -> Option<&'static abi::Plugin> {
        // SAFETY: the caller's promise.
        let mut next = unsafe { first.as_ref() };
        while let Some(attached) = next {
            if attached.host == host {
                return Some(&attached.table);
            }
            // SAFETY: as above.
            next = unsafe { attached.before.as_ref() };
        }
        None
    }
}

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
    let mut first = slot.0.load(Ordering::Acquire);
    // SAFETY: the slot holds what is leaked below, and nothing else.
    if let Some(known) = unsafe { Attached::find(first, host) } {
        return known;
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
    raw::install_hook();
    let tables: &'static Tables = Box::leak(Box::new(tables));
    let table = table::of(plugin, tables);
    loop {
        let made = Box::into_raw(Box::new(Attached {
            _tables: tables,
            host,
            table,
            before: first,
        }));
        let put = slot
            .0
            .compare_exchange(first, made, Ordering::AcqRel, Ordering::Acquire);
        match put {
            // SAFETY: just leaked.
            Ok(_) => return unsafe { &(*made).table },
            Err(now) => first = now,
        }
        // Another thread was faster. If it attached the same host, ours stays unused.
        // SAFETY: the slot holds what is leaked above, and nothing else.
        if let Some(known) = unsafe { Attached::find(first, host) } {
            return known;
        }
    }
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
    let (pass, cx, function) = unsafe {
        let pass = Bound::<FunctionPass>::of(state);
        (
            pass,
            PassContext::from_raw(pass.tables, context, module),
            Function::from_raw(pass.tables, *function),
        )
    };
    let call = calls::function_pass(pass, function, &cx);
    raw::enter(pass.tables, call, |panic| {
        cx.raw().fail(&lent::panicked(panic))
    })
}

/// The host calls a module pass.
pub(super) unsafe extern "C" fn run_module(
    state: *mut c_void,
    context: *mut abi::Context,
    module: *const abi::ModuleRef,
) -> Status {
    // SAFETY: see above; the module is the pass's.
    let (pass, cx, module) = unsafe {
        let pass = Bound::<ModulePass>::of(state);
        (
            pass,
            PassContext::from_raw(pass.tables, context, ptr::null()),
            Module::from_raw(pass.tables, *module),
        )
    };
    let call = calls::module_pass(pass, module, &cx);
    raw::enter(pass.tables, call, |panic| {
        cx.raw().fail(&lent::panicked(panic))
    })
}

/// The host asks an op's definition for result types.
pub(super) unsafe extern "C" fn infer(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: see above.
    unsafe { define(state, call, function, op, |def| def.infer) }
}

/// The host asks an op's definition for results.
pub(super) unsafe extern "C" fn evaluate(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: see above.
    unsafe { define(state, call, function, op, |def| def.evaluate) }
}

/// The host asks an op's definition for its body.
pub(super) unsafe extern "C" fn decompose(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: see above.
    unsafe { define(state, call, function, op, |def| def.decompose) }
}

/// The host asks an op's definition for its body for back ends.
pub(super) unsafe extern "C" fn legalize(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: see above.
    unsafe { define(state, call, function, op, |def| def.legalize) }
}

/// The host asks an op's definition for its form in layouts that it is asked for.
pub(super) unsafe extern "C" fn layout(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: see above.
    unsafe { define(state, call, function, op, |def| def.layout) }
}

/// The host asks an op's definition for its form in the layouts that it wants.
pub(super) unsafe extern "C" fn alter_layout(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: see above.
    unsafe { define(state, call, function, op, |def| def.alter_layout) }
}

/// The host asks an op's definition whether a target takes it.
pub(super) unsafe extern "C" fn supports(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: see above.
    unsafe { define(state, call, function, op, |def| def.supports) }
}

/// # Safety
/// As above.
unsafe fn define(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
    part: fn(&OpDef) -> Option<OpFn>,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        let bound = Bound::<&OpDef>::of(state);
        let told = RawOpCall::new(bound.tables, call, op);
        let call = calls::op_part(bound, part, told, function);
        raw::enter(bound.tables, call, |panic| told.refuse(&panic.sentence()))
    }
}
