//! [`AttrDef`]: the attributes of an operator, with name, kind and default.

use std::os::raw::c_void;

use passdock_abi as abi;
use passdock_abi::{AttrEntry, AttrKind};

/// An attribute of an operator. [`attrs!`](crate::attrs) declares a list of them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AttrDef {
    /// The attribute's name.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: AttrKind,
    /// Whether an op without the attribute is invalid.
    pub required: bool,
    /// The default value; `None` if the attribute has none.
    pub default: Option<AttrDefault>,
    /// The attribute's meaning.
    pub doc: &'static str,
}

/// The default value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AttrDefault {
    /// The default of an `int`.
    Int(i64),
    /// The default of a `float`.
    Float(f32),
    /// The default of a `string`.
    String(&'static str),
    /// The default of `ints`.
    Ints(&'static [i64]),
    /// The default of `floats`.
    Floats(&'static [f32]),
    /// The default of `strings`.
    Strings(&'static [&'static str]),
}

impl AttrDef {
    /// Creates an optional attribute without a default.
    pub const fn new(name: &'static str, kind: AttrKind) -> AttrDef {
        AttrDef {
            name,
            kind,
            required: false,
            default: None,
            doc: "",
        }
    }

    /// Marks the attribute as required.
    pub const fn required(mut self) -> AttrDef {
        self.required = true;
        self
    }

    /// Sets the default value.
    ///
    /// # Panics
    /// If the value isn't of the attribute's kind.
    pub const fn default(mut self, value: AttrDefault) -> AttrDef {
        let kind = match value {
            AttrDefault::Int(_) => AttrKind::INT,
            AttrDefault::Float(_) => AttrKind::FLOAT,
            AttrDefault::String(_) => AttrKind::STRING,
            AttrDefault::Ints(_) => AttrKind::INTS,
            AttrDefault::Floats(_) => AttrKind::FLOATS,
            AttrDefault::Strings(_) => AttrKind::STRINGS,
        };
        assert!(
            kind.0 == self.kind.0,
            "the default must be of the attribute's kind"
        );
        self.default = Some(value);
        self
    }

    /// Sets the documentation.
    pub const fn doc(mut self, doc: &'static str) -> AttrDef {
        self.doc = doc;
        self
    }

    /// Returns the entry for the host, whose data is never freed.
    // All fields are set, but later versions may add some.
    #[allow(clippy::needless_update)]
    pub(crate) fn entry(&self) -> AttrEntry {
        let (mut flags, mut bits, mut data, mut count) = (0, 0, std::ptr::null::<c_void>(), 0);
        if self.required {
            flags |= AttrEntry::REQUIRED;
        }
        if let Some(value) = self.default {
            flags |= AttrEntry::DEFAULT;
            match value {
                AttrDefault::Int(value) => bits = value as u64,
                AttrDefault::Float(value) => bits = u64::from(value.to_bits()),
                AttrDefault::String(text) => {
                    data = text.as_ptr().cast();
                    count = text.len();
                }
                AttrDefault::Ints(values) => {
                    data = values.as_ptr().cast();
                    count = values.len();
                }
                AttrDefault::Floats(values) => {
                    data = values.as_ptr().cast();
                    count = values.len();
                }
                AttrDefault::Strings(texts) => {
                    let texts: Box<[abi::Str]> = texts.iter().map(|t| abi::Str::new(t)).collect();
                    let texts: &'static [abi::Str] = Box::leak(texts);
                    data = texts.as_ptr().cast();
                    count = texts.len();
                }
            }
        }
        AttrEntry {
            name: abi::Str::new(self.name),
            doc: abi::Str::new(self.doc.trim()),
            kind: self.kind,
            flags,
            bits,
            data,
            count,
            ..AttrEntry::EMPTY
        }
    }
}

/// Declares the attributes of an operator.
///
/// Each has a name and a kind: `int`, `float`, `string`, `tensor`, `type` or `graph`; `ints`, `floats` and so on for
/// lists; `opaque` for a format of an importer. `required` precedes the kind of a required attribute, and a default
/// follows it. An attribute with neither is optional, and has no default.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// const CONV: &[AttrDef] = attrs![
///     auto_pad: string = "NOTSET",
///     /// Lengths of the steps; 1 along each axis if they aren't given.
///     strides: ints,
///     group: int = 1,
///     weights: required tensor,
/// ];
/// assert_eq!(CONV[0].default, Some(AttrDefault::String("NOTSET")));
/// assert_eq!((CONV[1].default, CONV[1].doc.starts_with(" Lengths")), (None, true));
/// assert!(CONV[3].required);
/// ```
#[macro_export]
macro_rules! attrs {
    ($($(#[doc = $doc:literal])* $name:ident: $($kind:ident)+ $(= $default:expr)?),* $(,)?) => {{
        const ATTRS: &[$crate::AttrDef] = &[$(
            $crate::__attr!((::std::stringify!($name)) $($kind)+ $(= $default)?)
                .doc(::std::concat!($($doc),*)),
        )*];
        ATTRS
    }};
}

/// The kinds of attributes by their names in [`attrs!`](crate::attrs), except `type`.
#[doc(hidden)]
#[allow(non_upper_case_globals, missing_docs)]
pub mod attr_kind {
    use passdock_abi::AttrKind;

    pub const int: AttrKind = AttrKind::INT;
    pub const float: AttrKind = AttrKind::FLOAT;
    pub const string: AttrKind = AttrKind::STRING;
    pub const tensor: AttrKind = AttrKind::TENSOR;
    pub const graph: AttrKind = AttrKind::REGION;
    pub const ints: AttrKind = AttrKind::INTS;
    pub const floats: AttrKind = AttrKind::FLOATS;
    pub const strings: AttrKind = AttrKind::STRINGS;
    pub const tensors: AttrKind = AttrKind::TENSORS;
    pub const types: AttrKind = AttrKind::TYPES;
    pub const graphs: AttrKind = AttrKind::REGIONS;
    pub const opaque: AttrKind = AttrKind::OPAQUE;
}

/// A part of an attribute.
#[doc(hidden)]
#[macro_export]
macro_rules! __attr {
    (@kind type) => { $crate::AttrKind::TYPE };
    (@kind $kind:ident) => { $crate::__private::attr_kind::$kind };

    (($name:expr) required $kind:ident) => { $crate::__attr!(($name) $kind).required() };
    (($name:expr) $kind:ident) => { $crate::AttrDef::new($name, $crate::__attr!(@kind $kind)) };
    (($name:expr) $kind:ident = $value:expr) => {
        $crate::__attr!(($name) $kind).default($crate::__attr!(@default $kind $value))
    };
    (@default int $value:expr) => { $crate::AttrDefault::Int($value) };
    (@default float $value:expr) => { $crate::AttrDefault::Float($value) };
    (@default string $value:expr) => { $crate::AttrDefault::String($value) };
    (@default ints $value:expr) => { $crate::AttrDefault::Ints(&$value) };
    (@default floats $value:expr) => { $crate::AttrDefault::Floats(&$value) };
    (@default strings $value:expr) => { $crate::AttrDefault::Strings(&$value) };
    (@default $kind:ident $value:expr) => {
        ::std::compile_error!(::std::concat!(
            "an attribute of kind `", ::std::stringify!($kind), "` cannot have a default"
        ))
    };
}
