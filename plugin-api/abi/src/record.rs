//! The records of a function's arenas, as they lie in memory.
//!
//! Records hold ids and offsets, never pointers: a function can be viewed in place, copied, hashed
//! or sent to another process as it is.

use crate::dtype::DType;
use crate::ids::*;

/// A range of a pool: `len` entries from `start`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Range {
    /// The first entry.
    pub start: u32,
    /// The number of entries.
    pub len: u32,
}

impl Range {
    /// A range without entries.
    pub const EMPTY: Range = Range { start: 0, len: 0 };
}

/// An op. Its meaning is its name and the function's version of the name's domain.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// The canonical spelling, domain included: `onnx.Conv`, `return`.
    pub name: SymbolId,
    /// Flags: [`Op::DEAD`], [`Op::TOUCHED`], [`Op::ANNOTATED`].
    pub flags: u32,
    /// The operands: slots in `uses`.
    pub operands: Range,
    /// The results: value ids in `ids`.
    pub results: Range,
    /// The attributes, in `attrs`.
    pub attrs: Range,
    /// The regions: region ids in `ids`.
    pub regions: Range,
    /// The region that holds it.
    pub parent: RegionId,
    /// The op before it in its region.
    pub prev: OpId,
    /// The op after it.
    pub next: OpId,
    /// The location that it comes from.
    pub loc: LocId,
    /// The order among the ops of one region: `a` stands before `b` if `a.order < b.order`.
    pub order: u64,
}

impl Op {
    /// The op is erased; every use of the id is an error.
    pub const DEAD: u32 = 1;
    /// Fields of the op changed since it was imported; its regions say so for themselves.
    pub const TOUCHED: u32 = 2;
    /// Its file says more of it than its record does: documentation, metadata.
    pub const ANNOTATED: u32 = 4;
}

/// A value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The value's type.
    pub ty: TypeId,
    /// The value's name, or NONE.
    pub name: SymbolId,
    /// The kind ([`Value::RESULT`], [`Value::ARG`] or [`Value::CONST`]) in the low bits, and flags.
    pub flags: u32,
    /// The op id, region id or constant id that defines it.
    pub def: u32,
    /// The index of the result or argument.
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
    pub const KIND: u32 = 15;
    /// An op's result.
    pub const RESULT: u32 = 0;
    /// A region's argument.
    pub const ARG: u32 = 1;
    /// A constant.
    pub const CONST: u32 = 2;
    /// The value is gone.
    pub const DEAD: u32 = 16;
    /// The value changed since it was imported.
    pub const TOUCHED: u32 = 32;
    /// A result that its op leaves out.
    pub const ABSENT: u32 = 64;
    /// The type was declared in the imported file, so export declares it again.
    pub const DECLARED: u32 = 128;
    /// A constant that `evaluate_with` made and that nobody has used yet: no part of the function.
    pub const SCRATCH: u32 = 256;
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
    /// The region's name among its op's regions (`then_branch`).
    pub name: SymbolId,
    /// The arguments: value ids in `ids`.
    pub args: Range,
    /// The ports, in `ports`: the names and types its terminator's operands go out by.
    pub ports: Range,
    /// The first op.
    pub first: OpId,
    /// The last op, its terminator once it is whole.
    pub last: OpId,
    /// Flags: [`Region::DEAD`], [`Region::TOUCHED`].
    pub flags: u32,
    /// The location that it comes from.
    pub loc: LocId,
}

impl Region {
    /// The region is gone.
    pub const DEAD: u32 = 1;
    /// The region changed since it was imported, at any depth.
    pub const TOUCHED: u32 = 2;
}

/// A port: what a region gives out at one position.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The name, or NONE.
    pub name: SymbolId,
    /// The declared type, or NONE.
    pub ty: TypeId,
    /// Flags: [`Port::TOUCHED`].
    pub flags: u32,
    /// Reserved: 0.
    pub reserved: u32,
}

impl Port {
    /// The port changed since it was imported.
    pub const TOUCHED: u32 = 2;
}

/// The kind of an attribute's value, which says how it is kept.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttrKind(pub u32);

