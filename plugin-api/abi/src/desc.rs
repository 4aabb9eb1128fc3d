//! What a plugin hands over to edit: borrowed for the call, copied by the host.
//!
//! Each starts with `struct_size`. Arrays inside are dense arrays of the record as this minor
//! knows it; a description that would have to grow per element gets a stride beside its array.

use crate::dtype::DType;
use crate::ids::*;
use crate::record::{AttrKind, Dim, TypeKind};
use crate::view::{Bytes, FunctionKind, FunctionRef, Str};

/// Where an op goes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The region; ignored if `before` is set.
    pub region: RegionId,
    /// Before this op; NONE: at the region's end, before its terminator if it has one.
    pub before: OpId,
}

impl Position {
    /// Before an op.
    pub const fn before(op: OpId) -> Position {
        Position {
            region: RegionId::NONE,
            before: op,
        }
    }

    /// At a region's end, before its terminator if it has one.
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
    /// As in `Type`.
    pub kind: TypeKind,
    /// As in `Type`.
    pub dtype: DType,
    /// As in `Type`.
    pub lanes: u32,
    /// As in `Type`.
    pub flags: u32,
    /// As in `Type`.
    pub name: SymbolId,
    /// The shape.
    pub dims: *const Dim,
    /// How many.
    pub dim_count: usize,
    /// A buffer's strides and, last, its offset.
    pub layout: *const Dim,
    /// How many.
    pub layout_count: usize,
    /// Types it is made of.
    pub items: *const TypeId,
    /// How many.
    pub item_count: usize,
}

/// An attribute to set. `kind` says which field is read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AttrDesc {
    /// `size_of::<AttrDesc>()` of the caller.
    pub struct_size: u32,
    /// How its value is kept.
    pub kind: AttrKind,
    /// Its name.
    pub name: SymbolId,
    /// As in `Attr`.
    pub flags: u32,
    /// INT; FLOAT (the f32's bits); TENSOR, TYPE, REFERENCE (an id).
    pub bits: u64,
    /// INTS: `i64`; FLOATS: `f32`; STRING, OPAQUE: `u8`; STRINGS: `Bytes`; TYPES: `TypeId`;
    /// TENSORS: `ConstId`.
    pub data: *const core::ffi::c_void,
    /// Elements of `data`.
    pub count: usize,
}

/// What a region gives out, or a function takes, at one position.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PortDesc {
    /// Empty: none.
    pub name: Str,
    /// Its type.
    pub ty: TypeId,
    /// 0.
    pub reserved: u32,
}

/// A region to create, empty.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RegionDesc {
    /// Its name among the op's regions.
    pub name: SymbolId,
    /// 0.
    pub reserved: u32,
    /// Its arguments.
    pub args: *const PortDesc,
    /// How many.
    pub arg_count: usize,
}

/// An op to create.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct OpDesc {
    /// `size_of::<OpDesc>()` of the caller.
    pub struct_size: u32,
    /// [`OpDesc::TAKE_REGIONS`].
    pub flags: u32,
    /// Its canonical name.
    pub name: SymbolId,
    /// Its location; NONE: for `replace_op`, that of the replaced op.
    pub loc: LocId,
    /// Its operands; NONE entries are left out.
    pub operands: *const ValueId,
    /// How many.
    pub operand_count: usize,
    /// The type of each result; NONE: for `replace_op`, that of the replaced result, else unknown.
    pub result_types: *const TypeId,
    /// How many results.
    pub result_count: usize,
    /// Attributes.
    pub attrs: *const AttrDesc,
    /// How many.
    pub attr_count: usize,
    /// Regions to create.
    pub regions: *const RegionDesc,
    /// How many.
    pub region_count: usize,
}

impl OpDesc {
    /// For `replace_op`: the new op takes the regions of the replaced one over.
    pub const TAKE_REGIONS: u32 = 1;
    /// For `replace_op`: the new op takes the attributes of the replaced one over, before `attrs`.
    pub const TAKE_ATTRS: u32 = 2;
}

/// A constant to create.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ConstantDesc {
    /// `size_of::<ConstantDesc>()` of the caller.
    pub struct_size: u32,
    /// [`ConstantDesc::SPLAT`].
    pub flags: u32,
    /// A tensor type whose dims are all constant.
    pub ty: TypeId,
    /// Where it is visible; NONE: the whole function.
    pub region: RegionId,
    /// Empty: none. A name that is taken gets a number.
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
    /// The region.
    pub region: RegionId,
    /// The function that holds it; a null handle: the one that is edited.
    pub source: FunctionRef,
    /// Where its ops go.
    pub at: Position,
    /// What stands for each of its arguments.
    pub args: *const ValueId,
    /// How many; as many as it has arguments.
    pub arg_count: usize,
    /// Pairs (value of the source seen from inside, value here). From the same function, what isn't
    /// named stands for itself.
    pub captures: *const [ValueId; 2],
    /// How many pairs.
    pub capture_count: usize,
    /// Receives what stands for each operand of its terminator.
    pub results: *mut ValueId,
    /// How many fit; as many as its terminator has operands.
    pub result_count: usize,
}

/// A function to create, with an empty body.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FunctionDesc {
    /// `size_of::<FunctionDesc>()` of the caller.
    pub struct_size: u32,
    /// Graph or prim.
    pub kind: FunctionKind,
    /// Its canonical name.
    pub name: Str,
    /// A function of the module whose opset versions it shares; NONE: it has none.
    pub opsets_of: SymbolId,
    /// 0.
    pub reserved: u32,
}
