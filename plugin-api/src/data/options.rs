//! [`options!`](crate::options): declares options of a pass as a struct.

/// Declares a struct of options. Each field has documentation, a type, and a default.
///
/// The types are `bool`, integers, `f64`, `String`, `Vec<String>`, `Vec<RulesText>`, `Table<i64>` and
/// `Table<OptionValue>`. A field without a default is mandatory: the host rejects a pipeline that doesn't set it before
/// any pass runs. In `Default::default()`, such a field is zero or empty.
///
/// The host rejects integers outside of `#[range(0..=8)]`, `#[range(0..)]` or the integer's type, and strings that
/// aren't among `#[choices(…)]`.
///
/// A [`Table`](crate::Table) has entries with names that the user chooses. Its default is `[]`, and a `#[range(1..)]`
/// applies to each entry. A table with `#[rest]` receives all undeclared options: `options = { batch = 1 }` is then the
/// same as `options = { dims = { batch = 1 } }`.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// options! {
///     /// Options of loop unrolling.
///     pub struct Unroll {
///         /// The maximum number of iterations of a loop that is unrolled automatically.
///         #[range(0..=4096)]
///         pub auto_max_step: i64 = 0,
///         /// Whether `unroll` loops are unrolled.
///         pub explicit: bool = true,
///         /// The optimization goal.
///         #[choices("speed", "size")]
///         pub goal: String = "speed",
///         /// The variables of loops that aren't unrolled.
///         pub except: Vec<String> = ["i", "j"],
///         /// Unroll factors by loop variable.
///         #[range(1..)]
///         #[rest]
///         pub times: Table<i64> = [],
///     }
/// }
///
/// fn unroll(_f: &mut Function, cx: &PassContext) -> PassResult {
///     let options: Unroll = cx.options()?;
///     assert!(options.auto_max_step >= 0);
///     Ok(())
/// }
/// # fn main() { assert!(Unroll::default().explicit && Unroll::default().except == ["i", "j"]) }
/// ```
#[macro_export]
macro_rules! options {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:expr])*
                $(#[range($min:literal $dots:tt $($max:literal)?)])?
                $(#[choices($($choice:literal),+ $(,)?)])?
                $(#[rest $($rest:literal)?])?
                $field_vis:vis $field:ident : $ty:ident $(<$item:ident>)? $(= $default:expr)?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $($(#[doc = $doc])* $field_vis $field: $ty $(<$item>)?,)*
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                $name { $($field: $crate::__option_default!(value $ty $(<$item>)? $($default)?),)* }
            }
        }

        impl $crate::Options for $name {
            const OPTIONS: &'static [$crate::__private::OptionSpec] = &[
                $($crate::__private::OptionSpec {
                    name: ::std::stringify!($field),
                    docs: &[$($doc),*],
                    default: $crate::__option_default!(spec $ty $(<$item>)? $($default)?),
                    mandatory: ::std::stringify!($($default)?).is_empty(),
                    range: $crate::__option_default!(range $ty $(<$item>)? $($min $dots $($max)?)?),
                    choices: &[$($($choice),+)?],
                    rest: $crate::__option_default!(rest $ty $(rest $($rest)?)?),
                }),*
            ];

            fn read(
                source: &dyn ::std::ops::Fn(
                    &str,
                ) -> ::std::result::Result<
                    ::std::option::Option<$crate::OptionValue>,
                    $crate::EditError,
                >,
            ) -> ::std::result::Result<Self, $crate::PassError> {
                ::std::result::Result::Ok($name {
                    $($field: $crate::__private::field(
                        ::std::stringify!($field),
                        source(::std::stringify!($field)),
                        || $crate::__option_default!(value $ty $(<$item>)? $($default)?),
                    )?,)*
                })
            }

            fn values(self) -> ::std::vec::Vec<$crate::OptionValue> {
                ::std::vec![$($crate::__private::OptionType::into_value(self.$field)),*]
            }
        }

        impl ::std::convert::From<$name> for $crate::OptionValue {
            fn from(options: $name) -> Self {
                $crate::__private::table(options)
            }
        }
    };
    ($($other:tt)*) => {
        ::std::compile_error!(
            "`options!` expects one struct, such as `pub struct Tile { size: i64 = 32 }`; a field is `name: type = \
             default`, or `name: type` if it is mandatory; its type is `bool`, an integer, `f64`, `String`, \
             `Vec<String>`, `Vec<RulesText>`, `Table<i64>` or `Table<OptionValue>`; before a field, in this order \
             and all optional: doc comments, `#[range(0..=8)]` or `#[range(0..)]` with number literals, \
             `#[choices(\"rows\", \"columns\")]` with string literals, and `#[rest]`"
        );
    };
}

/// A default, for the manifest and for the struct.
#[doc(hidden)]
#[macro_export]
macro_rules! __option_default {
    (spec $ty:ident $(<$item:ident>)?) => {
        <$ty $(<$item>)? as $crate::__private::OptionType>::ZERO
    };
    (spec bool $default:expr) => {
        $crate::__private::OptionDefault::Bool($default)
    };
    (spec f64 $default:expr) => {
        $crate::__private::OptionDefault::Float(::std::stringify!($default))
    };
    (spec String $default:expr) => {
        $crate::__private::OptionDefault::Str($default)
    };
    (spec Vec<String> $default:expr) => {
        $crate::__private::OptionDefault::Strs(&$default)
    };
    (spec Vec<RulesText> $default:expr) => {
        $crate::__private::OptionDefault::Rules(&$default)
    };
    (spec Table<$item:ident> $default:expr) => {
        $crate::__option_default!(spec Table<$item>)
    };
    (spec $int:ident $default:expr) => {{
        let default: $int = $default;
        $crate::__private::OptionDefault::Int(default as i64)
    }};
    (range $ty:ident $(<$item:ident>)?) => {
        <$ty $(<$item>)? as $crate::__private::OptionType>::RANGE
    };
    (range Table<$item:ident> $min:literal ..= $max:literal) => {
        $crate::__option_default!(range i64 $min ..= $max)
    };
    (range Table<$item:ident> $min:literal ..) => {
        $crate::__option_default!(range i64 $min ..)
    };
    (rest $ty:ident) => {
        false
    };
    (rest Table rest) => {
        true
    };
    (rest $ty:ident rest) => {
        ::std::compile_error!("`#[rest]` requires a field of type `Table<…>`")
    };
    (range $int:ident $min:literal ..= $max:literal) => {{
        let range: ($int, $int) = ($min, $max);
        ::std::option::Option::Some((range.0 as i64, range.1 as i64))
    }};
    (range $int:ident $min:literal ..) => {{
        let min: $int = $min;
        ::std::option::Option::Some((min as i64, i64::MAX))
    }};
    (value $ty:ident $(<$item:ident>)?) => {
        <$ty $(<$item>)? as ::std::default::Default>::default()
    };
    (value Vec<$item:ident> $default:expr) => {{
        let default: &[&str] = &$default;
        default.iter().map(|item| $item::from(*item)).collect()
    }};
    (value Table<$item:ident> $default:expr) => {{
        // The only default is `[]`.
        let empty: [(::std::string::String, $item); 0] = $default;
        ::std::iter::IntoIterator::into_iter(empty).collect()
    }};
    (value String $default:expr) => {
        ::std::string::String::from($default)
    };
    (value $ty:ident $default:expr) => {
        $default
    };
}
