//! The ABI between a passdock host and its pass plugins.
//!
//! It is a C ABI: `#[repr(C)]` records, fixed-width integers, `{pointer, length}` UTF-8 strings, integer newtypes for
//! kinds, which may have unknown values, and `Option<extern "C" fn>`. The normative text is the C header
//! `include/passdock.h`: ownership, lifetimes, nullability, threads, and the meaning of statuses.
//!
//! The tables in `table/` describe the ABI. `cargo xtask generate` generates the declarations here, the C headers,
//! the calls of the SDK and the C functions of the host from them.
//!
//! Compatible changes:
//! - Tables and argument structs that are passed by pointer start with `struct_size`. A reader uses the prefix that
//!   both sides have.
//! - Arrays of such structs, and of a table's entries, have a stride.
//! - Records in columns ([`Column`]), and types that are passed by value, are final. New data is a new column, a new
//!   field of a struct with a size, or a new function of a table. Nothing is reordered, retyped or reused.
//! - The versions of the layout ([`ABI`]) and of the meaning ([`IR`]) are negotiated separately.
#![no_std]
#![deny(missing_docs)]

#[macro_use]
mod macros;
mod declarations;
mod grow;
mod values;

pub use declarations::*;
pub use grow::Grows;
pub use values::{Entry, ABI, ENTRY_SYMBOL, IR, LANGUAGE, MANIFEST_SYMBOL};
