//! What a plugin may call: tables of functions that the host fills.
//!
//! A host older than the plugin's header leaves the newer ones out: `struct_size` tells how far a
//! table goes, and a slot that is null isn't there.

use core::ffi::c_void;

use crate::desc::*;
use crate::ids::*;
use crate::op::{DefinitionApi, OpApi};
use crate::record::{Dim, ExprKind};
use crate::status::Status;
use crate::version::Version;
use crate::view::*;

/// The host's context of a running pass, opaque.
#[repr(C)]
pub struct Context {
    _opaque: [u8; 0],
}

/// The host's tables: everything that it offers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Host {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// The layout it speaks.
    pub abi: Version,
    /// The meaning it speaks.
    pub ir: Version,
    /// Interned strings.
    pub symbols: *const SymbolApi,
    /// Reading and editing functions.
    pub functions: *const FunctionApi,
    /// Reading and editing modules.
    pub modules: *const ModuleApi,
    /// The running pass.
    pub context: *const ContextApi,
    /// Asking op definitions.
    pub ops: *const OpApi,
    /// Answering in op definitions.
    pub definitions: *const DefinitionApi,
    /// An optional power by its id, or null.
    pub get_extension: Option<unsafe extern "C" fn(*const Host, id: Str) -> *const c_void>,
}

/// Interned strings of a module.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SymbolApi {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// The text of a symbol; lives as long as the module. A stale id gives `""`.
    pub text: Option<unsafe extern "C" fn(*const Symbols, SymbolId) -> Str>,
    /// The symbol of a text, made if it is new; NONE if the text isn't UTF-8 or too long.
    pub intern: Option<unsafe extern "C" fn(*const Symbols, Str) -> SymbolId>,
    /// The symbol of a text, or NONE.
    pub find: Option<unsafe extern "C" fn(*const Symbols, Str) -> SymbolId>,
}

