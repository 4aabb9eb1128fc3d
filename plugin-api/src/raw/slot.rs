//! What a plugin's table points to: the functions that the host calls.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

use passdock_abi as abi;
use passdock_abi::{OpId, Status};

use super::{instrument, RawContext, RawOpCall, Tables};
use crate::attr_def::AttrDef;
use crate::context::PassContext;
use crate::error::PassError;
use crate::function::Function;
use crate::gate;
use crate::module::Module;
use crate::op_def::{OpCall, OpDef, OpFn};
use crate::spec::{PassRun, PassSpec, PluginSpec};

/// Where a plugin keeps which hosts it is attached to: an application and a module in it may both
/// be hosts, and the library is loaded once.
#[doc(hidden)]
pub struct Slot(AtomicPtr<Attached>);

impl Slot {
    /// Attached to nobody.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Slot {
        Slot(AtomicPtr::new(std::ptr::null_mut()))
    }
}

/// A plugin attached to a host; made once for each, lives for ever, as the library does.
struct Attached {
    host: *const abi::Host,
    table: abi::Plugin,
    /// To which host the plugin was attached before, or null.
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

/// A pass and the host that calls it.
pub(crate) struct BoundPass {
    run: PassRun,
    tables: &'static Tables,
}

/// An op definition and the host that calls it.
pub(crate) struct BoundOp {
    def: &'static OpDef,
    tables: &'static Tables,
}

/// Answers the plugin's table for a host, made at its first call; null for a host it doesn't fit.
///
/// # Safety
/// `host` is as the contract says and lives for ever.
#[doc(hidden)]
pub unsafe fn attach(
    slot: &'static Slot,
    plugin: &'static PluginSpec,
    host: *const abi::Host,
) -> *const abi::Plugin {
    let mut first = slot.0.load(Ordering::Acquire);
    // SAFETY: the slot holds what is leaked below, and nothing else.
    if let Some(known) = unsafe { Attached::find(first, host) } {
        return known;
    }
    // SAFETY: the caller's promise.
    let tables = match unsafe { Tables::new(host) } {
        Some(tables) => tables,
        None => return std::ptr::null(),
    };
    gate::install_hook();
    let tables: &'static Tables = Box::leak(Box::new(tables));
    let passes = pass_entries(plugin.passes, tables);
    let ops = op_entries(plugin.ops, tables);
    let instruments = instrument::entries(plugin.instruments, tables);
    let table = abi::Plugin {
        struct_size: std::mem::size_of::<abi::Plugin>() as u32,
        pass_count: passes.len() as u32,
        passes: passes.as_ptr(),
        pass_stride: std::mem::size_of::<abi::PassEntry>() as u32,
        op_stride: std::mem::size_of::<abi::OpEntry>() as u32,
        ops: ops.as_ptr(),
        op_count: ops.len() as u32,
        reserved: 0,
        instruments: instruments.as_ptr(),
        instrument_count: instruments.len() as u32,
        instrument_stride: std::mem::size_of::<abi::InstrumentEntry>() as u32,
    };
    loop {
        let made = Box::into_raw(Box::new(Attached {
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

/// The pointer that a pass, an op or an instrument gets back at each call.
pub(super) fn state<T>(bound: T) -> *mut c_void {
    Box::into_raw(Box::new(bound)).cast()
}

fn pass_entries(passes: &[PassSpec], tables: &'static Tables) -> &'static [abi::PassEntry] {
    let entries = passes.iter().map(|pass| abi::PassEntry {
        name: abi::Str::new(pass.name),
        kind: pass.run.kind(),
        reserved: 0,
        state: state(BoundPass {
            run: pass.run,
            tables,
        }),
        run_function: match pass.run {
            PassRun::Module(_) => None,
            _ => Some(run_function),
        },
        run_module: match pass.run {
            PassRun::Module(_) => Some(run_module),
            _ => None,
        },
    });
    Box::leak(entries.collect())
}

fn op_entries(ops: &'static [OpDef], tables: &'static Tables) -> &'static [abi::OpEntry] {
    let entries = ops.iter().map(|def| abi::OpEntry {
        attrs: def.attrs.map_or(std::ptr::null(), attr_entries),
        attr_count: def.attrs.map_or(0, |attrs| attrs.len() as u32),
        attr_stride: std::mem::size_of::<abi::AttrEntry>() as u32,
        decompose: def.decompose.map(|_| decompose as abi::DecomposeOp),
        name: abi::Str::new(def.name),
        since: def.since,
        min_operands: def.min_operands,
        max_operands: def.max_operands,
        reserved: 0,
        traits: def.all_traits().0,
        state: state(BoundOp { def, tables }),
        infer: def.infer.map(|_| infer as abi::InferOp),
        evaluate: def.evaluate.map(|_| evaluate as abi::EvaluateOp),
    });
    Box::leak(entries.collect())
}

/// Where the attributes of an operator stand; not null, also if it has none.
fn attr_entries(attrs: &'static [AttrDef]) -> *const abi::AttrEntry {
    let entries: Box<[abi::AttrEntry]> = attrs.iter().map(AttrDef::entry).collect();
    Box::leak(entries).as_ptr()
}

/// The host calls a function or prim-function pass.
unsafe extern "C" fn run_function(
    state: *mut c_void,
    context: *mut abi::Context,
    function: *const abi::FunctionRef,
    module: *const abi::ModuleRef,
) -> Status {
    // SAFETY: `state` is what `pass_entries` made.
    let pass: &'static BoundPass = unsafe { &*state.cast() };
    let body = || {
        // SAFETY: the contract: the handles live, and the function is ours, until we return.
        let (mut function, cx) = unsafe {
            let module = module.as_ref().copied();
            (
                Function::from_raw(pass.tables, *function),
                PassContext::from_raw(pass.tables, context, module),
            )
        };
        let result = match pass.run {
            PassRun::Function(run) | PassRun::PrimFunction(run) => run(&mut function, &cx),
            PassRun::Module(_) => return Status::INVALID,
        };
        answer(result, cx.raw())
    };
    // SAFETY: the contract: the context lives until we return.
    let raw = unsafe { RawContext::new(pass.tables, context) };
    gate::enter(pass.tables, body, |panic| raw.panicked(panic))
}

/// The host calls a module pass.
unsafe extern "C" fn run_module(
    state: *mut c_void,
    context: *mut abi::Context,
    module: *const abi::ModuleRef,
) -> Status {
    // SAFETY: `state` is what `pass_entries` made.
    let pass: &'static BoundPass = unsafe { &*state.cast() };
    let body = || {
        // SAFETY: the contract: the handles live, and the module is ours, until we return.
        let (mut module, cx) = unsafe {
            (
                Module::from_raw(pass.tables, *module),
                PassContext::from_raw(pass.tables, context, None),
            )
        };
        let result = match pass.run {
            PassRun::Module(run) => run(&mut module, &cx),
            _ => return Status::INVALID,
        };
        answer(result, cx.raw())
    };
    // SAFETY: the contract: the context lives until we return.
    let raw = unsafe { RawContext::new(pass.tables, context) };
    gate::enter(pass.tables, body, |panic| raw.panicked(panic))
}

#[inline]
pub(super) fn answer(result: Result<(), PassError>, context: &RawContext) -> Status {
    match result {
        Ok(()) => Status::OK,
        Err(error) => failed(&error, context),
    }
}

#[cold]
pub(super) fn failed(error: &PassError, context: &RawContext) -> Status {
    // What the pass emitted as an error is the failure itself.
    if !error.emitted {
        context.fail(error);
    }
    Status::FAILED
}

/// The host asks an op's definition for result types.
unsafe extern "C" fn infer(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: `state` is what `op_entries` made; the rest is the contract.
    unsafe { define(state, call, function, op, |def| def.infer) }
}

/// The host asks an op's definition for results.
unsafe extern "C" fn evaluate(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: `state` is what `op_entries` made; the rest is the contract.
    unsafe { define(state, call, function, op, |def| def.evaluate) }
}

/// The host asks an op's definition for its body.
unsafe extern "C" fn decompose(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: `state` is what `op_entries` made; the rest is the contract.
    unsafe { define(state, call, function, op, |def| def.decompose) }
}

/// # Safety
/// `state` is what `op_entries` made; the rest is as the contract says.
unsafe fn define(
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
    part: fn(&OpDef) -> Option<OpFn>,
) -> Status {
    // SAFETY: the caller's promise.
    let bound: &'static BoundOp = unsafe { &*state.cast() };
    // SAFETY: the contract: the call lives until we return.
    let raw = unsafe { RawOpCall::new(bound.tables, call) };
    let body = || {
        let run = match part(bound.def) {
            Some(run) => run,
            None => return Status::UNSUPPORTED,
        };
        // SAFETY: the contract: the function can be read until we return.
        let function = unsafe { Function::from_raw(bound.tables, *function) };
        match run(&OpCall::new(raw, function, op)) {
            Ok(()) => Status::OK,
            Err(refusal) => {
                raw.refuse(&refusal.reason);
                Status::REFUSED
            }
        }
    };
    gate::enter(bound.tables, body, |panic| raw.refuse(&panic.sentence()))
}
