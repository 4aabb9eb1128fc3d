//! Config options as Rust types.

use std::collections::BTreeMap;

use super::{ConfigValue, Field, FieldType, FieldValue};

/// A type that can be a config option: a struct made by [`config_struct!`](crate::config_struct),
/// or `bool`, `i64`, `f64`, `String`, `Vec<String>`, `BTreeMap<String, i64>`.
pub trait ConfigOption: Sized + 'static {
    /// The fields of the option; a scalar has one with an empty name.
    fn fields() -> Vec<Field>;
    /// A checked value as this type; `None` if it isn't one of this type.
    fn from_config(value: &ConfigValue) -> Option<Self>;
}

/// A type that a field of a config option can have.
pub trait Scalar: Sized {
    /// The type's name in manifests and messages.
    const TYPE: FieldType;
    /// The value as a field holds it.
    fn to_field(self) -> FieldValue;
    /// The value that a field holds, if it has this type.
    fn from_field(value: &FieldValue) -> Option<Self>;
}

macro_rules! scalars {
    ($($ty:ty, $variant:ident;)*) => {$(
        impl Scalar for $ty {
            const TYPE: FieldType = FieldType::$variant;

            fn to_field(self) -> FieldValue {
                FieldValue::$variant(self)
            }

            fn from_field(value: &FieldValue) -> Option<$ty> {
                match value {
                    FieldValue::$variant(value) => Some(value.clone()),
                    _ => None,
                }
            }
        }

        impl ConfigOption for $ty {
            fn fields() -> Vec<Field> {
                vec![Field::new("", FieldType::$variant.zero())]
            }

            fn from_config(value: &ConfigValue) -> Option<$ty> {
                <$ty as Scalar>::from_field(value.get("")?)
            }
        }
    )*};
}

scalars! {
    bool, Bool;
    i64, Int;
    f64, Float;
    String, String;
    Vec<String>, Strings;
    BTreeMap<String, i64>, Ints;
}

/// The options of a pass or an instrument that has none.
impl ConfigOption for () {
    fn fields() -> Vec<Field> {
        Vec::new()
    }

    fn from_config(_value: &ConfigValue) -> Option<()> {
        Some(())
    }
}

/// Declares a struct that can be a config option. Its fields have docs, types (`bool`, `i64`,
/// `f64`, `String`, `Vec<String>`, `BTreeMap<String, i64>`), defaults, ranges for integers, and
/// choices for strings: `mode: String = "fast", of ["fast", "small"];`.
///
/// ```
/// # extern crate passdock_core as passdock;
/// passdock::config_struct! {
///     /// How loops are unrolled.
///     pub struct UnrollLoop {
///         /// Loops of up to this many steps are unrolled.
///         pub auto_max_step: i64 = 0, in 0..=65536;
///         /// Whether loops marked `unroll` are written out.
///         pub explicit_unroll: bool = true;
///     }
/// }
/// passdock::register_config_option::<UnrollLoop>("doc.UnrollLoop").unwrap();
/// let cx = passdock::PassContext::builder()
///     .config("doc.UnrollLoop", UnrollLoop { auto_max_step: 16, ..UnrollLoop::default() })
///     .build()
///     .unwrap();
/// let unroll = cx.get_config::<UnrollLoop>("doc.UnrollLoop").unwrap().unwrap();
/// assert_eq!(unroll.auto_max_step, 16);
/// ```
#[macro_export]
macro_rules! config_struct {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field_vis:vis $field:ident: $ty:ty = $default:expr $(, in $min:literal ..= $max:literal)? $(, of [$($choice:literal),+])?;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $( $(#[doc = $doc])* $field_vis $field: $ty, )*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $( $field: $default.into(), )* }
            }
        }

        impl $crate::config::ConfigOption for $name {
            fn fields() -> Vec<$crate::config::Field> {
                let defaults = $name::default();
                vec![$(
                    $crate::config::Field {
                        doc: [$($doc),*].iter().map(|line: &&str| line.trim()).collect::<Vec<_>>().join("\n"),
                        range: $crate::config_struct!(@range $($min, $max)?),
                        choices: vec![$($($choice.to_owned()),+)?],
                        ..$crate::config::Field::new(
                            stringify!($field),
                            $crate::config::Scalar::to_field(defaults.$field),
                        )
                    },
                )*]
            }

            fn from_config(value: &$crate::config::ConfigValue) -> Option<$name> {
                Some($name {
                    $( $field: $crate::config::Scalar::from_field(value.get(stringify!($field))?)?, )*
                })
            }
        }

        impl From<$name> for $crate::toml::Value {
            fn from(value: $name) -> $crate::toml::Value {
                let mut table = $crate::toml::Table::new();
                $( table.insert(stringify!($field).to_owned(), value.$field.into()); )*
                $crate::toml::Value::Table(table)
            }
        }
    };
    (@range) => { None };
    (@range $min:literal, $max:literal) => { Some(($min, $max)) };
}