/// Reading and editing one function. Every edit either is done or changes nothing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FunctionApi {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// The sentence of the last call on this handle that didn't answer OK.
    pub last_error: Option<unsafe extern "C" fn(*const Function) -> Str>,
    /// A constant's bytes (all elements, of a splat too), not aligned, alive while the function's view is.
    pub constant_data:
        Option<unsafe extern "C" fn(*const Function, ConstId, out: *mut Bytes) -> Status>,
    /// Makes an op.
    pub create_op: Option<
        unsafe extern "C" fn(
            *mut Function,
            *const OpDesc,
            *const Position,
            out: *mut OpId,
        ) -> Status,
    >,
    /// Makes an op before `old`, moves all uses of the old results to the new ones, erases `old`.
    pub replace_op: Option<
        unsafe extern "C" fn(*mut Function, old: OpId, *const OpDesc, out: *mut OpId) -> Status,
    >,
    /// Moves all uses of the old results to these values and erases `old`. A value without a name
    /// gets that of the result it replaces.
    pub replace_op_with: Option<
        unsafe extern "C" fn(
            *mut Function,
            old: OpId,
            values: *const ValueId,
            count: usize,
        ) -> Status,
    >,
    /// Erases an op whose results nobody uses, with its regions.
    pub erase_op: Option<unsafe extern "C" fn(*mut Function, OpId) -> Status>,
    /// Moves an op.
    pub move_op: Option<unsafe extern "C" fn(*mut Function, OpId, *const Position) -> Status>,
    /// Sets an operand slot, or the next one; NONE leaves it out.
    pub set_operand:
        Option<unsafe extern "C" fn(*mut Function, OpId, index: u32, ValueId) -> Status>,
    /// Moves all uses of one value to another.
    pub replace_uses:
        Option<unsafe extern "C" fn(*mut Function, from: ValueId, to: ValueId) -> Status>,
    /// Sets an attribute of an op; NONE: of the function. A `return` or `yield` has none.
    pub set_attr: Option<unsafe extern "C" fn(*mut Function, OpId, *const AttrDesc) -> Status>,
    /// Removes an attribute of an op; NONE: of the function. NOT_FOUND if there is none of that name.
    pub remove_attr: Option<unsafe extern "C" fn(*mut Function, OpId, SymbolId) -> Status>,
    /// Refines a value's type; the unknown type forgets it.
    pub set_value_type: Option<unsafe extern "C" fn(*mut Function, ValueId, TypeId) -> Status>,
    /// Names a value; a name that is taken gets a number.
    pub set_value_name: Option<unsafe extern "C" fn(*mut Function, ValueId, Str) -> Status>,
    /// Interns a type.
    pub add_type:
        Option<unsafe extern "C" fn(*mut Function, *const TypeDesc, out: *mut TypeId) -> Status>,
    /// Interns a dim expression in canonical form.
    pub add_expr:
        Option<unsafe extern "C" fn(*mut Function, ExprKind, Dim, Dim, out: *mut Dim) -> Status>,
    /// Makes a constant.
    pub add_constant: Option<
        unsafe extern "C" fn(*mut Function, *const ConstantDesc, out: *mut ValueId) -> Status,
    >,
    /// Removes a constant that nobody uses.
    pub erase_constant: Option<unsafe extern "C" fn(*mut Function, ConstId) -> Status>,
    /// Copies a region's ops to a place.
    pub clone_region: Option<unsafe extern "C" fn(*mut Function, *const CloneDesc) -> Status>,
    /// Appends a parameter to the body (changes the interface) or an argument to a region.
    pub add_arg: Option<
        unsafe extern "C" fn(*mut Function, RegionId, *const PortDesc, out: *mut ValueId) -> Status,
    >,
    /// Ends a region: makes its `return` or `yield` if it has none, and sets its operands and ports.
    /// A name or type that a port doesn't say stays what it was: of the port in its place if there
    /// are as many as before, else of the port that had the value.
    /// Of a body that had results, this changes the interface.
    pub set_results:
        Option<unsafe extern "C" fn(*mut Function, RegionId, *const ResultsDesc) -> Status>,
    /// Sets the version of a domain that the function's ops mean; ONNX's own domain is "". Raising one
    /// that is there changes the interface, and is for who sees to it that the function's ops mean what they
    /// meant. Version 0 takes a domain back that none of the function's ops is of. Refused for another version below
    /// the one that is there, for 0 if an op is of the domain, and for the 1,025th domain.
    pub set_opset: Option<unsafe extern "C" fn(*mut Function, domain: Str, version: i64) -> Status>,
    /// The location of what came from several places: each of them, once, in this order.
    pub fuse_locs: Option<
        unsafe extern "C" fn(
            *mut Function,
            locs: *const LocId,
            count: usize,
            out: *mut LocId,
        ) -> Status,
    >,
    /// Moves a region's ops and constants right before the op that holds it, without copying; `args`
    /// stand for its arguments. What the region yields is visible there now; its terminator stays.
    pub inline_region: Option<
        unsafe extern "C" fn(*mut Function, RegionId, args: *const ValueId, count: usize) -> Status,
    >,
    /// Sets an op's location.
    pub set_loc: Option<unsafe extern "C" fn(*mut Function, OpId, LocId) -> Status>,
    /// A hash of a constant's bytes: equal bytes have equal ones. Of a large constant only a part
    /// is read.
    pub constant_hash:
        Option<unsafe extern "C" fn(*const Function, ConstId, out: *mut u64) -> Status>,
    /// Whether two constants have the same bytes, which are read as far as they are equal: 1 or 0.
    /// Types aren't compared.
    pub constants_equal:
        Option<unsafe extern "C" fn(*const Function, ConstId, ConstId, out: *mut u32) -> Status>,
    /// The location that is a node's name.
    pub name_loc: Option<unsafe extern "C" fn(*mut Function, name: Str, out: *mut LocId) -> Status>,
    /// Puts dims in the place of dim symbols in all types of the function.
    pub replace_symbols: Option<
        unsafe extern "C" fn(
            *mut Function,
            symbols: *const SymbolId,
            dims: *const Dim,
            count: usize,
        ) -> Status,
    >,
    /// Removes arguments that nobody uses; those behind them move up.
    pub remove_args:
        Option<unsafe extern "C" fn(*mut Function, args: *const ValueId, count: usize) -> Status>,
    /// Makes parameters that have a default the constants that they default to.
    pub freeze_args:
        Option<unsafe extern "C" fn(*mut Function, args: *const ValueId, count: usize) -> Status>,
    /// Copies ops to a place.
    pub clone_ops: Option<unsafe extern "C" fn(*mut Function, *const CloneOpsDesc) -> Status>,
    /// A type of another function of the module as a type of this one.
    pub type_from: Option<
        unsafe extern "C" fn(
            *mut Function,
            source: *const Function,
            TypeId,
            out: *mut TypeId,
        ) -> Status,
    >,
    /// Whether a function of the module, as it is now, has this name: 1 or 0.
    pub names_function: Option<unsafe extern "C" fn(*const Function, name: SymbolId) -> u32>,
    /// Replaces the body with a copy of that of another function of the module.
    pub replace_body:
        Option<unsafe extern "C" fn(*mut Function, source: *const Function) -> Status>,
}

