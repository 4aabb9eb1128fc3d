//! What a plugin hands over to edit: borrowed for the call, copied by the host.
//!
//! Each starts with `struct_size`, and beside an array of such structs stands its stride. Arrays of
//! ids, dims and texts are dense. [`Position`] is final.

use crate::dtype::DType;
use crate::ids::*;
use crate::record::{AttrKind, Dim, TypeKind};
use crate::view::{Bytes, FunctionKind, FunctionRef, Str};

/// The place of an op to create or move.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The region; ignored if `before` is set.
    pub region: RegionId,
    /// The op that comes after it; NONE: it goes to the region's end, before its terminator if it
    /// has one.
    pub before: OpId,
}

impl Position {
    /// The place before an op.
    pub const fn before(op: OpId) -> Position {
        Position {
            region: RegionId::NONE,
            before: op,
        }
    }

    /// The place at a region's end, before its terminator if it has one.
    pub const fn end_of(region: RegionId) -> Position {
        Position {
            region,
            before: OpId::NONE,
        }
    }
}

/// A type to intern.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TypeDesc {
    /// `size_of::<TypeDesc>()` of the caller.
    pub struct_size: u32,
    /// The type's kind, as in `Type`.
    pub kind: TypeKind,
    /// The element type, as in `Type`.
    pub dtype: DType,
    /// The lanes, as in `Type`.
    pub lanes: u32,
    /// Flags, as in `Type`.
    pub flags: u32,
    /// A name, as in `Type`.
    pub name: SymbolId,
    /// The shape.
    pub dims: *const Dim,
    /// The number of dims.
    pub dim_count: usize,
    /// A buffer's strides and, last, its offset.
    pub layout: *const Dim,
    /// The number of entries of the layout.
    pub layout_count: usize,
    /// Types it is made of.
    pub items: *const TypeId,
    /// The number of items.
    pub item_count: usize,
}

/// An attribute to set. `kind` says which field is read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AttrDesc {
    /// `size_of::<AttrDesc>()` of the caller.
    pub struct_size: u32,
    /// The kind of its value.
    pub kind: AttrKind,
    /// The attribute's name.
    pub name: SymbolId,
    /// Flags, as in `Attr`.
    pub flags: u32,
    /// INT; FLOAT (the f32's bits, the rest 0); TENSOR, TYPE, REFERENCE (an id).
    pub bits: u64,
    /// INTS: `i64`; FLOATS: `f32`; STRING, OPAQUE: `u8`; STRINGS: `Bytes`; TYPES: `TypeId`;
    /// TENSORS: `ConstId`.
    pub data: *const core::ffi::c_void,
    /// Elements of `data`.
    pub count: usize,
    /// REFERENCE: the kind of value that it stands for, or NONE, as else.
    pub stands_for: AttrKind,
    /// Reserved: 0.
    pub reserved: u32,
}

/// A port to make: a result of a region, or a parameter of a function, at one position.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PortDesc {
    /// `size_of::<PortDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: none yet.
    pub flags: u32,
    /// The port's type, or NONE.
    pub ty: TypeId,
    /// Reserved: 0.
    pub reserved: u32,
    /// A name; empty: none.
    pub name: Str,
}

/// The results to give a region.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ResultsDesc {
    /// `size_of::<ResultsDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: none yet.
    pub flags: u32,
    /// The values.
    pub values: *const ValueId,
    /// The port of each value.
    pub ports: *const PortDesc,
    /// The number of values, and of ports.
    pub count: usize,
    /// Bytes from one port to the next.
    pub port_stride: u32,
    /// Reserved: 0.
    pub reserved: u32,
}

/// A region to create, empty.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RegionDesc {
    /// `size_of::<RegionDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: none yet.
    pub flags: u32,
    /// The region's name among the op's regions.
    pub name: SymbolId,
    /// Bytes from one argument to the next.
    pub arg_stride: u32,
    /// The region's arguments.
    pub args: *const PortDesc,
    /// The number of arguments.
    pub arg_count: usize,
}

/// An op to create.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct OpDesc {
    /// `size_of::<OpDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: [`OpDesc::TAKE_REGIONS`], [`OpDesc::TAKE_ATTRS`].
    pub flags: u32,
    /// The op's canonical name.
    pub name: SymbolId,
    /// The op's location; NONE: for `replace_op`, that of the replaced op.
    pub loc: LocId,
    /// The operands; NONE entries are left out.
    pub operands: *const ValueId,
    /// The number of operands.
    pub operand_count: usize,
    /// The type of each result; NONE: for `replace_op`, that of the replaced result, else unknown.
    pub result_types: *const TypeId,
    /// The number of results.
    pub result_count: usize,
    /// Attributes.
    pub attrs: *const AttrDesc,
    /// The number of attributes.
    pub attr_count: usize,
    /// Regions to create.
    pub regions: *const RegionDesc,
    /// The number of regions.
    pub region_count: usize,
    /// Bytes from one attribute to the next.
    pub attr_stride: u32,
    /// Bytes from one region to the next.
    pub region_stride: u32,
}

impl OpDesc {
    /// The new op of a `replace_op` takes the regions of the replaced one over.
    pub const TAKE_REGIONS: u32 = 1;
    /// The new op of a `replace_op` takes the attributes of the replaced one over, before `attrs`.
    pub const TAKE_ATTRS: u32 = 2;
}

