//! Structs that grow: tables, views, descriptions.

/// A struct that starts with its size, as the side knows it that filled it, so that fields can be appended to it. The
/// other side reads what both know; what is missing counts as 0, which means "not there" in every field. 0 is an id as
/// well: one that is appended counts only with a flag that says so.
///
/// # Safety
/// `repr(C)`, the first field is `struct_size: u32`, and all zeros is a value of it.
pub unsafe trait Grows: Copy {
    /// The struct's name in messages.
    const NAME: &'static str;
    /// The struct with its size, and nothing else.
    const EMPTY: Self;
    /// Whether it asks the host to do something: a host that doesn't know all that is said in it refuses it.
    const ASKS: bool;

    /// The flags that it has and this side doesn't know, and the word that means nothing yet.
    fn unknown_flags(&self) -> u32 {
        0
    }
}
