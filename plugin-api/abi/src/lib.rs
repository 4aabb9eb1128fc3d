//! The contract between a passdock host and its pass plugins.
//!
//! Only C crosses: `#[repr(C)]` records, fixed-width integers, `{pointer, length}` UTF-8 strings,
//! kinds as integer newtypes that have room for values a reader doesn't know, and
//! `Option<extern "C" fn>`. The normative text (who owns a pointer, how long it lives, whether it
//! may be null, which thread may use it, what a status asks of the caller) is the C header
//! `include/passdock.h`.
//!
//! The table in `contract/` describes all of it; `cargo xtask generate` writes the declarations here, the C headers,
//! the calls of the SDK and the C functions of the host.
//!
//! How it grows, and never breaks:
//! - tables and argument structs that are passed by pointer start with `struct_size`: a reader uses
//!   the prefix that both sides know;
//! - arrays of such structs, and of a table's entries, carry a stride;
//! - records in columns ([`Column`]) are final, and so is what crosses by value: new data comes as a
//!   new column, a new field of a struct with a size, a new function of a table; nothing is reordered,
//!   retyped or reused;
//! - two versions are negotiated on their own: the layout ([`ABI`]) and the meaning ([`IR`]).
#![no_std]
#![deny(missing_docs)]

#[macro_use]
mod macros;
mod declarations;
mod grow;
mod values;

pub use declarations::*;
pub use grow::Grows;
pub use values::{Entry, ABI, ENTRY_SYMBOL, IR, MANIFEST_SYMBOL, OLDEST_MINOR};
