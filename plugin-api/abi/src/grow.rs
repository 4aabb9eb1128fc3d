//! Structs that may get more fields: tables, views, descriptions.

/// A struct that starts with its size, which the side that filled it sets, so that fields can be appended.
///
/// The other side reads the fields that both know. A missing field counts as 0, which means "not set". Since 0 is also
/// a valid id, an appended id counts only with a flag.
///
/// # Safety
/// The type is `repr(C)`, its first field is `struct_size: u32`, and all zeros is a valid value.
pub unsafe trait Grows: Copy {
    /// The struct's name in messages.
    const NAME: &'static str;
    /// The struct with its size set and all other fields 0.
    const EMPTY: Self;
    /// Whether it is a request: a host that doesn't know all of its fields rejects it.
    const ASKS: bool;

    /// Returns the flags that this side doesn't know, combined with the reserved field.
    fn unknown_flags(&self) -> u32 {
        0
    }
}
