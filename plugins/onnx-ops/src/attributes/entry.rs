//! [`Entry`]: what is said of attributes of one name.

/// An attribute of one name.
pub(super) struct Entry {
    pub(super) name: &'static str,
    /// The operators that it is this of, without their domain; none: all others.
    pub(super) of: &'static [&'static str],
    /// The words that a string may be, if they are listed.
    pub(super) words: &'static [&'static str],
    /// The least and the largest that an integer may be.
    pub(super) range: (i64, i64),
    /// The meaning: a sentence.
    pub(super) doc: &'static str,
}

/// A table of [`Entry`], by name: `NAME (OPERATOR, …) ["WORD", …] from LEAST to MOST: "SENTENCE"`, all but
/// name and sentence as there is a need for them.
macro_rules! entry {
    ($($name:ident $(($($of:ident),+))? $([$($word:literal),+])? $(from $least:literal $(to $most:literal)?)?:
        $doc:literal;)*) => {
        &[$(Entry {
            name: stringify!($name),
            of: &[$($(stringify!($of)),+)?],
            words: &[$($($word),+)?],
            range: entry!(@range $($least $($most)?)?),
            doc: entry!(@doc $doc $($($word)+)?),
        }),*]
    };
    (@range) => { (i64::MIN, i64::MAX) };
    (@range $least:literal) => { ($least, i64::MAX) };
    (@range $least:literal $most:literal) => { ($least, $most) };
    (@doc $doc:literal) => { concat!($doc, ".") };
    (@doc $doc:literal $first:literal $($word:literal)*) => {
        concat!($doc, " (`", $first, "`", $(", `", $word, "`",)* ").")
    };
}
pub(super) use entry;
