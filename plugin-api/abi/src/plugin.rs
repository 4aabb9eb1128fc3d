//! What a plugin offers: its entry, its table, and the names of its symbols.
//!
//! A plugin library exports two symbols: [`ENTRY_SYMBOL`], and [`MANIFEST_SYMBOL`], TOML text that
//! ends with a NUL and that hosts read from the file without loading it.

pub use crate::host::PassKind;
use crate::host::{Context, Host};
use crate::ids::OpId;
use crate::instrument::InstrumentEntry;
use crate::op::OpCall;
use crate::record::AttrKind;
use crate::status::Status;
use crate::view::{FunctionRef, ModuleRef, Str};

/// The exported function of type [`Entry`].
pub const ENTRY_SYMBOL: &str = "passdock_plugin_v0";

/// The exported manifest.
pub const MANIFEST_SYMBOL: &str = "passdock_manifest_v0";

/// The entry of a library: given the host's table, which outlives the plugin, it answers the
/// plugin's for this host; null if it refuses, with the reason in `attach`. A host calls entries one at a time; of two in a
/// process, each may call this one while the other does.
pub type Entry = unsafe extern "C" fn(host: *const Host, attach: *mut Attach) -> *const Plugin;

/// What a library is told when it is attached to a host, and may answer beside its table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Attach {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// The library's file, absolute; empty if it wasn't loaded from one, or the path isn't UTF-8. Lives until the entry
    /// returns.
    pub path: Str,
    /// Set by the plugin: a sentence that says why it refuses the host. Lives as long as the
    /// library.
    pub reason: Str,
}

/// Runs a function or prim-function pass on one function. `module` is the input, to read.
pub type RunFunctionPass = unsafe extern "C" fn(
    state: *mut core::ffi::c_void,
    context: *mut Context,
    function: *const FunctionRef,
    module: *const ModuleRef,
) -> Status;

/// Runs a module pass.
pub type RunModulePass = unsafe extern "C" fn(
    state: *mut core::ffi::c_void,
    context: *mut Context,
    module: *const ModuleRef,
) -> Status;

/// A pass. Everything said about it stands in the manifest; this is how to call it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PassEntry {
    /// The pass's registered name.
    pub name: Str,
    /// The pass's kind.
    pub kind: PassKind,
    /// Reserved: 0.
    pub reserved: u32,
    /// The state handed to `run_*`; may be null.
    pub state: *mut core::ffi::c_void,
    /// The function of a function or prim-function pass.
    pub run_function: Option<RunFunctionPass>,
    /// The function of a module pass.
    pub run_module: Option<RunModulePass>,
}

/// Infers the types of an op's results; any thread.
pub type InferOp = unsafe extern "C" fn(
    state: *mut core::ffi::c_void,
    call: *mut OpCall,
    function: *const FunctionRef,
    op: OpId,
) -> Status;

/// Evaluates an op whose operands are all constant; any thread.
pub type EvaluateOp = InferOp;

/// Writes the body of an op, as the IR text of a function, with `DefinitionApi::set_body`.
pub type DecomposeOp = InferOp;

/// Writes the body of an op for back ends that don't have it, as `DecomposeOp` does.
pub type LegalizeOp = InferOp;

/// Says which layouts an op's operands and results have, with `DefinitionApi::set_operand_layout` and
/// `set_result_layout`, and writes the op's body in these, with `set_body`.
pub type LayoutOp = InferOp;

/// Says whether the target of `DefinitionApi::target` takes an op: OK; or why not, with `DefinitionApi::refuse`; or
/// NOT_FOUND, and another definition is asked.
pub type SupportsOp = InferOp;

/// An attribute that an operator has, and its value where it isn't given.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AttrEntry {
    /// The attribute's name.
    pub name: Str,
    /// The attribute's meaning; may be empty.
    pub doc: Str,
    /// The kind of its value, never REFERENCE.
    pub kind: AttrKind,
    /// Flags: `AttrEntry::*`.
    pub flags: u32,
    /// The default: INT; FLOAT (the f32's bits).
    pub bits: u64,
    /// The default: INTS: `i64`; FLOATS: `f32`; STRING: `u8`; STRINGS: `Str`.
    pub data: *const core::ffi::c_void,
    /// The number of elements of `data`.
    pub count: usize,
}

impl AttrEntry {
    /// An op without it is wrong.
    pub const REQUIRED: u32 = 1;
    /// An op without it means the default.
    pub const DEFAULT: u32 = 2;
}

