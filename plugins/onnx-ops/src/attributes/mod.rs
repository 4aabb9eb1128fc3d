//! The documentation and ranges of attributes. Operators share the entries of attributes with the same meaning.

mod entry;
mod look_up;
mod others;
mod standard;

pub(crate) use look_up::{check, documented, enum_values};
