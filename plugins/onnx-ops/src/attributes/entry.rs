//! [`Entry`]: the documentation and range of an attribute.

/// An attribute, for some or all operators.
pub(super) struct Entry {
    pub(super) name: &'static str,
    /// The operators without their domain. If empty: all without a more specific entry.
    pub(super) of: &'static [&'static str],
    /// The values of a string attribute, if it is an enum.
    pub(super) enum_values: &'static [&'static str],
    /// The minimum and maximum of an integer.
    pub(super) range: (i64, i64),
    /// The description.
    pub(super) doc: &'static str,
}

/// Builds a table of [`Entry`], sorted by name: `NAME (OPERATOR, …) ["WORD", …] from MIN to MAX: "DESCRIPTION"`. All
/// parts between the name and the colon are optional.
macro_rules! entry {
    ($($name:ident $(($($of:ident),+))? $([$($enum_value:literal),+])? $(from $least:literal $(to $most:literal)?)?:
        $doc:literal;)*) => {
        &[$(Entry {
            name: stringify!($name),
            of: &[$($(stringify!($of)),+)?],
            enum_values: &[$($($enum_value),+)?],
            range: entry!(@range $($least $($most)?)?),
            doc: entry!(@doc $doc $($($enum_value)+)?),
        }),*]
    };
    (@range) => { (i64::MIN, i64::MAX) };
    (@range $least:literal) => { ($least, i64::MAX) };
    (@range $least:literal $most:literal) => { ($least, $most) };
    (@doc $doc:literal) => { concat!($doc, ".") };
    (@doc $doc:literal $first:literal $($enum_value:literal)*) => {
        concat!($doc, " (`", $first, "`", $(", `", $enum_value, "`",)* ").")
    };
}
pub(super) use entry;