/// A constant to create.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ConstantDesc {
    /// `size_of::<ConstantDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: [`ConstantDesc::SPLAT`].
    pub flags: u32,
    /// A tensor type whose dims are all constant.
    pub ty: TypeId,
    /// The region that it is visible in; NONE: the whole function.
    pub region: RegionId,
    /// A name; empty: none. One that is taken gets a number.
    pub name: Str,
    /// The elements, little-endian, packed as ONNX packs them; strings: `n + 1` `u64` offsets, then
    /// the bytes they bound.
    pub data: Bytes,
}

impl ConstantDesc {
    /// `data` is one element.
    pub const SPLAT: u32 = 1;
}

/// A region to copy, without its terminator, to a place in a function.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CloneDesc {
    /// `size_of::<CloneDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: none yet.
    pub flags: u32,
    /// The region to copy.
    pub region: RegionId,
    /// Reserved: 0.
    pub reserved: u32,
    /// The function that holds it; a null handle: the one that is edited.
    pub source: FunctionRef,
    /// The place that its ops go to.
    pub at: Position,
    /// The values that stand for its arguments.
    pub args: *const ValueId,
    /// The number of arguments: as many as the region has.
    pub arg_count: usize,
    /// Pairs (value of the source seen from inside, value here). From the same function, what isn't
    /// named stands for itself.
    pub captures: *const [ValueId; 2],
    /// The number of pairs.
    pub capture_count: usize,
    /// Receives what stands for each operand of its terminator.
    pub results: *mut ValueId,
    /// The number of results that fit: as many as its terminator has operands.
    pub result_count: usize,
}

/// Ops to copy, with what is nested in them, to a place in a function.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CloneOpsDesc {
    /// `size_of::<CloneOpsDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: none yet.
    pub flags: u32,
    /// The function that holds them; a null handle: the one that is edited.
    pub source: FunctionRef,
    /// The ops, of one region, in any order.
    pub ops: *const OpId,
    /// The number of ops.
    pub op_count: usize,
    /// The place that the copies go to.
    pub at: Position,
    /// Pairs (value that the ops use and don't make, value here).
    pub captures: *const [ValueId; 2],
    /// The number of captures.
    pub capture_count: usize,
    /// Receives what stands for the results of the first op of the list, then for those of the next, and
    /// so on.
    pub results: *mut ValueId,
    /// The number of results that fit: as many as the ops have.
    pub result_count: usize,
}

/// Ops as text, to copy to the place before an op.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TextDesc {
    /// `size_of::<TextDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: none yet.
    pub flags: u32,
    /// The op that they come from: they stand before it, and have its location.
    pub op: OpId,
    /// Reserved: 0.
    pub reserved: u32,
    /// The IR text of one function.
    pub text: Str,
    /// The values that stand for its parameters; NONE for one that nothing uses.
    pub args: *const ValueId,
    /// The number of arguments: as many as it has parameters.
    pub arg_count: usize,
    /// Receives what stands for each value that it returns.
    pub results: *mut ValueId,
    /// The number of results that fit: as many as it returns.
    pub result_count: usize,
}

/// An op in other layouts, as its definition says.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaidOut {
    /// `size_of::<LaidOut>()` of the caller.
    pub struct_size: u32,
    /// Reserved: 0.
    pub reserved: u32,
    /// The layout of each operand; empty: as it is.
    pub operands: *const Str,
    /// The number of operands.
    pub operand_count: usize,
    /// The layout of each result; empty: as it is.
    pub results: *const Str,
    /// The number of results.
    pub result_count: usize,
    /// The op in these layouts, the IR text of one function.
    pub body: Str,
}

/// Ops to make a function of.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct OutlineDesc {
    /// `size_of::<OutlineDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: none yet.
    pub flags: u32,
    /// The function that holds them.
    pub function: SymbolId,
    /// Reserved: 0.
    pub reserved: u32,
    /// The ops, of one region, in any order.
    pub ops: *const OpId,
    /// The number of ops.
    pub op_count: usize,
    /// The new function's canonical name, with a domain; one that is taken gets a number.
    pub name: Str,
}

/// A function to create, with an empty body.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FunctionDesc {
    /// `size_of::<FunctionDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: none yet.
    pub flags: u32,
    /// Graph or prim.
    pub kind: FunctionKind,
    /// A function of the module whose opset versions it shares; NONE: it has none.
    pub opsets_of: SymbolId,
    /// The function's canonical name.
    pub name: Str,
}

/// A pass to run.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RunDesc {
    /// `size_of::<RunDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: none yet.
    pub flags: u32,
    /// The name of a registered pass or Sequential.
    pub name: Str,
}

/// An evaluation.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EvaluateDesc {
    /// `size_of::<EvaluateDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: none yet.
    pub flags: u32,
    /// The most bytes that a result may have.
    pub max_bytes: u64,
}

/// Rules to rewrite by.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RewriteDesc {
    /// `size_of::<RewriteDesc>()` of the caller.
    pub struct_size: u32,
    /// Flags: none yet.
    pub flags: u32,
    /// The text of a `.rules` file.
    pub rules: Str,
}
