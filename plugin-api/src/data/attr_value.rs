//! [`AttrValue`]: the value of an attribute to set.

use passdock_abi::{AttrKind, ConstId, SymbolId, TypeId};

/// The value of an attribute to set. Most functions take `impl Into<AttrValue>`.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// assert_eq!(AttrValue::from(3), AttrValue::Int(3));
/// assert_eq!(AttrValue::from([1_i64, 2]), AttrValue::Ints(vec![1, 2]));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AttrValue {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f32),
    /// A string.
    String(Vec<u8>),
    /// A constant of another attribute of the function.
    Tensor(ConstId),
    /// A type.
    Type(TypeId),
    /// Integers.
    Ints(Vec<i64>),
    /// Floats.
    Floats(Vec<f32>),
    /// Strings.
    Strings(Vec<Vec<u8>>),
    /// Constants of other attributes of the function.
    Tensors(Vec<ConstId>),
    /// Types.
    Types(Vec<TypeId>),
    /// A reference to an attribute parameter of the function, with the kind of its value ([`AttrKind::NONE`]: unknown).
    Reference(SymbolId, AttrKind),
}

macro_rules! from {
    ($($from:ty => |$value:ident| $to:expr;)*) => {$(
        impl From<$from> for AttrValue {
            fn from($value: $from) -> AttrValue {
                $to
            }
        }
    )*};
}

from! {
    i64 => |value| AttrValue::Int(value);
    i32 => |value| AttrValue::Int(value.into());
    u32 => |value| AttrValue::Int(value.into());
    bool => |value| AttrValue::Int(value.into());
    f32 => |value| AttrValue::Float(value);
    &str => |value| AttrValue::String(value.into());
    String => |value| AttrValue::String(value.into_bytes());
    TypeId => |id| AttrValue::Type(id);
    ConstId => |id| AttrValue::Tensor(id);
    Vec<i64> => |values| AttrValue::Ints(values);
    &[i64] => |values| AttrValue::Ints(values.to_vec());
    Vec<f32> => |values| AttrValue::Floats(values);
    &[f32] => |values| AttrValue::Floats(values.to_vec());
    &[&str] => |values| AttrValue::Strings(values.iter().map(|&text| text.into()).collect());
}

/// Rounds to an `f32`, ONNX's type for float attributes, so that plain literals can be used.
impl From<f64> for AttrValue {
    fn from(value: f64) -> AttrValue {
        AttrValue::Float(value as f32)
    }
}

impl<const N: usize> From<[i64; N]> for AttrValue {
    fn from(values: [i64; N]) -> AttrValue {
        AttrValue::Ints(values.to_vec())
    }
}

impl<const N: usize> From<[f32; N]> for AttrValue {
    fn from(values: [f32; N]) -> AttrValue {
        AttrValue::Floats(values.to_vec())
    }
}

impl<const N: usize> From<[&str; N]> for AttrValue {
    fn from(values: [&str; N]) -> AttrValue {
        AttrValue::from(&values[..])
    }
}
