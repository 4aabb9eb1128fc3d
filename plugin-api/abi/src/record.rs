//! The records of a function's arenas, as they lie in memory.
//!
//! Records hold ids and offsets, never pointers: a function can be viewed in place, copied, hashed
//! or sent to another process as it is.

use crate::dtype::DType;
use crate::ids::*;

/// `len` entries of a pool, from `start`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Range {
    /// The first entry.
    pub start: u32,
    /// How many.
    pub len: u32,
}

impl Range {
    /// No entries.
    pub const EMPTY: Range = Range { start: 0, len: 0 };
}

/// An op. Its meaning is its name and the function's version of the name's domain.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// The canonical spelling, domain included: `onnx.Conv`, `return`.
    pub name: SymbolId,
    /// [`Op::DEAD`], [`Op::TOUCHED`].
    pub flags: u32,
    /// Slots in `uses`.
    pub operands: Range,
    /// Value ids in `ids`.
    pub results: Range,
    /// In `attrs`.
    pub attrs: Range,
    /// Region ids in `ids`.
    pub regions: Range,
    /// The region that holds it.
    pub parent: RegionId,
    /// The op before it in its region.
    pub prev: OpId,
    /// The op after it.
    pub next: OpId,
    /// Where it comes from.
    pub loc: LocId,
    /// Orders the ops of one region: `a` stands before `b` if `a.order < b.order`.
    pub order: u64,
}

impl Op {
    /// Erased; every use of the id is an error.
    pub const DEAD: u32 = 1;
    /// Its own fields changed since it was imported; its regions say so for themselves.
    pub const TOUCHED: u32 = 2;
}

/// A value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its type.
    pub ty: TypeId,
    /// Its name, or NONE.
    pub name: SymbolId,
    /// One of [`Value::RESULT`], [`Value::ARG`], [`Value::CONST`] in the low bits, and flags.
    pub flags: u32,
    /// The op id, region id or constant id that defines it.
    pub def: u32,
    /// Which result or argument.
    pub index: u32,
    /// The head of its use list.
    pub first_use: UseId,
    /// The length of its use list.
    pub use_count: u32,
    /// The constant it is, or the default of an overridable parameter.
    pub constant: ConstId,
}

impl Value {
    /// Mask of the kind.
    pub const KIND: u32 = 3;
    /// An op's result.
    pub const RESULT: u32 = 0;
    /// A region's argument.
    pub const ARG: u32 = 1;
    /// A constant.
    pub const CONST: u32 = 2;
    /// Gone.
    pub const DEAD: u32 = 4;
    /// Changed since it was imported.
    pub const TOUCHED: u32 = 8;
    /// A result that its op leaves out.
    pub const ABSENT: u32 = 16;
    /// Its type was declared in the imported file, so export declares it again.
    pub const DECLARED: u32 = 32;
    /// A constant that `evaluate_with` made and that nobody has used yet: no part of the function
    /// (ABI 0.3).
    pub const SCRATCH: u32 = 64;
}

/// An operand slot.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The value, or NONE for an operand left out.
    pub value: ValueId,
    /// The op that has the slot; NONE for a slot that is no longer used.
    pub user: OpId,
    /// The next use of the value.
    pub next: UseId,
    /// The previous one.
    pub prev: UseId,
}

/// A region: arguments, ops in order, a terminator.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The op that holds it; NONE for the body.
    pub parent: OpId,
    /// Its name among its op's regions (`then_branch`).
    pub name: SymbolId,
    /// Value ids in `ids`.
    pub args: Range,
    /// In `ports`: the names and types its terminator's operands go out by.
    pub ports: Range,
    /// The first op.
    pub first: OpId,
    /// The last op, its terminator once it is whole.
    pub last: OpId,
    /// [`Region::DEAD`], [`Region::TOUCHED`].
    pub flags: u32,
    /// Where it comes from.
    pub loc: LocId,
}

impl Region {
    /// Gone.
    pub const DEAD: u32 = 1;
    /// Something in it, at any depth, changed since it was imported.
    pub const TOUCHED: u32 = 2;
}

/// What a region gives out at one position.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The name, or NONE.
    pub name: SymbolId,
    /// The declared type, or NONE.
    pub ty: TypeId,
    /// [`Port::TOUCHED`].
    pub flags: u32,
    /// 0.
    pub reserved: u32,
}

impl Port {
    /// Changed since it was imported.
    pub const TOUCHED: u32 = 2;
}

/// How an attribute's value is kept.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttrKind(pub u32);

