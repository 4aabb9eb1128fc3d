//! What a plugin offers: its entry, its table, and the names of its symbols.
//!
//! A plugin library exports two symbols: [`ENTRY_SYMBOL`], and [`MANIFEST_SYMBOL`], TOML text that
//! ends with a NUL and that hosts read from the file without loading it.

pub use crate::host::PassKind;
use crate::host::{Context, Host, OpCall};
use crate::ids::OpId;
use crate::instrument::InstrumentEntry;
use crate::record::AttrKind;
use crate::status::Status;
use crate::view::{FunctionRef, ModuleRef, Str};

/// The exported function of type [`Entry`].
pub const ENTRY_SYMBOL: &str = "passdock_plugin_v0";

/// The exported manifest.
pub const MANIFEST_SYMBOL: &str = "passdock_manifest_v0";

/// Given the host's table, which outlives the plugin, answers the plugin's for this host; null if it
/// refuses.
pub type Entry = unsafe extern "C" fn(host: *const Host) -> *const Plugin;

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
    /// Its registered name.
    pub name: Str,
    /// What it works on.
    pub kind: PassKind,
    /// 0.
    pub reserved: u32,
    /// Handed to `run_*`; may be null.
    pub state: *mut core::ffi::c_void,
    /// Of a function or prim-function pass.
    pub run_function: Option<RunFunctionPass>,
    /// Of a module pass.
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

/// Writes the body of an op, as the IR text of a function, with `OpApi::set_body` (ABI 0.3).
pub type DecomposeOp = InferOp;

/// An attribute that an operator has, and its value where it isn't given (ABI 0.3).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AttrEntry {
    /// Its name.
    pub name: Str,
    /// What it means; may be empty.
    pub doc: Str,
    /// What its value is, never REFERENCE.
    pub kind: AttrKind,
    /// `AttrEntry::*` flags.
    pub flags: u32,
    /// The default: INT; FLOAT (the f32's bits).
    pub bits: u64,
    /// The default: INTS: `i64`; FLOATS: `f32`; STRING: `u8`; STRINGS: `Str`.
    pub data: *const core::ffi::c_void,
    /// Elements of `data`.
    pub count: usize,
}

impl AttrEntry {
    /// An op without it is wrong.
    pub const REQUIRED: u32 = 1;
    /// An op without it means the default.
    pub const DEFAULT: u32 = 2;
}

/// An op definition.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OpEntry {
    /// The canonical name, domain included.
    pub name: Str,
    /// The first version of its domain with this meaning.
    pub since: u32,
    /// Fewest operands.
    pub min_operands: u32,
    /// Most operands; `u32::MAX`: any number.
    pub max_operands: u32,
    /// 0.
    pub reserved: u32,
    /// `OpEntry::*` flags.
    pub traits: u64,
    /// Handed to the functions; may be null.
    pub state: *mut core::ffi::c_void,
    /// Null: types aren't inferred.
    pub infer: Option<InferOp>,
    /// Null: never folded.
    pub evaluate: Option<EvaluateOp>,
    /// All attributes it may have, `attr_stride` bytes apart; null: not said (ABI 0.3).
    pub attrs: *const AttrEntry,
    /// How many.
    pub attr_count: u32,
    /// `AttrEntry`s are so many bytes apart.
    pub attr_stride: u32,
    /// Null: it isn't made of others (ABI 0.3).
    pub decompose: Option<DecomposeOp>,
}

impl OpEntry {
    /// Defined at all.
    pub const DEFINED: u64 = 1;
    /// No effect but its results; may be erased, merged, moved.
    pub const PURE: u64 = 1 << 1;
    /// Two runs give different results.
    pub const RANDOM: u64 = 1 << 2;
    /// Keeps state between runs.
    pub const STATEFUL: u64 = 1 << 3;
    /// Operands may change places.
    pub const COMMUTATIVE: u64 = 1 << 4;
    /// Element by element, with broadcasting.
    pub const ELEMENTWISE: u64 = 1 << 5;
    /// Applying it twice is applying it once.
    pub const IDEMPOTENT: u64 = 1 << 6;
    /// Its first result is its first operand.
    pub const IDENTITY: u64 = 1 << 7;
    /// Makes much out of little (`Expand`, `ConstantOfShape`): folding it grows the model.
    pub const GROWS: u64 = 1 << 8;
    /// Reads what operand 0 points at.
    pub const READS: u64 = 1 << 9;
    /// Writes what an operand points at.
    pub const WRITES: u64 = 1 << 10;
    /// Makes memory.
    pub const ALLOCATES: u64 = 1 << 11;
    /// Has an evaluation.
    pub const FOLDS: u64 = 1 << 12;
    /// Its results depend on its operands' types only (`Shape`, `Size`).
    pub const SHAPE_ONLY: u64 = 1 << 13;
    /// Has a body of other ops (ABI 0.3).
    pub const DECOMPOSES: u64 = 1 << 14;
    /// A function of the module has the operator's name. Which of both an op means is its runtime's
    /// to say, so nothing else is said of it (ABI 0.3).
    pub const AMBIGUOUS: u64 = 1 << 15;
}

/// A plugin's table; lives as long as the library is loaded.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Plugin {
    /// Bytes of this struct as the plugin knows it.
    pub struct_size: u32,
    /// How many passes.
    pub pass_count: u32,
    /// `PassEntry`s, `pass_stride` bytes apart.
    pub passes: *const PassEntry,
    /// At least `size_of::<PassEntry>()` of the oldest host.
    pub pass_stride: u32,
    /// `OpEntry`s are `op_stride` bytes apart.
    pub op_stride: u32,
    /// Op definitions.
    pub ops: *const OpEntry,
    /// How many.
    pub op_count: u32,
    /// 0.
    pub reserved: u32,
    /// Instruments, `instrument_stride` bytes apart (ABI 0.2).
    pub instruments: *const InstrumentEntry,
    /// How many.
    pub instrument_count: u32,
    /// `InstrumentEntry`s are so many bytes apart.
    pub instrument_stride: u32,
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
