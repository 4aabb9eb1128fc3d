//! Deserialization errors of serde, as structured data.

/// A deserialization error. It is parsed from serde's message, because formats provide no structured errors.
#[derive(Debug)]
pub enum InvalidShape<'m> {
    /// An unknown key, and the struct's keys.
    UnknownKey(&'m str, Vec<&'m str>),
    /// An unknown variant, and the enum's variants.
    UnknownVariant(&'m str, Vec<&'m str>),
    /// A missing key.
    MissingKey(&'m str),
    /// A value of an unexpected type.
    TypeMismatch {
        /// The value, or its type.
        got: &'m str,
        /// The expected type.
        expected: &'m str,
    },
    /// A custom error of a type.
    Other(&'m str),
}

/// Type names in serde's messages, and the names that we print.
const TYPES: [(&str, &str); 7] = [
    ("u32", "an integer ≥ 0"),
    ("u64", "an integer ≥ 0"),
    ("i64", "an integer"),
    ("a sequence", "a list"),
    ("sequence", "a list"),
    ("a map", "a table"),
    ("map", "a table"),
];

impl<'m> InvalidShape<'m> {
    /// Parses a message: "unknown field `opt_lvl`, expected `opt_level` or `config`", "missing field `name`", "invalid
    /// type: string "3", expected u32".
    pub fn parse(message: &'m str) -> InvalidShape<'m> {
        let (fact, expected) = message.rsplit_once(", expected ").unwrap_or((message, ""));
        // A name may have backticks.
        let name = fact
            .split_once('`')
            .and_then(|(_, rest)| rest.rsplit_once('`'));
        let name = name.map_or("", |(name, _)| name);
        let valid = || expected.split('`').skip(1).step_by(2).collect();
        let type_name = |serde| {
            let own = TYPES.into_iter().find(|(name, _)| *name == serde);
            own.map_or(serde, |(_, own)| own)
        };
        if message.starts_with("unknown field") {
            InvalidShape::UnknownKey(name, valid())
        } else if message.starts_with("unknown variant") {
            InvalidShape::UnknownVariant(name, valid())
        } else if message.starts_with("missing field") {
            InvalidShape::MissingKey(name)
        } else if !expected.is_empty()
            && let Some((_, got)) = fact.split_once(": ")
        {
            InvalidShape::TypeMismatch {
                got: type_name(got),
                expected: type_name(expected),
            }
        } else {
            InvalidShape::Other(message)
        }
    }
}