/// Reading and editing a module.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ModuleApi {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// The sentence of the last call on this handle that didn't answer OK.
    pub last_error: Option<unsafe extern "C" fn(*const Module) -> Str>,
    /// An owned, read-only handle of a function as it is now; ends with `release`.
    pub snapshot: Option<
        unsafe extern "C" fn(*const Module, name: SymbolId, out: *mut FunctionRef) -> Status,
    >,
    /// Ends a snapshot.
    pub release: Option<unsafe extern "C" fn(*const Module, FunctionRef)>,
    /// A handle to edit a function in place, valid until the pass returns, the function is removed
    /// or replaced, or another pass is run.
    pub edit:
        Option<unsafe extern "C" fn(*mut Module, name: SymbolId, out: *mut FunctionRef) -> Status>,
    /// Makes a function with an empty body and hands it out as `edit` does.
    pub create_function: Option<
        unsafe extern "C" fn(*mut Module, *const FunctionDesc, out: *mut FunctionRef) -> Status,
    >,
    /// Removes a function.
    pub remove_function: Option<unsafe extern "C" fn(*mut Module, name: SymbolId) -> Status>,
    /// Runs a registered pass or Sequential on the module, instruments included, after what it requires. NOT_FOUND if none is
    /// called so; FAILED if it, or what it requires, failed.
    pub run_pass: Option<unsafe extern "C" fn(*mut Module, *mut Context, *const RunDesc) -> Status>,
    /// Makes a function of ops, and puts a call of it in their place.
    pub outline: Option<
        unsafe extern "C" fn(
            *mut Module,
            *const OutlineDesc,
            function: *mut SymbolId,
            call: *mut OpId,
        ) -> Status,
    >,
}

/// The severity of a diagnostic: TVM's numbers; the smaller, the graver. One that the host doesn't know
/// counts as the next milder one.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Severity(pub u32);

#[allow(missing_docs)]
impl Severity {
    pub const BUG: Severity = Severity(10);
    pub const ERROR: Severity = Severity(20);
    pub const WARNING: Severity = Severity(30);
    pub const NOTE: Severity = Severity(40);
    pub const HELP: Severity = Severity(50);
}

/// A part of an op.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpPart(pub u32);

impl OpPart {
    /// The whole op.
    pub const OP: OpPart = OpPart(0);
    /// The op's name.
    pub const NAME: OpPart = OpPart(1);
    /// The operand `index`.
    pub const OPERAND: OpPart = OpPart(2);
    /// The result `index`.
    pub const RESULT: OpPart = OpPart(3);
    /// The attribute `attr`.
    pub const ATTR: OpPart = OpPart(4);
}

/// A place in the IR, which the user sees underlined. Of a part that isn't in the op's text, the
/// whole op is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// `size_of::<Label>()` of the caller.
    pub struct_size: u32,
    /// The op that is meant.
    pub op: OpId,
    /// The part of it that is meant.
    pub part: OpPart,
    /// The index of the operand or result.
    pub index: u32,
    /// The function that the op is in; 0: that of the diagnostic.
    pub function: SymbolId,
    /// Flags: none yet; a host lets those through that it doesn't know.
    pub flags: u32,
    /// The attribute's name.
    pub attr: Str,
    /// A few words that stand under the place, or empty.
    pub text: Str,
}

/// A diagnostic, copied by the host.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Diagnostic {
    /// `size_of::<Diagnostic>()` of the caller.
    pub struct_size: u32,
    /// The severity.
    pub severity: Severity,
    /// The op it is about, or NONE; not read if there are labels.
    pub op: OpId,
    /// Flags: none yet; a host lets those through that it doesn't know.
    pub flags: u32,
    /// A short stable code (`acme::bad-axis`), or empty.
    pub code: Str,
    /// The message: a sentence.
    pub message: Str,
    /// The advice what to do, or empty.
    pub help: Str,
    /// The function that the op is in; 0: the one that the pass works on.
    pub function: SymbolId,
    /// Bytes from one label to the next.
    pub label_stride: u32,
    /// Places; the first is what it is about.
    pub labels: *const Label,
    /// The number of labels.
    pub label_count: usize,
    /// Notes: more sentences.
    pub notes: *const Str,
    /// The number of notes.
    pub note_count: usize,
}

