//! The tables about op definitions: what passes ask, and what definitions answer through.

use crate::desc::*;
use crate::host::Context;
use crate::ids::*;
use crate::plugin::AttrEntry;
use crate::record::{Dim, ExprKind};
use crate::status::Status;
use crate::view::*;

/// A call into an op definition, opaque.
#[repr(C)]
pub struct OpCall {
    _opaque: [u8; 0],
}

/// Asking op definitions, in a pass. `FunctionApi::last_error` has an error's sentence.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OpApi {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// The traits of an op by its name in this function; 0 if nobody defines it.
    pub traits: Option<unsafe extern "C" fn(*const Function, SymbolId) -> u64>,
    /// Infers the types of an op's results and refines them. OK also if nothing is known.
    pub infer: Option<unsafe extern "C" fn(*mut Context, *mut Function, OpId) -> Status>,
    /// Evaluates an op whose operands are all constant and makes constants of its results, one per
    /// result; NOT_FOUND if it can't be evaluated (`last_error` says why).
    pub evaluate: Option<
        unsafe extern "C" fn(
            *mut Context,
            *mut Function,
            OpId,
            *const EvaluateDesc,
            out: *mut ValueId,
            count: usize,
        ) -> Status,
    >,
    /// Copies the body that an op's definition gives it to the place before the op, and answers what
    /// stands for each of its results; the op stays. NOT_FOUND if it has none (`last_error` says
    /// why).
    pub decompose: Option<
        unsafe extern "C" fn(
            *mut Context,
            *mut Function,
            OpId,
            out: *mut ValueId,
            count: usize,
        ) -> Status,
    >,
    /// As `evaluate`, with these in place of the op's operands. The constants are scratch until an op
    /// uses them. NOT_FOUND: `last_error` is the reason alone.
    pub evaluate_with: Option<
        unsafe extern "C" fn(
            *mut Context,
            *mut Function,
            OpId,
            operands: *const ValueId,
            operand_count: usize,
            *const EvaluateDesc,
            out: *mut ValueId,
            count: usize,
        ) -> Status,
    >,
    /// The elements of a result, a small tensor of integers, that `infer` found while this pass had
    /// the function. NOT_FOUND if nothing is known.
    pub known_dims: Option<
        unsafe extern "C" fn(
            *const Function,
            ValueId,
            out: *mut *const Dim,
            count: *mut usize,
        ) -> Status,
    >,
    /// REFUSED if an op hasn't as many operands as its definition says, or not the attributes that it
    /// lists (`last_error` says in what); OK also if nothing is known.
    pub check_op: Option<unsafe extern "C" fn(*mut Context, *const Function, OpId) -> Status>,
    /// REFUSED if an op couldn't be right with these in place of its operands: its definition's `infer`
    /// is asked, and nothing that it says is kept. `last_error` is the reason alone.
    pub infer_with: Option<
        unsafe extern "C" fn(
            *mut Context,
            *mut Function,
            OpId,
            operands: *const ValueId,
            operand_count: usize,
        ) -> Status,
    >,
    /// The attributes that an op's definition lists, with their defaults, which live for ever. NOT_FOUND
    /// if nothing is known.
    pub attributes: Option<
        unsafe extern "C" fn(
            *mut Context,
            *const Function,
            OpId,
            out: *mut *const AttrEntry,
            count: *mut u32,
            stride: *mut u32,
        ) -> Status,
    >,
    /// As `decompose`, with the body that an op's definition gives it for back ends.
    pub legalize: Option<
        unsafe extern "C" fn(
            *mut Context,
            *mut Function,
            OpId,
            out: *mut ValueId,
            count: usize,
        ) -> Status,
    >,
    /// What an op's definition makes of it in other layouts: `wanted` has one for each operand, empty: as it is.
    /// The texts live until the next call of this or `alter_layout` on the function. NOT_FOUND if it stays as it is
    /// (`last_error` is the reason alone).
    pub layout: Option<
        unsafe extern "C" fn(
            *mut Context,
            *mut Function,
            OpId,
            wanted: *const Str,
            count: usize,
            out: *mut LaidOut,
        ) -> Status,
    >,
    /// As `layout`, in the layouts that the op's definition wants; `given` has those that its operands have.
    pub alter_layout: Option<
        unsafe extern "C" fn(
            *mut Context,
            *mut Function,
            OpId,
            given: *const Str,
            count: usize,
            out: *mut LaidOut,
        ) -> Status,
    >,
    /// Copies ops as text to the place before an op.
    pub insert_text:
        Option<unsafe extern "C" fn(*mut Context, *mut Function, *const TextDesc) -> Status>,
    /// Whether a target takes an op, as the definitions of its operator say that speak for the target. REFUSED if it
    /// doesn't: `last_error` is the reason alone. NOT_FOUND if no definition speaks for the target. Another status: one failed.
    pub supports:
        Option<unsafe extern "C" fn(*mut Context, *const Function, OpId, target: Str) -> Status>,
}

