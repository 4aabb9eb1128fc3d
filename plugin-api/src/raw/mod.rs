//! The unsafe floor of the SDK: the host's tables, and reads and calls through them.
//!
//! Everything above this module is safe Rust. What makes it sound is the contract of
//! `passdock.h`: tables outlive the plugin, a handle and its view live as long as the call (or
//! the guard) that handed them out, a view changes only during an edit, and interned text never
//! moves. Edits take `&mut`, so no borrow of a view's pools survives one.
#![allow(unsafe_code)]

mod analysis;
mod attr_entry;
mod calls;
mod context;
mod function;
mod gate;
mod late;
pub(crate) mod lent;
mod module;
mod op_call;
mod read;
mod tables;

pub use analysis::SharedData;
pub(crate) use analysis::{computing, get_or_compute, preserve, Found};
pub(crate) use context::RawContext;
pub(crate) use function::{Alive, RawFunction};
pub use gate::{end, enter, Panicked};
pub(crate) use gate::{install_hook, running};
pub(crate) use late::Late;
pub(crate) use module::{RawModule, Release};
pub(crate) use op_call::RawOpCall;
pub(crate) use read::Records;
pub use tables::Tables;
pub(crate) use tables::{prefix, text, Texts};
