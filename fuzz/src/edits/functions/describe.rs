//! Descriptions that a plugin hands over: of ops, attributes, ports and types.

use std::ffi::c_void;

use passdock_abi as abi;
use passdock_abi::{
    AttrKind, Bytes, DType, Dim, DimKind, OpDesc, SymbolId, Symbols, TypeDesc, TypeId, TypeKind,
    ValueId,
};

use super::super::script::Step;
use super::super::session::Ids;
use super::super::text;
use super::Call;

/// The parts of an op's description, which has pointers into them.
pub(super) struct OpParts {
    name: SymbolId,
    flags: u32,
    loc: abi::LocId,
    operands: Vec<ValueId>,
    result_types: Vec<TypeId>,
    /// How many results there are, and whether their types are given.
    results: (usize, bool),
    attrs: Vec<Attr>,
    described: Vec<abi::AttrDesc>,
    regions: Vec<abi::RegionDesc>,
    /// The arguments that the regions have pointers to.
    _args: Vec<Vec<abi::PortDesc>>,
}

impl OpParts {
    pub(super) fn desc(&self, step: &Step) -> OpDesc {
        let (operands, operand_count) = step.list(&self.operands);
        let types = match self.results.1 {
            true => self.result_types.as_ptr(),
            false => std::ptr::null(),
        };
        OpDesc {
            struct_size: step.size(size_of::<OpDesc>()),
            flags: self.flags,
            name: self.name,
            loc: self.loc,
            operands,
            operand_count,
            result_types: types,
            result_count: self.results.0,
            attrs: self.described.as_ptr(),
            attr_count: self.attrs.len(),
            regions: self.regions.as_ptr(),
            region_count: self.regions.len(),
            attr_stride: step.stride(size_of::<abi::AttrDesc>()),
            region_stride: step.stride(size_of::<abi::RegionDesc>()),
        }
    }
}

/// An attribute, which its description has a pointer into.
pub(super) struct Attr {
    name: SymbolId,
    kind: AttrKind,
    flags: u32,
    bits: u64,
    stands_for: AttrKind,
    ints: Vec<i64>,
    floats: Vec<f32>,
    strings: Vec<Bytes>,
    ids: Vec<u32>,
    bytes: Bytes,
}

impl Attr {
    pub(super) fn desc(&self, step: &Step) -> abi::AttrDesc {
        fn list<T>(step: &Step, items: &[T]) -> (*const c_void, usize) {
            let (at, count) = step.list(items);
            (at.cast(), count)
        }
        let (data, count) = match self.kind {
            AttrKind::INTS => list(step, &self.ints),
            AttrKind::FLOATS => list(step, &self.floats),
            AttrKind::STRINGS => list(step, &self.strings),
            AttrKind::TYPES | AttrKind::TENSORS => list(step, &self.ids),
            AttrKind::STRING | AttrKind::OPAQUE => (self.bytes.ptr.cast(), self.bytes.len),
            _ => (std::ptr::null(), 0),
        };
        abi::AttrDesc {
            struct_size: step.size(size_of::<abi::AttrDesc>()),
            kind: self.kind,
            name: self.name,
            flags: self.flags,
            bits: self.bits,
            data,
            count,
            stands_for: self.stands_for,
            reserved: 0,
        }
    }
}

impl Call<'_> {
    /// An op: to create, or to replace another one with.
    pub(super) fn op_parts(&self, replaces: bool) -> OpParts {
        let (step, ids) = (self.step, &self.ids);
        let name = text::symbol(step, self.symbols);
        let operands = ids.list_of(step, Ids::value);
        let result_types = ids.list_of(step, Ids::ty);
        let shape = step.byte();
        let count = match shape {
            250 => (1 << 24) + 1,
            _ => result_types.len(),
        };
        let given = shape < 240;
        let attrs: Vec<Attr> = (0..[0, 0, 1, 2][usize::from(shape % 4)])
            .map(|_| self.attr())
            .collect();
        let described = attrs.iter().map(|attr| attr.desc(step)).collect();
        let args: Vec<Vec<abi::PortDesc>> = (0..[0, 0, 0, 0, 1, 2][usize::from(shape / 4 % 6)])
            .map(|_| (0..step.below(3)).map(|_| self.port()).collect())
            .collect();
        let region = |args: &Vec<abi::PortDesc>| {
            let (at, arg_count) = step.list(args);
            abi::RegionDesc {
                struct_size: step.size(size_of::<abi::RegionDesc>()),
                name: text::symbol(step, self.symbols),
                args: at,
                arg_count,
                arg_stride: step.stride(size_of::<abi::PortDesc>()),
                ..abi::RegionDesc::EMPTY
            }
        };
        let flags = match replaces {
            true => u32::from(step.byte() % 4),
            false => u32::from(step.one_in(16)),
        };
        let loc = match step.one_in(2) {
            true => abi::LocId::NONE,
            false => ids.loc(step),
        };
        OpParts {
            name,
            flags,
            loc,
            operands,
            results: (count, given && count == result_types.len()),
            result_types,
            regions: args.iter().map(region).collect(),
            _args: args,
            attrs,
            described,
        }
    }

    pub(super) fn attr(&self) -> Attr {
        let (step, ids) = (self.step, &self.ids);
        let kind = AttrKind(u32::from(step.byte() % 16));
        let name = text::symbol(step, self.symbols);
        let bits = match kind {
            AttrKind::TENSOR => u64::from(ids.constant(step).0),
            AttrKind::TYPE => u64::from(ids.ty(step).0),
            AttrKind::REFERENCE => u64::from(text::symbol(step, self.symbols).0),
            AttrKind::FLOAT => step.pick(&[0, 1 << 31, 0x7fc0_0001, 0x7f80_0000, 0x3f80_0000, 1]),
            _ => step.pick(&[0, 1, 2, u64::MAX, 1 << 63, 1 << 32, 7]),
        };
        let few = step.below(4);
        let id = |_| match kind {
            AttrKind::TENSORS => ids.constant(step).0,
            _ => ids.ty(step).0,
        };
        Attr {
            name,
            kind,
            flags: u32::from(step.one_in(8)),
            bits,
            stands_for: AttrKind(match step.one_in(2) {
                true => 0,
                false => u32::from(step.byte() % 16) * u32::from(kind == AttrKind::REFERENCE),
            }),
            ints: (0..few).map(|_| i64::from(step.byte()) - 100).collect(),
            floats: (0..few).map(|_| f32::from(step.byte()) / 3.0).collect(),
            strings: (0..few).map(|_| text::bytes(step)).collect(),
            ids: (0..few).map(id).collect(),
            bytes: text::bytes(step),
        }
    }

    pub(super) fn port(&self) -> abi::PortDesc {
        let step = self.step;
        abi::PortDesc {
            struct_size: step.size(size_of::<abi::PortDesc>()),
            flags: u32::from(step.one_in(32)),
            ty: self.ids.ty(step),
            name: text::text(step),
            ..abi::PortDesc::EMPTY
        }
    }
}