#[allow(missing_docs)]
impl AttrKind {
    /// An attribute parameter without a default.
    pub const NONE: AttrKind = AttrKind(0);
    /// An integer: `bits` is an i64.
    pub const INT: AttrKind = AttrKind(1);
    /// A float: the low half of `bits` is an f32.
    pub const FLOAT: AttrKind = AttrKind(2);
    /// A string: `list` is a range of `bytes`.
    pub const STRING: AttrKind = AttrKind(3);
    /// A tensor: `bits` is a constant id.
    pub const TENSOR: AttrKind = AttrKind(4);
    /// A type: `bits` is its id.
    pub const TYPE: AttrKind = AttrKind(5);
    /// A region of the op: `bits` is its id.
    pub const REGION: AttrKind = AttrKind(6);
    /// Integers: `list` is a range of `ints`.
    pub const INTS: AttrKind = AttrKind(7);
    /// Floats: `list` is a range of `floats`.
    pub const FLOATS: AttrKind = AttrKind(8);
    /// Strings: `list` is a range of `strings`.
    pub const STRINGS: AttrKind = AttrKind(9);
    /// Tensors: `list` is a range of `ids`, constants.
    pub const TENSORS: AttrKind = AttrKind(10);
    /// Types: `list` is a range of `ids`.
    pub const TYPES: AttrKind = AttrKind(11);
    /// Regions of the op: `list` is a range of `ids`.
    pub const REGIONS: AttrKind = AttrKind(12);
    /// A reference: `bits` is the symbol of an attribute parameter of the function.
    pub const REFERENCE: AttrKind = AttrKind(13);
    /// An opaque value: `list` is a range of `bytes` in a format of the importer's, kept as it is.
    pub const OPAQUE: AttrKind = AttrKind(14);
}

/// An attribute.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attr {
    /// The attribute's name.
    pub name: SymbolId,
    /// The kind of its value.
    pub kind: AttrKind,
    /// The value, if it fits.
    pub bits: u64,
    /// The value, if it doesn't fit in `bits`.
    pub list: Range,
    /// Flags: [`Attr::PARAM`].
    pub flags: u32,
    /// The kind of value that a reference stands for, if it is known; else NONE.
    pub stands_for: AttrKind,
}

impl Attr {
    /// The attribute is a parameter of its function, which callers may set.
    pub const PARAM: u32 = 1;
}

/// The kind of a type.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeKind(pub u32);

impl TypeKind {
    /// The unknown type.
    pub const UNKNOWN: TypeKind = TypeKind(0);
    /// A tensor: `dtype`, `dims` (or [`Type::UNRANKED`]).
    pub const TENSOR: TypeKind = TypeKind(1);
    /// A scalar: `dtype`, `lanes`.
    pub const SCALAR: TypeKind = TypeKind(2);
    /// A buffer: `dtype`, `dims` = shape, `aux` = strides and offset in `dims` (empty: compact),
    /// `name` = scope.
    pub const BUFFER: TypeKind = TypeKind(3);
    /// A tuple: `aux` = type ids.
    pub const TUPLE: TypeKind = TypeKind(4);
    /// A sequence: `aux` = one type id.
    pub const SEQUENCE: TypeKind = TypeKind(5);
    /// An optional value: `aux` = one type id.
    pub const OPTIONAL: TypeKind = TypeKind(6);
    /// A map: `dtype` = key, `aux` = one type id, the value.
    pub const MAP: TypeKind = TypeKind(7);
    /// An opaque type: `name` = its canonical name.
    pub const OPAQUE: TypeKind = TypeKind(8);
    /// A function type: `aux` = parameter types, then as many as `lanes` says of them are results.
    pub const FUNCTION: TypeKind = TypeKind(9);
    /// A sparse tensor: `dtype`, `dims`.
    pub const SPARSE: TypeKind = TypeKind(10);
}

/// A type.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// The type's kind.
    pub kind: TypeKind,
    /// The element type.
    pub dtype: DType,
    /// Vector lanes of a scalar, else 0.
    pub lanes: u32,
    /// Flags: [`Type::UNRANKED`], [`Type::MAY_ALIAS`].
    pub flags: u32,
    /// The shape, in `dims`.
    pub dims: Range,
    /// More dims or ids, by kind: in `dims` or in `ids`.
    pub aux: Range,
    /// A name, by kind; the denotation of a tensor.
    pub name: SymbolId,
    /// Reserved: 0.
    pub reserved: u32,
}

