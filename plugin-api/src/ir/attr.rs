//! [`Attr`]: the value of an attribute of the IR.

use std::fmt;

use passdock_abi as abi;
use passdock_abi::{AttrKind, ConstId, Range, RegionId, SymbolId, TypeId};

use super::Function;
use crate::data::AttrValue;

/// The value of an attribute, which borrows the function.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// fn axis(f: &Function, op: OpId) -> i64 {
///     match f.attr(op, "axis") {
///         Some(Attr::Int(axis)) => axis,
///         _ => 0,
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Attr<'a> {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f32),
    /// A string. ONNX doesn't guarantee UTF-8.
    String(&'a [u8]),
    /// A tensor, whose bytes [`Function::constant_bytes`] returns.
    Tensor(ConstId),
    /// A type.
    Type(TypeId),
    /// A region of the op.
    Region(RegionId),
    /// Integers.
    Ints(&'a [i64]),
    /// Floats.
    Floats(&'a [f32]),
    /// Strings.
    Strings(Strings<'a>),
    /// Tensors.
    Tensors(&'a [ConstId]),
    /// Types.
    Types(&'a [TypeId]),
    /// Regions of the op.
    Regions(&'a [RegionId]),
    /// A reference to an attribute parameter of the function, with the kind of its value ([`AttrKind::NONE`]: unknown).
    Reference(SymbolId, AttrKind),
    /// An attribute parameter without a default.
    Unset,
    /// A kind that is unknown, or in a format of the importer.
    Other(AttrKind),
}

impl<'a> Attr<'a> {
    pub(crate) fn read(function: &'a Function, attr: &abi::Attr) -> Attr<'a> {
        let raw = &function.raw;
        let id = attr.bits as u32;
        match attr.kind {
            AttrKind::INT => Attr::Int(attr.bits as i64),
            AttrKind::FLOAT => Attr::Float(f32::from_bits(id)),
            AttrKind::STRING => Attr::String(raw.bytes(attr.list)),
            AttrKind::TENSOR => Attr::Tensor(ConstId(id)),
            AttrKind::TYPE => Attr::Type(TypeId(id)),
            AttrKind::REGION => Attr::Region(RegionId(id)),
            AttrKind::INTS => Attr::Ints(raw.ints(attr.list)),
            AttrKind::FLOATS => Attr::Floats(raw.floats(attr.list)),
            AttrKind::STRINGS => Attr::Strings(Strings {
                function,
                range: attr.list,
            }),
            AttrKind::TENSORS => Attr::Tensors(raw.ids(attr.list)),
            AttrKind::TYPES => Attr::Types(raw.ids(attr.list)),
            AttrKind::REGIONS => Attr::Regions(raw.ids(attr.list)),
            AttrKind::REFERENCE => Attr::Reference(SymbolId(id), attr.stands_for),
            AttrKind::NONE => Attr::Unset,
            kind => Attr::Other(kind),
        }
    }

    /// Returns the value, to set it on another op of the same function. `None` for regions, and for values in a format
    /// of the importer, which can't be set.
    pub fn to_value(&self) -> Option<AttrValue> {
        Some(match *self {
            Attr::Int(value) => AttrValue::Int(value),
            Attr::Float(value) => AttrValue::Float(value),
            Attr::String(value) => AttrValue::String(value.to_vec()),
            Attr::Tensor(id) => AttrValue::Tensor(id),
            Attr::Type(id) => AttrValue::Type(id),
            Attr::Ints(values) => AttrValue::Ints(values.to_vec()),
            Attr::Floats(values) => AttrValue::Floats(values.to_vec()),
            Attr::Strings(values) => AttrValue::Strings(values.map(|s| s.to_vec()).collect()),
            Attr::Tensors(ids) => AttrValue::Tensors(ids.to_vec()),
            Attr::Types(ids) => AttrValue::Types(ids.to_vec()),
            Attr::Reference(symbol, kind) => AttrValue::Reference(symbol, kind),
            Attr::Region(_) | Attr::Regions(_) | Attr::Unset | Attr::Other(_) => return None,
        })
    }
}

/// The strings of an attribute.
#[derive(Clone, Copy)]
pub struct Strings<'a> {
    function: &'a Function,
    range: Range,
}

impl<'a> Iterator for Strings<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.range.len == 0 {
            return None;
        }
        let text = self.function.raw.string(self.range.start)?;
        self.range.start += 1;
        self.range.len -= 1;
        Some(self.function.raw.bytes(text))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.range.len as usize, Some(self.range.len as usize))
    }
}

impl ExactSizeIterator for Strings<'_> {}

impl fmt::Debug for Strings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.map(String::from_utf8_lossy))
            .finish()
    }
}
