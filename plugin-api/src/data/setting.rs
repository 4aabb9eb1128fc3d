//! Values of options, and their descriptions for the manifest. `options.rs` has the macro that declares options.

use std::fmt;

use passdock_abi::Status;

use super::error::{EditError, PassError};
use super::table::Table;

/// The value of an option or config field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OptionValue {
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    String(String),
    /// A list of values.
    List(Vec<OptionValue>),
    /// Values with names that the user chose.
    Table(Vec<(String, OptionValue)>),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Bool(value) => write!(f, "{}", value),
            OptionValue::Int(value) => write!(f, "{}", value),
            OptionValue::Float(value) => write!(f, "{:?}", value),
            OptionValue::String(value) => write!(f, "{:?}", value),
            OptionValue::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{}", if index > 0 { ", " } else { "" }, item)?;
                }
                f.write_str("]")
            }
            OptionValue::Table(entries) => {
                f.write_str("{")?;
                for (index, (name, value)) in entries.iter().enumerate() {
                    write!(
                        f,
                        "{}{} = {}",
                        if index > 0 { ", " } else { " " },
                        name,
                        value
                    )?;
                }
                f.write_str(" }")
            }
        }
    }
}

/// The text of a `.rules` file, for an option of type `Vec<RulesText>`.
///
/// In a pipeline and on the command line, the value is a file name. The host reads the file, and reports errors in it
/// with their location. A program sets the text itself, which isn't checked until [`Rules::parse`](crate::Rules::parse)
/// or [`Rules::parse_patterns`](crate::Rules::parse_patterns) parses it.
#[derive(Clone, Debug, PartialEq)]
pub struct RulesText(pub String);

impl From<&str> for RulesText {
    fn from(text: &str) -> RulesText {
        RulesText(text.to_owned())
    }
}

/// A struct of options, which [`options!`](crate::options) implements.
///
/// Also the value of a config key without fields: a `bool`, an `i64`, an `f64`, a `String`, a `Vec<String>`, a
/// `Vec<RulesText>` or a [`Table`](crate::Table). `()` has no options.
#[cfg_attr(
    has_diagnostics,
    diagnostic::on_unimplemented(
        message = "`{Self}` has no options",
        label = "not a struct of `options!`",
        note = "declare the struct with `options!`: `options! {{ pub struct Tile {{ size: i64 = 32 }} }}`"
    )
)]
pub trait Options: Default {
    /// The descriptions of the fields, for the manifest.
    #[doc(hidden)]
    const OPTIONS: &'static [OptionSpec];

    /// Reads each field from `source`, which returns the value of an option by its name.
    #[doc(hidden)]
    fn read(
        source: &dyn Fn(&str) -> Result<Option<OptionValue>, EditError>,
    ) -> Result<Self, PassError>;

    /// Returns the values of the fields, in the order of [`Options::OPTIONS`].
    #[doc(hidden)]
    fn values(self) -> Vec<OptionValue>;
}

/// Returns the descriptions of options, for `plugin!`.
#[doc(hidden)]
pub const fn options_of<T: Options>() -> &'static [OptionSpec] {
    T::OPTIONS
}

/// The description of an option for the manifest.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct OptionSpec {
    pub name: &'static str,
    pub docs: &'static [&'static str],
    pub default: OptionDefault,
    /// Whether the option has no default, so that the user must set it.
    pub mandatory: bool,
    /// The minimum and maximum of an integer.
    pub range: Option<(i64, i64)>,
    /// The valid values of a string; any if empty.
    pub choices: &'static [&'static str],
    /// Whether a table receives the undeclared options.
    pub rest: bool,
}

/// A default, which also determines the option's type.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum OptionDefault {
    Bool(bool),
    Int(i64),
    /// A float as in the source code.
    Float(&'static str),
    Str(&'static str),
    Strs(&'static [&'static str]),
    /// Texts of rule files.
    Rules(&'static [&'static str]),
    /// An empty table of integers.
    Ints,
    /// An empty table of values.
    Values,
}

/// A type that an option may have.
#[doc(hidden)]
#[cfg_attr(
    has_diagnostics,
    diagnostic::on_unimplemented(
        message = "`{Self}` is not a type of options",
        label = "expected `bool`, an integer, `f64`, `String`, `Vec<String>`, `Vec<RulesText>`, `Table<i64>` or \
                 `Table<OptionValue>`"
    )
)]
pub trait OptionType: Sized {
    /// The default of an option without an explicit one, which determines its type in the manifest.
    const ZERO: OptionDefault;
    /// The valid integers.
    const RANGE: Option<(i64, i64)> = None;
    fn from_value(value: &OptionValue) -> Option<Self>;
    fn into_value(self) -> OptionValue;
}

/// The value that a host returns for an option; `None` if it isn't set.
type Given = Result<Option<OptionValue>, EditError>;

/// An [`OptionType`] as data. `options!` only uses the trait by [`option`], so that the compiler reports a type without
/// it once, at the type.
#[doc(hidden)]
pub struct OptionAccess<T> {
    pub zero: OptionDefault,
    pub range: Option<(i64, i64)>,
    pub read: fn(&str, Given, T) -> Result<T, PassError>,
    pub into_value: fn(T) -> OptionValue,
}

#[doc(hidden)]
pub const fn option<T: OptionType>() -> OptionAccess<T> {
    OptionAccess {
        zero: T::ZERO,
        range: T::RANGE,
        read: field,
        into_value: T::into_value,
    }
}

