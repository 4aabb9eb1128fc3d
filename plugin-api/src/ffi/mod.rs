//! The host's tables, columns and descriptions, and the gate into plugin code.
//!
//! Most of the SDK is safe Rust on top of this module; the exceptions are the generated calls (`calls.rs`), the C
//! functions of `entry/`, and code that creates handles. Soundness relies on the rules of `passdock.h`: tables outlive
//! the plugin. A handle and its view live as long as the call, or the guard, that returned them. A view changes only
//! during an edit, and interned strings never move. Edits take `&mut`, so no borrow of a view's pools outlives one.
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
pub use gate::{enter, install_hook, Panicked};
pub(crate) use setting::setting;
pub use tables::Tables;
pub(crate) use tables::{
    bytes, check, elements, host_function, prefix, strided, text, zeroed, RawSymbols, Texts,
};
