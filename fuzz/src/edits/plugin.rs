//! The plugin: a table and a manifest such as one in C has.

use std::ffi::c_void;

use passdock_abi as abi;
use passdock_abi::{
    Attach, AttrEntry, AttrKind, FunctionRef, Host, ModuleRef, OpEntry, PassEntry, PassKind,
    Plugin, Status, Str,
};
use passdock_plugin_api::StaticPlugin;

use super::definitions;
use super::session::{Held, Pass, State};

pub(super) const FUNCTION: &str = "f.transform.Function";
pub(super) const PRIM: &str = "f.transform.Prim";
pub(super) const MODULE: &str = "f.transform.Module";
pub(super) const KEEPS_INTERFACE: &str = "f.transform.KeepsInterface";

const MANIFEST: &[u8] = include_bytes!("plugin.toml");

// SAFETY: the entry is as the contract says.
pub(super) const PLUGIN: StaticPlugin = unsafe {
    StaticPlugin::new(entry, {
        const WITH_NUL: [u8; MANIFEST.len() + 1] = {
            let mut all = [0; MANIFEST.len() + 1];
            let mut at = 0;
            while at < MANIFEST.len() {
                all[at] = MANIFEST[at];
                at += 1;
            }
            all
        };
        &WITH_NUL
    })
};

unsafe extern "C" fn entry(_: *const Host, _: *mut Attach) -> *const Plugin {
    &TABLE
}

const fn pass(name: &'static str, kind: PassKind) -> PassEntry {
    let is_module = kind.0 == PassKind::MODULE.0;
    PassEntry {
        name: Str::new(name),
        kind,
        run_function: if is_module { None } else { Some(on_function) },
        run_module: if is_module { Some(on_module) } else { None },
        ..PassEntry::EMPTY
    }
}

static PASSES: [PassEntry; 4] = [
    pass(FUNCTION, PassKind::FUNCTION),
    pass(PRIM, PassKind::PRIM_FUNCTION),
    pass(MODULE, PassKind::MODULE),
    pass(KEEPS_INTERFACE, PassKind::MODULE),
];

static ATTRS: [AttrEntry; 3] = [
    AttrEntry {
        name: Str::new("k"),
        kind: AttrKind::INT,
        flags: AttrEntry::DEFAULT,
        bits: 3,
        ..AttrEntry::EMPTY
    },
    AttrEntry {
        name: Str::new("alpha"),
        kind: AttrKind::FLOAT,
        ..AttrEntry::EMPTY
    },
    AttrEntry {
        name: Str::new("kind"),
        kind: AttrKind::STRING,
        ..AttrEntry::EMPTY
    },
];

const OP: OpEntry = OpEntry {
    since: 1,
    max_operands: u32::MAX,
    attr_stride: size_of::<AttrEntry>() as u32,
    ..OpEntry::EMPTY
};

static OPS: [OpEntry; 7] = [
    OpEntry {
        name: Str::new("f.A"),
        min_operands: 1,
        max_operands: 1,
        traits: OpEntry::PURE | OpEntry::ELEMENTWISE,
        infer: Some(definitions::as_operand),
        evaluate: Some(definitions::ones),
        attrs: &ATTRS[0],
        attr_count: ATTRS.len() as u32,
        ..OP
    },
    OpEntry {
        name: Str::new("f.B"),
        traits: OpEntry::PURE | OpEntry::COMMUTATIVE,
        infer: Some(definitions::as_operand),
        ..OP
    },
    OpEntry {
        name: Str::new("f.Two"),
        max_operands: 0,
        traits: OpEntry::PURE,
        infer: Some(definitions::scripted),
        evaluate: Some(definitions::ones),
        ..OP
    },
    OpEntry {
        name: Str::new("f.Body"),
        infer: Some(definitions::as_operand),
        decompose: Some(definitions::body),
        legalize: Some(definitions::body),
        layout: Some(definitions::body),
        ..OP
    },
    OpEntry {
        name: Str::new("f.Wild"),
        traits: OpEntry::RANDOM,
        infer: Some(definitions::scripted),
        evaluate: Some(definitions::scripted),
        decompose: Some(definitions::scripted),
        layout: Some(definitions::scripted),
        alter_layout: Some(definitions::scripted),
        ..OP
    },
    OpEntry {
        name: Str::new("f.Outer"),
        infer: Some(definitions::scripted),
        decompose: Some(definitions::body),
        legalize: Some(definitions::body),
        layout: Some(definitions::body),
        ..OP
    },
    OpEntry {
        name: Str::new("f.Wild"),
        legalize: Some(definitions::scripted),
        layout: Some(definitions::body),
        supports: Some(definitions::scripted),
        targets: TARGETS.as_ptr(),
        target_count: TARGETS.len(),
        max_operands: 0,
        ..OP
    },
];

const TARGETS: &[Str] = &[Str::new("t")];

static TABLE: Plugin = Plugin {
    pass_count: PASSES.len() as u32,
    passes: &PASSES[0],
    pass_stride: size_of::<PassEntry>() as u32,
    ops: &OPS[0],
    op_count: OPS.len() as u32,
    op_stride: size_of::<OpEntry>() as u32,
    ..Plugin::EMPTY
};

unsafe extern "C" fn on_function(
    _: *mut c_void,
    cx: *mut abi::Context,
    function: *const FunctionRef,
    module: *const ModuleRef,
) -> Status {
    // SAFETY: the host's arguments, which are there until this returns.
    let (function, module) = unsafe { (*function, *module) };
    let state = State::Edit;
    let mut pass = Pass {
        cx,
        module,
        functions: vec![Held { function, state }],
    };
    pass.run()
}

unsafe extern "C" fn on_module(
    _: *mut c_void,
    cx: *mut abi::Context,
    module: *const ModuleRef,
) -> Status {
    let mut pass = Pass {
        cx,
        // SAFETY: the host's argument, which is there until this returns.
        module: unsafe { *module },
        functions: Vec::new(),
    };
    pass.edit_main();
    pass.run()
}