/// Declares the types whose fields can have an attribute of `options!`.
macro_rules! attributes {
    ($($trait:ident $message:literal: $($ty:ty),*;)*) => {$(
        #[doc(hidden)]
        #[cfg_attr(has_diagnostics, diagnostic::on_unimplemented(message = $message, label = "unsuitable type"))]
        pub trait $trait {}
        $(impl $trait for $ty {})*
    )*};
}

attributes! {
    RangeType "`#[range]` requires an integer or `Table<i64>`, found `{Self}`": i64, i32, u32, u64, usize, Table<i64>;
    ChoicesType "`#[choices]` requires `String`, found `{Self}`": String;
    RestType "`#[rest]` requires `Table<i64>` or `Table<OptionValue>`, found `{Self}`": Table<i64>, Table<OptionValue>;
}

macro_rules! scalars {
    ($($ty:ty, $zero:expr, { $($pattern:pat => $value:expr),* }, $into:expr;)*) => {$(
        impl OptionType for $ty {
            const ZERO: OptionDefault = $zero;

            fn from_value(value: &OptionValue) -> Option<$ty> {
                match value {
                    $($pattern => Some($value),)*
                    _ => None,
                }
            }

            fn into_value(self) -> OptionValue {
                $into(self)
            }
        }
    )*};
}

scalars! {
    bool, OptionDefault::Bool(false), { OptionValue::Bool(value) => *value }, OptionValue::Bool;
    f64, OptionDefault::Float("0.0"),
        { OptionValue::Float(value) => *value, OptionValue::Int(value) => *value as f64 }, OptionValue::Float;
    String, OptionDefault::Str(""), { OptionValue::String(text) => text.clone() }, OptionValue::String;
    RulesText, OptionDefault::Str(""),
        { OptionValue::String(text) => RulesText(text.clone()) }, |rules: RulesText| OptionValue::String(rules.0);
}

impl OptionType for OptionValue {
    const ZERO: OptionDefault = OptionDefault::Values;

    fn from_value(value: &OptionValue) -> Option<OptionValue> {
        Some(value.clone())
    }

    fn into_value(self) -> OptionValue {
        self
    }
}

macro_rules! lists {
    ($($item:ident $default:ident)*) => {$(
        impl OptionType for Vec<$item> {
            const ZERO: OptionDefault = OptionDefault::$default(&[]);

            fn from_value(value: &OptionValue) -> Option<Self> {
                match value {
                    OptionValue::List(items) => items.iter().map($item::from_value).collect(),
                    _ => None,
                }
            }

            fn into_value(self) -> OptionValue {
                OptionValue::List(self.into_iter().map($item::into_value).collect())
            }
        }
    )*};
}

lists! { String Strs RulesText Rules }

macro_rules! integers {
    ($($int:ty: $range:expr;)*) => {$(
        impl OptionType for $int {
            const ZERO: OptionDefault = OptionDefault::Int(0);
            const RANGE: Option<(i64, i64)> = $range;

            fn from_value(value: &OptionValue) -> Option<$int> {
                match value {
                    OptionValue::Int(value) => <$int>::try_from(*value).ok(),
                    _ => None,
                }
            }

            fn into_value(self) -> OptionValue {
                // A number that no option can hold is rejected because of its type.
                i64::try_from(self).map_or(OptionValue::Float(self as f64), OptionValue::Int)
            }
        }
    )*};
}

integers! {
    i64: None;
    i32: Some((i32::MIN as i64, i32::MAX as i64));
    u32: Some((0, u32::MAX as i64));
    u64: Some((0, i64::MAX));
    usize: Some((0, i64::MAX));
}

#[cfg_attr(has_diagnostics, diagnostic::do_not_recommend)]
impl<T: OptionType + Default> Options for T {
    const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "",
        docs: &[],
        default: T::ZERO,
        mandatory: false,
        range: None,
        choices: &[],
        rest: false,
    }];

    fn read(
        source: &dyn Fn(&str) -> Result<Option<OptionValue>, EditError>,
    ) -> Result<T, PassError> {
        field("", source(""), T::default())
    }

    fn values(self) -> Vec<OptionValue> {
        vec![self.into_value()]
    }
}

impl Options for () {
    const OPTIONS: &'static [OptionSpec] = &[];

    fn read(
        _source: &dyn Fn(&str) -> Result<Option<OptionValue>, EditError>,
    ) -> Result<(), PassError> {
        Ok(())
    }

    fn values(self) -> Vec<OptionValue> {
        Vec::new()
    }
}

/// Returns a struct of options as a table of its fields.
#[doc(hidden)]
pub fn table<T: Options>(options: T) -> OptionValue {
    let names = T::OPTIONS.iter().map(|spec| spec.name.to_owned());
    OptionValue::Table(names.zip(options.values()).collect())
}

/// Returns the items of a list, which must be an array of strings.
#[doc(hidden)]
pub const fn list<const N: usize>(items: [&'static str; N]) -> [&'static str; N] {
    items
}

/// Returns the value of a field: the one that is set, or the default.
fn field<T: OptionType>(name: &str, value: Given, default: T) -> Result<T, PassError> {
    match value {
        Ok(None) => Ok(default),
        Ok(Some(value)) => T::from_value(&value).ok_or_else(|| {
            PassError::new(format!(
                "invalid value for option `{}`: expected a {}, found {}",
                name,
                std::any::type_name::<T>(),
                value
            ))
        }),
        // A host may reject an option that the pass doesn't declare.
        Err(error) if error.status == Status::NOT_FOUND => Ok(default),
        Err(error) => Err(error.into()),
    }
}