#[allow(missing_docs)]
impl AttrKind {
    /// An attribute parameter without a default.
    pub const NONE: AttrKind = AttrKind(0);
    /// `bits` is an i64.
    pub const INT: AttrKind = AttrKind(1);
    /// The low half of `bits` is an f32.
    pub const FLOAT: AttrKind = AttrKind(2);
    /// `list` is a range of `bytes`.
    pub const STRING: AttrKind = AttrKind(3);
    /// `bits` is a constant id.
    pub const TENSOR: AttrKind = AttrKind(4);
    /// `bits` is a type id.
    pub const TYPE: AttrKind = AttrKind(5);
    /// `bits` is a region id of the op.
    pub const REGION: AttrKind = AttrKind(6);
    /// `list` is a range of `ints`.
    pub const INTS: AttrKind = AttrKind(7);
    /// `list` is a range of `floats`.
    pub const FLOATS: AttrKind = AttrKind(8);
    /// `list` is a range of `strings`.
    pub const STRINGS: AttrKind = AttrKind(9);
    /// `list` is a range of `ids`, constants.
    pub const TENSORS: AttrKind = AttrKind(10);
    /// `list` is a range of `ids`, types.
    pub const TYPES: AttrKind = AttrKind(11);
    /// `list` is a range of `ids`, regions of the op.
    pub const REGIONS: AttrKind = AttrKind(12);
    /// `bits` is the symbol of an attribute parameter of the function.
    pub const REFERENCE: AttrKind = AttrKind(13);
    /// `list` is a range of `bytes` in a format of the importer's, kept as it is.
    pub const OPAQUE: AttrKind = AttrKind(14);
}

/// An attribute.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attr {
    /// Its name.
    pub name: SymbolId,
    /// How its value is kept.
    pub kind: AttrKind,
    /// A value that fits.
    pub bits: u64,
    /// A value that doesn't.
    pub list: Range,
    /// [`Attr::PARAM`]; for a reference, in the upper half, the kind it stands for.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
}

impl Attr {
    /// Of a function: a parameter that callers may set.
    pub const PARAM: u32 = 1;
}

/// What a type is.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeKind(pub u32);

impl TypeKind {
    /// Nothing is known.
    pub const UNKNOWN: TypeKind = TypeKind(0);
    /// `dtype`, `dims` (or [`Type::UNRANKED`]).
    pub const TENSOR: TypeKind = TypeKind(1);
    /// `dtype`, `lanes`.
    pub const SCALAR: TypeKind = TypeKind(2);
    /// `dtype`, `dims` = shape, `aux` = strides and offset in `dims` (empty: compact), `name` = scope.
    pub const BUFFER: TypeKind = TypeKind(3);
    /// `aux` = type ids.
    pub const TUPLE: TypeKind = TypeKind(4);
    /// `aux` = one type id.
    pub const SEQUENCE: TypeKind = TypeKind(5);
    /// `aux` = one type id.
    pub const OPTIONAL: TypeKind = TypeKind(6);
    /// `dtype` = key, `aux` = one type id, the value.
    pub const MAP: TypeKind = TypeKind(7);
    /// `name` = its canonical name.
    pub const OPAQUE: TypeKind = TypeKind(8);
    /// `aux` = parameter types, then as many as `lanes` says of them are results.
    pub const FUNCTION: TypeKind = TypeKind(9);
    /// A sparse tensor: `dtype`, `dims`.
    pub const SPARSE: TypeKind = TypeKind(10);
}

/// A type.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Its element type.
    pub dtype: DType,
    /// Vector lanes of a scalar, else 0.
    pub lanes: u32,
    /// [`Type::UNRANKED`], [`Type::MAY_ALIAS`].
    pub flags: u32,
    /// In `dims`.
    pub dims: Range,
    /// By kind: in `dims` or in `ids`.
    pub aux: Range,
    /// By kind; the denotation of a tensor.
    pub name: SymbolId,
    /// 0.
    pub reserved: u32,
}

impl Type {
    /// A tensor whose rank isn't known.
    pub const UNRANKED: u32 = 1;
    /// A buffer that other buffers may overlap.
    pub const MAY_ALIAS: u32 = 2;
}

/// What a dim is.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DimKind(pub u32);

impl DimKind {
    /// `?`: equal to nothing, itself included.
    pub const UNKNOWN: DimKind = DimKind(0);
    /// `value` is the size.
    pub const CONST: DimKind = DimKind(1);
    /// `value` is a symbol id, scoped to the function.
    pub const SYMBOL: DimKind = DimKind(2);
    /// `value` is an expression id.
    pub const EXPR: DimKind = DimKind(3);
}

