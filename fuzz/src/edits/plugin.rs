//! The plugin, with a table and a manifest like those of a C plugin: its passes and its op definitions.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;

use passdock_abi as abi;
use passdock_abi::{
    Attach, DType, Dim, FunctionRef, Host, ModuleRef, OpCall, OpEntry, OpId, PassEntry, Plugin,
    Status, Str, TypeDesc, TypeKind,
};
use passdock_core::boundary::host;
use passdock_plugin_api::StaticPlugin;

use super::arguments::{Call, body};
use super::calls;
use super::input::{one_in, pick};
use super::pass::Pass;

const MANIFEST: &str = concat!(include_str!("plugin.toml"), "\0");

// SAFETY: the entry follows the plugin ABI.
pub(super) const PLUGIN: StaticPlugin = unsafe { StaticPlugin::new(entry, MANIFEST.as_bytes()) };

unsafe extern "C" fn entry(_: *const Host, _: *mut Attach) -> *const Plugin {
    &TABLE
}

static TABLE: Plugin = Plugin {
    pass_count: PASSES.len() as u32,
    passes: &PASSES[0],
    pass_stride: size_of::<PassEntry>() as u32,
    ops: &OPS[0],
    op_count: OPS.len() as u32,
    op_stride: size_of::<OpEntry>() as u32,
    ..Plugin::EMPTY
};

const fn pass(name: &'static str) -> PassEntry {
    PassEntry {
        name: Str::new(name),
        run_function: Some(on_function),
        run_module: Some(on_module),
        ..PassEntry::EMPTY
    }
}

static PASSES: [PassEntry; 4] = [
    pass("f.transform.Function"),
    pass("f.transform.Prim"),
    pass("f.transform.Module"),
    pass("f.transform.KeepsInterface"),
];

const fn op(name: &'static str, max_operands: u32, traits: u64) -> OpEntry {
    OpEntry {
        name: Str::new(name),
        since: 1,
        max_operands,
        max_results: u32::MAX,
        traits,
        infer: Some(define),
        evaluate: Some(define),
        decompose: Some(define),
        layout: Some(define),
        alter_layout: Some(define),
        supports: Some(define),
        targets: TARGET,
        target_count: 1,
        ..OpEntry::EMPTY
    }
}

static OPS: [OpEntry; 6] = [
    op("f.A", 1, OpEntry::PURE | OpEntry::ELEMENTWISE),
    op("f.B", 9, OpEntry::PURE | OpEntry::COMMUTATIVE),
    op("f.Two", 0, OpEntry::PURE),
    op("f.Body", u32::MAX, 0),
    op("f.Wild", u32::MAX, OpEntry::RANDOM),
    op("f.Outer", u32::MAX, 0),
];

const TARGET: &Str = &Str::new("t");

thread_local! {
    /// The context of the pass that runs on this thread, which definitions misuse.
    static CONTEXT: Cell<*mut abi::Context> = const { Cell::new(null_mut()) };
}

/// Runs a pass as the current one of the thread.
fn run(context: *mut abi::Context, module: ModuleRef, function: Option<FunctionRef>) -> Status {
    let outer = CONTEXT.replace(context);
    let status = Pass::run(context, module, function);
    CONTEXT.set(outer);
    status
}

unsafe extern "C" fn on_function(
    _: *const abi::Host,
    _: *mut c_void,
    cx: *mut abi::Context,
    function: *const FunctionRef,
    module: *const ModuleRef,
) -> Status {
    // SAFETY: the host's arguments are valid until this returns.
    unsafe { run(cx, *module, Some(*function)) }
}

unsafe extern "C" fn on_module(
    _: *const abi::Host,
    _: *mut c_void,
    cx: *mut abi::Context,
    module: *const ModuleRef,
) -> Status {
    // SAFETY: the host's argument is valid until this returns.
    unsafe { run(cx, *module, None) }
}

/// Sets the results of each kind of definition function; the host rejects those of another kind. Then makes the calls
/// that the input chooses.
unsafe extern "C" fn define(
    _: *const abi::Host,
    _: *mut c_void,
    call: *mut OpCall,
    function: *const FunctionRef,
    op: OpId,
) -> Status {
    static TWO: Dim = Dim::constant(2);
    let desc = TypeDesc {
        kind: TypeKind::TENSOR,
        dtype: pick(&[DType::F32, DType::F32, DType::I32]),
        dims: &TWO,
        dim_count: 1,
        name: abi::SymbolId::NONE,
        ..TypeDesc::EMPTY
    };
    let mut elements = null_mut();
    // SAFETY: the host's arguments are valid until this returns, and its tables are never freed.
    unsafe {
        let (function, table) = (*function, host().get());
        let t = &*table.definitions;
        t.set_result_type.expect("the host's")(call, 0, &desc);
        t.set_body.expect("the host's")(call, body());
        if t.allocate_result.expect("the host's")(call, 0, &desc, 8, &mut elements).is_ok() {
            elements.write_bytes(1, 8);
        }
        for _ in 0..pick(&[0, 0, 1, 2, 4]) {
            let mut c = Call::new((*function.view).symbols);
            (c.call, c.function, c.view) = (call, function.handle, function.view);
            c.context = CONTEXT.get();
            let is_about_op = one_in(8);
            let call = if is_about_op {
                calls::ops
            } else {
                calls::definitions
            };
            let (name, status) = call(&c);
            c.check(name, status);
        }
        let status = (*table.functions).erase_op.expect("the host's")(function.handle, op);
        assert!(!status.is_ok(), "a definition edits");
    }
    Status(pick(&[0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 6, 9]))
}