/// An op definition; or what a plugin adds to one that may be another's, if its manifest says `extends`: then it has
/// `legalize`, `layout`, `alter_layout` and `supports` alone (no traits, no number of operands), and is asked before the
/// definition.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OpEntry {
    /// The canonical name, domain included.
    pub name: Str,
    /// The first version of its domain with this meaning.
    pub since: i64,
    /// The fewest operands.
    pub min_operands: u32,
    /// The most operands; `u32::MAX`: any number.
    pub max_operands: u32,
    /// Traits: `OpEntry::*`.
    pub traits: u64,
    /// The state handed to the functions; may be null.
    pub state: *mut core::ffi::c_void,
    /// The type rule; null: types aren't inferred. What it says follows from the op's attributes, the versions of domains, and
    /// the types and known elements of its operands, and from nothing else that it can see: while these are the same, a host needn't ask again.
    pub infer: Option<InferOp>,
    /// The evaluation; null: it is never folded.
    pub evaluate: Option<EvaluateOp>,
    /// The attributes it may have, `attr_stride` bytes apart; null: not said.
    pub attrs: *const AttrEntry,
    /// The number of attributes.
    pub attr_count: u32,
    /// Bytes from one `AttrEntry` to the next.
    pub attr_stride: u32,
    /// The body; null: it isn't made of other ops.
    pub decompose: Option<DecomposeOp>,
    /// The body of ops that every back end has; null: it stays as it is.
    pub legalize: Option<LegalizeOp>,
    /// The op in layouts that it is asked for; null: it can't be in another.
    pub layout: Option<LayoutOp>,
    /// The op in the layouts that its maker wants; null: it wants none.
    pub alter_layout: Option<LayoutOp>,
    /// Whether a target takes an op; null: nothing is said.
    pub supports: Option<SupportsOp>,
    /// The targets that `supports` speaks for.
    pub targets: *const Str,
    /// The number of targets.
    pub target_count: usize,
}

impl OpEntry {
    /// The op has a definition. Set by the host.
    pub const DEFINED: u64 = 1;
    /// The op has no effect but its results; may be erased, merged, moved.
    pub const PURE: u64 = 1 << 1;
    /// The op is random: two runs give different results.
    pub const RANDOM: u64 = 1 << 2;
    /// The op keeps state between runs.
    pub const STATEFUL: u64 = 1 << 3;
    /// Operands may change places.
    pub const COMMUTATIVE: u64 = 1 << 4;
    /// The op works element by element, with broadcasting.
    pub const ELEMENTWISE: u64 = 1 << 5;
    /// The op is idempotent: applying it twice is applying it once.
    pub const IDEMPOTENT: u64 = 1 << 6;
    /// The first result is the first operand.
    pub const IDENTITY: u64 = 1 << 7;
    /// The op makes much out of little (`Expand`, `ConstantOfShape`): folding it grows the model.
    pub const GROWS: u64 = 1 << 8;
    /// The op reads what operand 0 points at.
    pub const READS: u64 = 1 << 9;
    /// The op writes what an operand points at.
    pub const WRITES: u64 = 1 << 10;
    /// The op makes memory.
    pub const ALLOCATES: u64 = 1 << 11;
    /// The definition has an evaluation. Set by the host.
    pub const FOLDS: u64 = 1 << 12;
    /// The results depend on the operands' types only (`Shape`, `Size`).
    pub const SHAPE_ONLY: u64 = 1 << 13;
    /// The definition has a body of other ops. Set by the host.
    pub const DECOMPOSES: u64 = 1 << 14;
    /// A function of the module has the operator's name. Which of both an op means is its runtime's
    /// to say, so nothing else is said of it. Set by the host.
    pub const AMBIGUOUS: u64 = 1 << 15;
    /// Each element of its results is made of elements that are looked up, not of all along an axis:
    /// it moves, resizes, samples or quantizes data.
    pub const INJECTIVE: u64 = 1 << 16;
    /// It reduces axes.
    pub const REDUCTION: u64 = 1 << 17;
    /// Elementwise ops behind it can become part of it, as of a convolution.
    pub const OUT_FUSABLE: u64 = 1 << 18;
    /// The definition has a body for back ends. Set by the host.
    pub const LEGALIZES: u64 = 1 << 19;
    /// The definition says what the op is in other layouts. Set by the host.
    pub const KNOWS_LAYOUT: u64 = 1 << 20;
    /// The definition wants layouts of its own. Set by the host.
    pub const ALTERS_LAYOUT: u64 = 1 << 21;
    /// The op is defined only in a later version of its domain than the function's. It has no other traits. Set by the host.
    pub const LATER: u64 = 1 << 22;
}

/// A plugin's table; lives as long as the library is loaded.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Plugin {
    /// Bytes of this struct as the plugin knows it.
    pub struct_size: u32,
    /// The number of passes.
    pub pass_count: u32,
    /// Passes, `pass_stride` bytes apart.
    pub passes: *const PassEntry,
    /// Bytes from one pass to the next.
    pub pass_stride: u32,
    /// Bytes from one `OpEntry` to the next.
    pub op_stride: u32,
    /// Op definitions.
    pub ops: *const OpEntry,
    /// The number of op definitions.
    pub op_count: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// Instruments, `instrument_stride` bytes apart.
    pub instruments: *const InstrumentEntry,
    /// The number of instruments.
    pub instrument_count: u32,
    /// Bytes from one `InstrumentEntry` to the next.
    pub instrument_stride: u32,
    /// An optional power of the plugin's by its id, or null; null: it has none.
    pub get_extension:
        Option<unsafe extern "C" fn(*const Plugin, id: Str) -> *const core::ffi::c_void>,
}

// SAFETY: a plugin's table is immutable after the entry returned it; the contract lets the host
// call its functions from the threads that the manifest allows.
unsafe impl Sync for Plugin {}
// SAFETY: as above; `state` pointers are the plugin's own business.
unsafe impl Sync for PassEntry {}
// SAFETY: as above.
unsafe impl Sync for OpEntry {}
// SAFETY: as above.
unsafe impl Sync for AttrEntry {}