/// One dim.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim {
    /// What it is.
    pub kind: DimKind,
    /// ONNX's denotation of it, or NONE.
    pub denotation: SymbolId,
    /// By kind.
    pub value: i64,
}

impl Dim {
    /// `?`.
    pub const UNKNOWN: Dim = Dim {
        kind: DimKind::UNKNOWN,
        denotation: SymbolId::NONE,
        value: 0,
    };

    /// A size.
    pub const fn constant(value: i64) -> Dim {
        Dim {
            kind: DimKind::CONST,
            denotation: SymbolId::NONE,
            value,
        }
    }

    /// A symbol.
    pub const fn symbol(name: SymbolId) -> Dim {
        Dim {
            kind: DimKind::SYMBOL,
            denotation: SymbolId::NONE,
            value: name.0 as i64,
        }
    }

    /// The size, if it is one.
    pub const fn as_const(self) -> Option<i64> {
        if self.kind.0 == DimKind::CONST.0 {
            Some(self.value)
        } else {
            None
        }
    }

    /// The symbol, if it is one.
    pub const fn as_symbol(self) -> Option<SymbolId> {
        if self.kind.0 == DimKind::SYMBOL.0 {
            Some(SymbolId(self.value as u32))
        } else {
            None
        }
    }
}

/// How a dim expression combines its sides.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExprKind(pub u32);

#[allow(missing_docs)]
impl ExprKind {
    pub const ADD: ExprKind = ExprKind(1);
    pub const MUL: ExprKind = ExprKind(2);
    pub const FLOORDIV: ExprKind = ExprKind(3);
    pub const MOD: ExprKind = ExprKind(4);
    pub const MIN: ExprKind = ExprKind(5);
    pub const MAX: ExprKind = ExprKind(6);
    /// What two sizes broadcast to: the other one of one that is 1 (ABI 0.3).
    pub const BROADCAST: ExprKind = ExprKind(7);
}

/// A dim expression, interned in canonical form.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DimExpr {
    /// How.
    pub kind: ExprKind,
    /// 0.
    pub reserved: u32,
    /// The left side.
    pub lhs: Dim,
    /// The right side.
    pub rhs: Dim,
}

/// Where a constant's bytes are.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Storage(pub u32);

impl Storage {
    /// In memory.
    pub const INLINE: Storage = Storage(1);
    /// In the mapped model file.
    pub const MAPPED: Storage = Storage(2);
    /// In another file.
    pub const EXTERNAL: Storage = Storage(3);
    /// One element that fills the shape.
    pub const SPLAT: Storage = Storage(4);
}

/// A constant. Its bytes are read through `FunctionApi::constant_data`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The value it is, or the parameter whose default it is; NONE for an attribute's tensor.
    pub value: ValueId,
    /// A tensor type of known shape.
    pub ty: TypeId,
    /// The region it is visible in.
    pub region: RegionId,
    /// Where its bytes are.
    pub storage: Storage,
    /// [`Constant::DEAD`], [`Constant::TOUCHED`], [`Constant::NODE`].
    pub flags: u32,
    /// Where it comes from.
    pub loc: LocId,
    /// For one that was an op in the file: the op it stood before.
    pub anchor: OpId,
    /// 0.
    pub reserved: u32,
    /// Bytes of its data, all elements (also of a splat).
    pub byte_len: u64,
}

impl Constant {
    /// Gone.
    pub const DEAD: u32 = 1;
    /// Changed since it was imported.
    pub const TOUCHED: u32 = 2;
    /// Was a `Constant` node in the file, and goes out as one.
    pub const NODE: u32 = 4;
}

/// The version of a domain that a function's ops mean.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opset {
    /// `""` is ONNX's own.
    pub domain: SymbolId,
    /// 0.
    pub reserved: u32,
    /// Its version.
    pub version: i64,
}

/// What a location is.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocKind(pub u32);

impl LocKind {
    /// `name` is an ONNX node's name.
    pub const NAME: LocKind = LocKind(1);
    /// `name` is a file, `a` a line, `b` a column, both from 1.
    pub const TEXT: LocKind = LocKind(2);
    /// `a` = start and `b` = length in `ids`: it came from these locations.
    pub const FUSED: LocKind = LocKind(3);
}

/// A location.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loc {
    /// What it is.
    pub kind: LocKind,
    /// By kind.
    pub name: SymbolId,
    /// By kind.
    pub a: u32,
    /// By kind.
    pub b: u32,
}
