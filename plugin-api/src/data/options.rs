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
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($fields:tt)* }) => {
        $crate::__options!({ $(#[$meta])* $vis struct $name } [] $($fields)* ,);
    };
}

// As for `plugin!`: there is no rule for invalid syntax, a comma is appended to the fields, and names are matched as
// `tt`.

/// Expands the fields of a struct of options, each to a list of its parts.
#[doc(hidden)]
#[macro_export]
macro_rules! __options {
    ($head:tt $fields:tt $(,)?) => {
        $crate::__options_struct!($head $fields);
    };
    (
        $head:tt $done:tt
        $(#[doc = $doc:expr])*
        $(#[range $range:tt])?
        $(#[choices $choices:tt])?
        $(#[rest $($rest:literal)?])?
        $vis:vis $field:ident: $($more:tt)*
    ) => {
        $crate::__option_type!(
            $head $done
            [[$($doc)*] [$($range)?] [$($choices)?] [$(true $($rest)?)?] [$vis] $field]
            $($more)*
        );
    };
}

/// Expands the type and the default of a field. A type of options becomes tokens; any other type is an error later.
#[doc(hidden)]
#[macro_export]
macro_rules! __option_type {
    ($head:tt [$($done:tt)*] [$($parts:tt)*] Vec<String> $(= $default:expr)?, $($more:tt)*) => {
        $crate::__options!($head [$($done)* [$($parts)* [Vec<String>] [$($default)?]]] $($more)*);
    };
    ($head:tt [$($done:tt)*] [$($parts:tt)*] Vec<RulesText> $(= $default:expr)?, $($more:tt)*) => {
        $crate::__options!($head [$($done)* [$($parts)* [Vec<RulesText>] [$($default)?]]] $($more)*);
    };
    ($head:tt [$($done:tt)*] [$($parts:tt)*] Table<i64> $(= $default:expr)?, $($more:tt)*) => {
        $crate::__options!($head [$($done)* [$($parts)* [Table<i64>] [$($default)?]]] $($more)*);
    };
    ($head:tt [$($done:tt)*] [$($parts:tt)*] Table<OptionValue> $(= $default:expr)?, $($more:tt)*) => {
        $crate::__options!($head [$($done)* [$($parts)* [Table<OptionValue>] [$($default)?]]] $($more)*);
    };
    ($head:tt [$($done:tt)*] [$($parts:tt)*] $ty:tt $(= $default:expr)?, $($more:tt)*) => {
        $crate::__options!($head [$($done)* [$($parts)* [$ty] [$($default)?]]] $($more)*);
    };
    // Without the default, which would cause more errors.
    ($head:tt [$($done:tt)*] [$($parts:tt)*] $ty:ty $(= $default:expr)?, $($more:tt)*) => {
        $crate::__options!($head [$($done)* [$($parts)* [$ty] []]] $($more)*);
    };
}

/// Expands a struct of options.
#[doc(hidden)]
#[macro_export]
macro_rules! __options_struct {
    (
        { $(#[$meta:meta])* $vis:vis struct $name:ident }
        [$([
            [$($doc:expr)*] $range:tt $choices:tt $rest:tt
            [$field_vis:vis] $field:tt [$($ty:tt)*] $default:tt
        ])*]
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $($(#[doc = $doc])* $field_vis $field: $($ty)*,)*
        }

        const _: () = {
            $crate::__no_duplicates!($($field)*);

            /// The defaults as constants, so that each is compiled once.
            struct Defaults;

            #[allow(non_upper_case_globals)]
            impl Defaults {
                $($crate::__option!(constant $field [$($ty)*] $default);)*
            }

            impl ::std::default::Default for $name {
                fn default() -> Self {
                    $name { $($field: $crate::__option!(value $field [$($ty)*] $default),)* }
                }
            }

            impl $crate::Options for $name {
                const OPTIONS: &'static [$crate::__private::OptionSpec] = &[
                    $($crate::__private::OptionSpec {
                        name: ::std::stringify!($field),
                        docs: &[$($doc),*],
                        default: $crate::__option!(spec $field [$($ty)*] $default),
                        mandatory: $crate::__option!(mandatory $default),
                        range: $crate::__option!(range [$($ty)*] $range),
                        choices: $crate::__option!(choices [$($ty)*] $choices),
                        rest: $crate::__option!(rest [$($ty)*] $rest),
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
                    let defaults = <Self as ::std::default::Default>::default();
                    ::std::result::Result::Ok($name {
                        $($field: ($crate::__private::option::<$($ty)*>().read)(
                            ::std::stringify!($field),
                            source(::std::stringify!($field)),
                            defaults.$field,
                        )?,)*
                    })
                }

                fn values(self) -> ::std::vec::Vec<$crate::OptionValue> {
                    ::std::vec![$(($crate::__private::option::<$($ty)*>().into_value)(self.$field)),*]
                }
            }
        };

        impl ::std::convert::From<$name> for $crate::OptionValue {
            fn from(options: $name) -> Self {
                $crate::__private::table(options)
            }
        }
    };
}

/// Expands a part of a field.
#[doc(hidden)]
#[macro_export]
macro_rules! __option {
    (constant $field:tt $ty:tt []) => {};
    (constant $field:tt [String] [$default:expr]) => {
        const $field: &'static str = $default;
    };
    (constant $field:tt [Vec<String>] [$default:expr]) => {
        const $field: &'static [&'static str] = &$crate::__private::list($default);
    };
    (constant $field:tt [Vec<RulesText>] $default:tt) => {
        $crate::__option!(constant $field [Vec<String>] $default);
    };
    // The only default of a table is `[]`.
    (constant $field:tt [Table<$item:tt>] [$default:expr]) => {
        const $field: [(::std::string::String, $item); 0] = $default;
    };
    (constant $field:tt [$($ty:tt)*] [$default:expr]) => {
        const $field: $($ty)* = $default;
    };

    (value $field:tt [String] [$default:expr]) => {
        ::std::string::String::from(Defaults::$field)
    };
    (value $field:tt [Vec<String>] [$default:expr]) => {
        Defaults::$field.iter().copied().map(::std::convert::From::from).collect()
    };
    (value $field:tt [Vec<RulesText>] $default:tt) => {
        $crate::__option!(value $field [Vec<String>] $default)
    };
    (value $field:tt [Table<$item:tt>] [$default:expr]) => {
        ::std::iter::IntoIterator::into_iter(Defaults::$field).collect()
    };
    (value $field:tt $ty:tt [$default:expr]) => {
        Defaults::$field
    };
    (value $field:tt [$($ty:tt)*] []) => {
        <$($ty)* as ::std::default::Default>::default()
    };

    (spec $field:tt [bool] [$default:expr]) => {
        $crate::__private::OptionDefault::Bool(Defaults::$field)
    };
    (spec $field:tt [f64] [$default:expr]) => {
        $crate::__private::OptionDefault::Float(::std::stringify!($default))
    };
    (spec $field:tt [String] [$default:expr]) => {
        $crate::__private::OptionDefault::Str(Defaults::$field)
    };
    (spec $field:tt [Vec<RulesText>] [$default:expr]) => {
        $crate::__private::OptionDefault::Rules(Defaults::$field)
    };
    (spec $field:tt [Vec<String>] [$default:expr]) => {
        $crate::__private::OptionDefault::Strs(Defaults::$field)
    };
    (spec $field:tt [$int:tt] [$default:expr]) => {
        $crate::__private::OptionDefault::Int(Defaults::$field as i64)
    };
    // No default, or an empty table.
    (spec $field:tt [$($ty:tt)*] $default:tt) => {
        $crate::__private::option::<$($ty)*>().zero
    };

    (mandatory []) => {
        true
    };
    (mandatory $default:tt) => {
        false
    };

    (range [$($ty:tt)*] []) => {
        $crate::__private::option::<$($ty)*>().range
    };
    (range [Table<i64>] $range:tt) => {
        $crate::__option!(range [i64] $range)
    };
    (range [$($ty:tt)*] [($min:literal ..= $max:literal)]) => {{
        $crate::__option!(applies RangeType [$($ty)*]);
        let range: [$($ty)*; 2] = [$min, $max];
        ::std::option::Option::Some((range[0] as i64, range[1] as i64))
    }};
    (range [$($ty:tt)*] [($min:literal ..)]) => {{
        $crate::__option!(applies RangeType [$($ty)*]);
        let min: $($ty)* = $min;
        ::std::option::Option::Some((min as i64, i64::MAX))
    }};

    (choices $ty:tt []) => {
        &[]
    };
    (choices $ty:tt [($($choice:literal),+ $(,)?)]) => {{
        $crate::__option!(applies ChoicesType $ty);
        &[$($choice),+]
    }};

    (rest $ty:tt []) => {
        false
    };
    (rest $ty:tt [true]) => {{
        $crate::__option!(applies RestType $ty);
        true
    }};

    // Whether an attribute applies to a type.
    (applies $attribute:ident [$($ty:tt)*]) => {
        const fn applies<T: $crate::__private::$attribute>() {}
        applies::<$($ty)*>()
    };
}