/// The reason why a pass failed or panicked, copied by the host.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    /// `size_of::<Failure>()` of the caller.
    pub struct_size: u32,
    /// The op it failed on, or NONE.
    pub op: OpId,
    /// A sentence, or the panic's message.
    pub message: Str,
    /// The panic's source file, or empty.
    pub file: Str,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
    /// The function that the op is in; 0: the one that the pass works on.
    pub function: SymbolId,
    /// Flags: none yet; a host lets those through that it doesn't know.
    pub flags: u32,
}

/// The kind of a setting's value.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SettingKind(pub u32);

#[allow(missing_docs)]
impl SettingKind {
    pub const NONE: SettingKind = SettingKind(0);
    pub const BOOL: SettingKind = SettingKind(1);
    pub const INT: SettingKind = SettingKind(2);
    pub const FLOAT: SettingKind = SettingKind(3);
    pub const STRING: SettingKind = SettingKind(4);
    pub const LIST: SettingKind = SettingKind(5);
    pub const TABLE: SettingKind = SettingKind(6);
}

/// An option's or config field's value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// `size_of::<Setting>()` of the caller.
    pub struct_size: u32,
    /// The kind, which says which field is set.
    pub kind: SettingKind,
    /// The value of a BOOL (0 or 1) or INT.
    pub int: i64,
    /// The value of a FLOAT.
    pub float: f64,
    /// The text of a STRING. Lives as long as the context.
    pub string: Str,
    /// The elements of a LIST or a TABLE, `item_stride` bytes apart. They live as long as the
    /// context.
    pub items: *const SettingItem,
    /// The number of items.
    pub item_count: u32,
    /// Bytes from one item to the next.
    pub item_stride: u32,
}

/// An element of a list or a table of settings.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SettingItem {
    /// The name of a TABLE's entry; of a LIST's element empty.
    pub name: Str,
    /// The value.
    pub value: Setting,
}

/// The kind of a pass: what it works on.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PassKind(pub u32);

impl PassKind {
    /// A pass on each graph function.
    pub const FUNCTION: PassKind = PassKind(1);
    /// A pass on each prim function.
    pub const PRIM_FUNCTION: PassKind = PassKind(2);
    /// A pass on the module.
    pub const MODULE: PassKind = PassKind(3);
}

/// The running pass.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ContextApi {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// The context's optimization level.
    pub opt_level: Option<unsafe extern "C" fn(*const Context) -> u32>,
    /// An option of the running pass: defaults, then config, then the pipeline's `options`.
    pub option:
        Option<unsafe extern "C" fn(*const Context, name: Str, out: *mut Setting) -> Status>,
    /// A registered config value: `key`, and the field of a struct (or empty). What nobody set has its
    /// default; NOT_FOUND if no such key or field is registered.
    pub config: Option<
        unsafe extern "C" fn(*const Context, key: Str, field: Str, out: *mut Setting) -> Status,
    >,
    /// Emits a diagnostic, shown when the pass has returned. After a BUG or an ERROR the pass counts
    /// as failed, whatever it answers.
    pub emit: Option<unsafe extern "C" fn(*mut Context, *const Diagnostic) -> Status>,
    /// Tells why the pass is about to answer FAILED or PANICKED.
    pub fail: Option<unsafe extern "C" fn(*mut Context, *const Failure)>,
    /// The context on top of this thread's stack: `PassContext::current()`.
    pub current: Option<unsafe extern "C" fn(*const Host) -> *mut Context>,
    /// Whether a pass or Sequential of that name is registered, and of which kind: a Sequential is of the kind MODULE.
    pub find_pass:
        Option<unsafe extern "C" fn(*const Context, name: Str, out: *mut PassKind) -> Status>,
    /// The sentence of the last call on this handle that didn't answer OK; lives until the next.
    pub last_error: Option<unsafe extern "C" fn(*const Context) -> Str>,
    /// Asked before each rewrite by a rule of this name: REFUSED if the user disabled the rule, or wants no more
    /// rewrites.
    pub may_rewrite: Option<unsafe extern "C" fn(*const Context, rule: Str) -> Status>,
    /// Counts a rewrite by a rule.
    pub rewrote: Option<unsafe extern "C" fn(*mut Context, rule: Str)>,
    /// Rewrites a function by rules until none applies; `rules` is the text of a `.rules` file. The status is that of what
    /// went wrong.
    pub rewrite:
        Option<unsafe extern "C" fn(*mut Context, *mut Function, *const RewriteDesc) -> Status>,
}