/// Answering in an op definition: the handle is the one that `infer`, or another function of an
/// `OpEntry` got, until it returns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DefinitionApi {
    /// Bytes of this struct as the host knows it.
    pub struct_size: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// The sentence of the last call on this handle that didn't answer OK; lives until the next.
    pub last_error: Option<unsafe extern "C" fn(*const OpCall) -> Str>,
    /// Sets the type of a result. INVALID, as of the others, if the op has none of this index.
    pub set_result_type:
        Option<unsafe extern "C" fn(*mut OpCall, index: u32, *const TypeDesc) -> Status>,
    /// Sets the elements of a result, a small tensor of integers or booleans, row by row. More than 256 may be dropped.
    pub set_result_dims:
        Option<unsafe extern "C" fn(*mut OpCall, index: u32, *const Dim, count: usize) -> Status>,
    /// The elements of an operand as dims, as far as they are known; NOT_FOUND if nothing is.
    pub operand_dims: Option<
        unsafe extern "C" fn(
            *mut OpCall,
            index: u32,
            out: *mut *const Dim,
            count: *mut usize,
        ) -> Status,
    >,
    /// Interns a dim expression in canonical form.
    pub add_expr:
        Option<unsafe extern "C" fn(*mut OpCall, ExprKind, Dim, Dim, out: *mut Dim) -> Status>,
    /// Interns a type, to be used in another.
    pub add_type:
        Option<unsafe extern "C" fn(*mut OpCall, *const TypeDesc, out: *mut TypeId) -> Status>,
    /// Makes room for a result, to be filled before returning; in an evaluation.
    pub allocate_result: Option<
        unsafe extern "C" fn(
            *mut OpCall,
            index: u32,
            *const TypeDesc,
            len: usize,
            out: *mut *mut u8,
        ) -> Status,
    >,
    /// Tells why the definition has no answer (not folded), or what is wrong with the op (infer).
    pub refuse: Option<unsafe extern "C" fn(*mut OpCall, reason: Str)>,
    /// In a decomposition: the op's body, the IR text of one function. Its parameter `i` is the op's
    /// operand slot `i`, its first results are the op's. Its opsets are those of the op's function
    pub set_body: Option<unsafe extern "C" fn(*mut OpCall, text: Str) -> Status>,
    /// In a definition's `layout` or `alter_layout`: the layout that an operand is asked for in, or has; NOT_FOUND if
    /// it is as it is.
    pub wanted_layout:
        Option<unsafe extern "C" fn(*mut OpCall, index: u32, out: *mut Str) -> Status>,
    /// The same: sets the layout in which the body takes an operand; empty: as it is.
    pub set_operand_layout:
        Option<unsafe extern "C" fn(*mut OpCall, index: u32, layout: Str) -> Status>,
    /// The same: sets the layout in which the body gives a result; empty: as it is.
    pub set_result_layout:
        Option<unsafe extern "C" fn(*mut OpCall, index: u32, layout: Str) -> Status>,
    /// In a definition's `supports`: the target that is asked about; lives until the definition returns.
    pub target: Option<unsafe extern "C" fn(*mut OpCall, out: *mut Str) -> Status>,
}
