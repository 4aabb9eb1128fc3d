//! The host's tables, columns and descriptions, and the gate into plugin code.
//!
//! The modules above this one are safe Rust on top of it, but for the generated calls (`calls.rs`), the C functions of
//! `entry/` and what makes handles of the host's tables. What makes it sound is the contract of `passdock.h`: tables
//! outlive the plugin, a handle and its view live as long as the call (or the guard) that handed them out, a view
//! changes only during an edit, and interned text never moves. Edits take `&mut`, so no borrow of a view's pools
//! survives one.
#![allow(unsafe_code)]

mod column;
pub(crate) mod describe;
pub(crate) mod descriptions;
mod function;
mod gate;
mod setting;
mod tables;

pub(crate) use column::{Record, Records};
pub(crate) use describe::Borrowed;
pub(crate) use function::{seen, Alive};
pub use function::{Function, FunctionHandle};
pub use gate::{end, enter, Panicked};
pub(crate) use gate::{install_hook, running};
pub(crate) use setting::setting;
pub use tables::Tables;
pub(crate) use tables::{bytes, elements, prefix, strided, text, there, zeroed, RawSymbols, Texts};
