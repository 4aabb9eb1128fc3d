//! What edits describe, as the contract spells it: ops, attributes, types and constants to make.

use std::borrow::Cow;
use std::ffi::c_void;

use passdock_abi as abi;
use passdock_abi::{Dim, LocId, RegionId, SymbolId, TypeId, ValueId};

use crate::data::AttrValue;

pub(super) fn port(name: &str, ty: TypeId) -> abi::PortDesc {
    abi::PortDesc {
        ty,
        name: abi::Str::new(name),
        ..abi::PortDesc::EMPTY
    }
}

/// The bytes from one element of an array to the next.
pub(super) fn stride<T>() -> u32 {
    std::mem::size_of::<T>() as u32
}

/// An op to make, names interned.
pub(crate) struct OpParts<'a> {
    pub(crate) name: SymbolId,
    pub(crate) flags: u32,
    pub(crate) loc: LocId,
    pub(crate) operands: &'a [ValueId],
    pub(crate) result_types: Cow<'a, [TypeId]>,
    pub(crate) attrs: Vec<(SymbolId, &'a AttrValue)>,
    pub(crate) regions: Vec<RegionParts<'a>>,
}

/// A region of an op to make.
pub(crate) struct RegionParts<'a> {
    pub(crate) name: SymbolId,
    pub(crate) args: &'a [(&'a str, TypeId)],
}

impl OpParts<'_> {
    /// Hands the description out while all it points to lives.
    pub(super) fn with<R>(&self, call: impl FnOnce(&abi::OpDesc) -> R) -> R {
        let mut lists = Vec::new();
        let attrs: Vec<_> = self
            .attrs
            .iter()
            .map(|(name, value)| attr_desc(*name, value, &mut lists))
            .collect();
        let args: Vec<Vec<_>> = self
            .regions
            .iter()
            .map(|region| {
                region
                    .args
                    .iter()
                    .map(|(name, ty)| port(name, *ty))
                    .collect()
            })
            .collect();
        let regions: Vec<_> = self
            .regions
            .iter()
            .zip(&args)
            .map(|(region, args)| abi::RegionDesc {
                name: region.name,
                args: args.as_ptr(),
                arg_count: args.len(),
                arg_stride: stride::<abi::PortDesc>(),
                ..abi::RegionDesc::EMPTY
            })
            .collect();
        call(&abi::OpDesc {
            flags: self.flags,
            name: self.name,
            loc: self.loc,
            operands: self.operands.as_ptr(),
            operand_count: self.operands.len(),
            result_types: self.result_types.as_ptr(),
            result_count: self.result_types.len(),
            attrs: attrs.as_ptr(),
            attr_count: attrs.len(),
            regions: regions.as_ptr(),
            region_count: regions.len(),
            attr_stride: stride::<abi::AttrDesc>(),
            region_stride: stride::<abi::RegionDesc>(),
            ..abi::OpDesc::EMPTY
        })
    }
}

/// The description of an attribute, pointing into `value` and `lists`.
pub(super) fn attr_desc(
    name: SymbolId,
    value: &AttrValue,
    lists: &mut Vec<Vec<abi::Bytes>>,
) -> abi::AttrDesc {
    use abi::AttrKind;

    fn slice<T>(kind: AttrKind, items: &[T]) -> (AttrKind, u64, *const c_void, usize) {
        (kind, 0, items.as_ptr().cast(), items.len())
    }
    fn bits(kind: AttrKind, bits: u64) -> (AttrKind, u64, *const c_void, usize) {
        (kind, bits, std::ptr::null(), 0)
    }

    let (kind, bits, data, count) = match value {
        AttrValue::Int(value) => bits(AttrKind::INT, *value as u64),
        AttrValue::Float(value) => bits(AttrKind::FLOAT, u64::from(value.to_bits())),
        AttrValue::String(value) => slice(AttrKind::STRING, value),
        AttrValue::Tensor(id) => bits(AttrKind::TENSOR, u64::from(id.0)),
        AttrValue::Type(id) => bits(AttrKind::TYPE, u64::from(id.0)),
        AttrValue::Ints(values) => slice(AttrKind::INTS, values),
        AttrValue::Floats(values) => slice(AttrKind::FLOATS, values),
        AttrValue::Strings(values) => {
            let list: Vec<_> = values.iter().map(|s| abi::Bytes::new(s)).collect();
            let desc = slice(AttrKind::STRINGS, &list);
            // The vector moves, its elements stay.
            lists.push(list);
            desc
        }
        AttrValue::Tensors(ids) => slice(AttrKind::TENSORS, ids),
        AttrValue::Types(ids) => slice(AttrKind::TYPES, ids),
        AttrValue::Reference(symbol, _) => bits(AttrKind::REFERENCE, u64::from(symbol.0)),
    };
    let stands_for = match value {
        AttrValue::Reference(_, kind) => *kind,
        _ => AttrKind::NONE,
    };
    abi::AttrDesc {
        kind,
        name,
        bits,
        data,
        count,
        stands_for,
        ..abi::AttrDesc::EMPTY
    }
}

/// A type to intern.
pub(crate) struct TypeParts<'a> {
    pub(crate) kind: abi::TypeKind,
    pub(crate) dtype: abi::DType,
    pub(crate) lanes: u32,
    pub(crate) flags: u32,
    pub(crate) name: SymbolId,
    pub(crate) dims: &'a [Dim],
    pub(crate) layout: &'a [Dim],
    pub(crate) items: &'a [TypeId],
}

impl TypeParts<'_> {
    pub(super) fn desc(&self) -> abi::TypeDesc {
        abi::TypeDesc {
            kind: self.kind,
            dtype: self.dtype,
            lanes: self.lanes,
            flags: self.flags,
            name: self.name,
            dims: self.dims.as_ptr(),
            dim_count: self.dims.len(),
            layout: self.layout.as_ptr(),
            layout_count: self.layout.len(),
            items: self.items.as_ptr(),
            item_count: self.items.len(),
            ..abi::TypeDesc::EMPTY
        }
    }
}

/// A constant to make.
pub(crate) struct ConstantParts<'a> {
    pub(crate) ty: TypeId,
    pub(crate) region: RegionId,
    pub(crate) name: &'a str,
    pub(crate) splat: bool,
    pub(crate) data: &'a [u8],
}
