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

/// Stops the compilation at the value of an option that TOML would read otherwise, or not at all.
pub(super) const fn check_value(text: &str) {
    let bytes = text.as_bytes();
    let (mut i, mut in_string, mut is_number) = (0, false, false);
    while i < bytes.len() {
        let b = bytes[i];
        let is_known = if in_string {
            if b == b'\\' {
                i += 1;
                i < bytes.len() && matches!(bytes[i], b'"' | b'\\' | b'n' | b'r' | b't')
            } else {
                in_string = b != b'"';
                b >= b' '
            }
        } else {
            match b {
                b'"' => {
                    in_string = true;
                    !is_number
                }
                // TOML has a digit after the point.
                b'.' => is_number && i + 1 < bytes.len() && bytes[i + 1].is_ascii_digit(),
                b'e' | b'E' if is_number => true,
                b't' | b'f' => {
                    let word: &[u8] = if b == b't' { b"true" } else { b"false" };
                    let is_word = starts(bytes, i, word);
                    i += word.len() - 1;
                    is_word && !is_number
                }
                _ => {
                    let is_between = matches!(b, b'[' | b']' | b',' | b'-' | b' ' | b'\n');
                    is_between || b.is_ascii_digit() || is_number && b == b'_'
                }
            }
        };
        assert!(
            is_known,
            "the value of a child's option is a literal: `true`, `3`, `0.5`, `\"text\"`, or a list of these"
        );
        is_number = !in_string
            && matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'_')
            && !matches!(b, b'e' if !is_number);
        i += 1;
    }
}

const fn starts(bytes: &[u8], at: usize, word: &[u8]) -> bool {
    let mut i = 0;
    while i < word.len() {
        if at + i >= bytes.len() || bytes[at + i] != word[i] {
            return false;
        }
        i += 1;
    }
    true
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

#[cfg(test)]
mod tests {
    use super::check_value;

    #[test]
    fn values_are_those_that_toml_reads() {
        let is_read = |text: &'static str| std::panic::catch_unwind(|| check_value(text)).is_ok();
        for good in [
            "3",
            "-3",
            "1_000",
            "0.5",
            "1e-5",
            "1.5e3",
            "true",
            "false",
            "\"a\\\"b\\n\"",
            "\"\"",
            "[1, 2]",
            "[\"a\", \"b\"]",
            "[true, false]",
            "[]",
        ] {
            assert!(is_read(good), "{}", good);
        }
        for bad in [
            "LIMIT",
            "3i64",
            "3usize",
            "1.",
            ".5",
            "r\"a\"",
            "\"\\u{1}\"",
            "'a'",
            "Some(3)",
            "0x10",
            "truely",
            "3true",
            "1 + 2",
            "b\"a\"",
        ] {
            assert!(!is_read(bad), "{}", bad);
        }
    }
}
