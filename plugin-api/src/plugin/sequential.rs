//! The Sequentials that a plugin offers: what `plugin!` makes of its section of them.

/// A Sequential: passes in order under a name. It is all in the manifest; no code runs for it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct SequentialSpec {
    pub name: &'static str,
    pub docs: &'static [&'static str],
    pub passes: &'static [ChildSpec],
    pub opt_level: u32,
    pub required: &'static [&'static str],
}

impl SequentialSpec {
    pub const fn new(
        name: &'static str,
        passes: &'static [ChildSpec],
        docs: &'static [&'static str],
    ) -> SequentialSpec {
        SequentialSpec {
            name,
            docs,
            passes,
            opt_level: 0,
            required: &[],
        }
    }
}

/// A child of a Sequential, and its options: their names and values, as the source spells them.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct ChildSpec {
    pub name: &'static str,
    pub options: &'static [(&'static str, &'static str)],
}

/// The list of Sequentials.
#[doc(hidden)]
#[macro_export]
macro_rules! __sequentials {
    ($(
        $(#[doc = $doc:expr])*
        $sequential:literal => [$($children:tt)*] $({ $($keys:tt)* })?
    ),* $(,)?) => {
        &[$(
            $crate::__sequential!(
                @keys
                ($crate::__private::SequentialSpec::new(
                    $sequential,
                    $crate::__sequential!(@children $($children)*),
                    &[$($doc),*],
                ))
                []
                $($($keys)*)?
            ),
        )*]
    };
}

/// Parts of a Sequential.
#[doc(hidden)]
#[macro_export]
macro_rules! __sequential {
    (@children $($child:literal $({ $($option:tt: $value:expr),* $(,)? })?),* $(,)?) => {
        &[$(
            $crate::__private::ChildSpec {
                name: $child,
                options: &[$($((
                    ::std::stringify!($option),
                    ::std::stringify!($value),
                )),*)?],
            },
        )*]
    };
    (@keys ($new:expr) [$($done:tt)*]) => {
        $crate::__private::SequentialSpec { $($done)* ..$new }
    };
    (@keys ($new:expr) [$($done:tt)*] opt_level: $value:expr $(, $($rest:tt)*)?) => {
        $crate::__sequential!(@keys ($new) [$($done)* opt_level: $value,] $($($rest)*)?)
    };
    (@keys ($new:expr) [$($done:tt)*] required: $value:expr $(, $($rest:tt)*)?) => {
        $crate::__sequential!(@keys ($new) [$($done)* required: &$value,] $($($rest)*)?)
    };
    (@keys ($new:expr) [$($done:tt)*] $key:ident : $($rest:tt)*) => {
        ::std::compile_error!(::std::concat!(
            "`", ::std::stringify!($key), "` is no key of a Sequential; there are `opt_level` and \
             `required`"
        ))
    };
}