impl Type {
    /// A tensor whose rank isn't known.
    pub const UNRANKED: u32 = 1;
    /// A buffer that other buffers may overlap.
    pub const MAY_ALIAS: u32 = 2;
}

/// The kind of a dim.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DimKind(pub u32);

impl DimKind {
    /// The unknown size `?`: equal to nothing, itself included.
    pub const UNKNOWN: DimKind = DimKind(0);
    /// A constant: `value` is the size.
    pub const CONST: DimKind = DimKind(1);
    /// A symbol: `value` is its id, scoped to the function.
    pub const SYMBOL: DimKind = DimKind(2);
    /// An expression: `value` is its id.
    pub const EXPR: DimKind = DimKind(3);
}

/// A dim of a shape.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim {
    /// The dim's kind.
    pub kind: DimKind,
    /// ONNX's denotation of it, or NONE.
    pub denotation: SymbolId,
    /// The size or id, by kind.
    pub value: i64,
}

impl Dim {
    /// The unknown dim `?`.
    pub const UNKNOWN: Dim = Dim {
        kind: DimKind::UNKNOWN,
        denotation: SymbolId::NONE,
        value: 0,
    };

    /// A constant dim.
    pub const fn constant(value: i64) -> Dim {
        Dim {
            kind: DimKind::CONST,
            denotation: SymbolId::NONE,
            value,
        }
    }

    /// A symbolic dim.
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

/// The operation of a dim expression.
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
    /// The size that two sizes broadcast to: the other one of one that is 1.
    pub const BROADCAST: ExprKind = ExprKind(7);
}

/// A dim expression, interned in canonical form.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DimExpr {
    /// The operation.
    pub kind: ExprKind,
    /// Reserved: 0.
    pub reserved: u32,
    /// The left side.
    pub lhs: Dim,
    /// The right side.
    pub rhs: Dim,
}

/// The storage of a constant's bytes.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Storage(pub u32);

impl Storage {
    /// Memory.
    pub const INLINE: Storage = Storage(1);
    /// The mapped model file.
    pub const MAPPED: Storage = Storage(2);
    /// Another file.
    pub const EXTERNAL: Storage = Storage(3);
    /// A splat: one element that fills the shape.
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
    /// The storage of its bytes.
    pub storage: Storage,
    /// Flags: [`Constant::DEAD`], [`Constant::TOUCHED`], [`Constant::NODE`], [`Constant::KEPT`].
    pub flags: u32,
    /// The location that it comes from.
    pub loc: LocId,
    /// The op before which it stood, if it was an op in the file.
    pub anchor: OpId,
    /// Reserved: 0.
    pub reserved: u32,
    /// Bytes of its data, all elements (also of a splat).
    pub byte_len: u64,
}

impl Constant {
    /// The constant is gone.
    pub const DEAD: u32 = 1;
    /// The constant changed since it was imported.
    pub const TOUCHED: u32 = 2;
    /// The constant was a `Constant` node in the file, and goes out as one.
    pub const NODE: u32 = 4;
    /// The constant is in the file's interface (before ONNX's IR version 4, an initializer is an input), and its bytes
    /// stay in the file when nobody uses it and it is gone.
    pub const KEPT: u32 = 8;
}

/// The version of a domain that a function's ops mean.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opset {
    /// The domain; `""` is ONNX's own.
    pub domain: SymbolId,
    /// Reserved: 0.
    pub reserved: u32,
    /// The domain's version.
    pub version: i64,
}

/// The kind of a location.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocKind(pub u32);

impl LocKind {
    /// A node: `name` is an ONNX node's name.
    pub const NAME: LocKind = LocKind(1);
    /// A place in a text: `name` is a file, `a` a line, `b` a column, both from 1.
    pub const TEXT: LocKind = LocKind(2);
    /// Several locations that it came from: `a` = start and `b` = length in `ids`.
    pub const FUSED: LocKind = LocKind(3);
}

/// A location.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loc {
    /// The location's kind.
    pub kind: LocKind,
    /// A name, by kind.
    pub name: SymbolId,
    /// A number, by kind.
    pub a: u32,
    /// A number, by kind.
    pub b: u32,
}