/// The parts of a type's description, which has pointers into them.
pub(in super::super) struct TypeParts {
    kind: TypeKind,
    dtype: DType,
    lanes: u32,
    flags: u32,
    name: SymbolId,
    dims: Vec<Dim>,
    layout: Vec<Dim>,
    items: Vec<TypeId>,
}

impl TypeParts {
    pub(in super::super) fn desc(&self, step: &Step) -> TypeDesc {
        let (dims, dim_count) = step.list(&self.dims);
        TypeDesc {
            struct_size: step.size(size_of::<TypeDesc>()),
            kind: self.kind,
            dtype: self.dtype,
            lanes: self.lanes,
            flags: self.flags,
            name: self.name,
            dims,
            dim_count,
            layout: self.layout.as_ptr(),
            layout_count: self.layout.len(),
            items: self.items.as_ptr(),
            item_count: self.items.len(),
        }
    }
}

/// A type: small tensors mostly, which constants can have.
pub(in super::super) fn type_desc(step: &Step, ids: &Ids, symbols: *const Symbols) -> TypeParts {
    let kind = match step.byte() {
        0..100 => TypeKind::TENSOR,
        other => TypeKind(u32::from(other % 12)),
    };
    let dtype = match step.byte() {
        0..100 => DType::F32,
        100..130 => DType::I64,
        130..140 => DType::BOOL,
        140..150 => DType::STRING,
        other @ 150..250 => DType(u32::from(other - 150) % 40),
        250 => DType(0x8001),
        251 => DType(u32::from(u16::MAX)),
        _ => DType(1 << 16),
    };
    let dims: Vec<Dim> = (0..step.below(4))
        .map(|_| dim(step, ids, symbols))
        .collect();
    let layout = match (kind, step.below(3)) {
        (TypeKind::BUFFER, 0) => (0..dims.len() + 1)
            .map(|_| dim(step, ids, symbols))
            .collect(),
        (_, 1) => dims.clone(),
        _ => Vec::new(),
    };
    TypeParts {
        kind,
        dtype,
        lanes: step.pick(&[0, 0, 1, 4, 2, u32::MAX]),
        flags: u32::from(step.pick(&[0u8, 0, 0, 1, 2, 255])),
        name: match step.one_in(2) {
            true => SymbolId::NONE,
            false => text::symbol(step, symbols),
        },
        items: ids.list_of(step, Ids::ty),
        layout,
        dims,
    }
}

/// A dim: small constants mostly.
pub(in super::super) fn dim(step: &Step, ids: &Ids, symbols: *const Symbols) -> Dim {
    let byte = step.byte();
    let mut dim = match byte {
        0..96 => Dim::constant(i64::from(byte % 4)),
        96..128 => Dim::symbol(text::symbol(step, symbols)),
        128..192 => Dim {
            kind: DimKind::EXPR,
            ..Dim::constant(i64::from(step.id(&[], ids.exprs)))
        },
        192..208 => Dim::UNKNOWN,
        208..232 => Dim::constant(step.pick(&[i64::MAX, -1, i64::MIN, 1 << 31, 1 << 40, 1000])),
        232..240 => Dim {
            kind: DimKind(u32::from(byte)),
            ..Dim::UNKNOWN
        },
        240..248 => Dim {
            value: -1,
            ..Dim::symbol(SymbolId(0))
        },
        _ => Dim {
            value: 7,
            ..Dim::UNKNOWN
        },
    };
    if step.one_in(16) {
        dim.denotation = text::symbol(step, symbols);
    }
    dim
}
