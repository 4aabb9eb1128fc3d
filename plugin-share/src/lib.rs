//! Data about a function that Rust plugins of different vendors share: one plugin publishes it, and
//! another reads it in place. The plugins may be built with different compilers.
//!
//! An [`Analysis`](passdock_plugin_api::Analysis) is only visible to the plugin that computes it, because
//! the layout of a Rust type depends on the compiler. A type that derives `StableAbi`, from the crate
//! `abi_stable`, has a description of its layout. The description is published with the data, and a
//! reader compares it with its own before it reads.
//!
//! The type is in a crate that both plugins depend on:
//!
//! ```
//! use abi_stable::{std_types::RVec, StableAbi};
//! use passdock_plugin_share::SharedAnalysis;
//!
//! /// What the ops of a function cost.
//! #[repr(C)]
//! #[derive(StableAbi)]
//! pub struct Cost {
//!     /// Floating point operations of each op, in program order.
//!     pub flops: RVec<u64>,
//! }
//!
//! impl SharedAnalysis for Cost {
//!     const KEY: &'static str = "acme.Cost/1";
//! }
//!
//! # use passdock_plugin_api::prelude::*;
//! use passdock_plugin_share as share;
//!
//! // In one plugin:
//! fn publish_cost(f: &mut Function, _cx: &PassContext) -> PassResult {
//!     let flops = f.ops().map(|op| f.results(op).len() as u64);
//!     share::publish(f, Cost { flops: flops.collect() })?;
//!     Ok(())
//! }
//!
//! // In another:
//! fn read_cost(f: &mut Function, cx: &PassContext) -> PassResult {
//!     match share::find::<Cost>(f) {
//!         Some(Ok(cost)) => cx.emit(&Diagnostic::note(format!("{} ops", cost.flops.len()))),
//!         Some(Err(why)) => cx.emit(&Diagnostic::warning(why)),
//!         None => {} // not published for the current state of the function
//!     }
//!     Ok(())
//! }
//! ```
//!
//! The data borrows the function, and an edit of the function invalidates it:
//!
//! ```compile_fail,E0502
//! # use abi_stable::{std_types::RVec, StableAbi};
//! # use passdock_plugin_api::prelude::*;
//! # use passdock_plugin_share::{self as share, SharedAnalysis};
//! # #[repr(C)]
//! # #[derive(StableAbi)]
//! # pub struct Cost { pub flops: RVec<u64> }
//! # impl SharedAnalysis for Cost { const KEY: &'static str = "acme.Cost/1"; }
//! fn wrong(f: &mut Function, _cx: &PassContext, op: OpId) -> PassResult {
//!     if let Some(Ok(cost)) = share::find::<Cost>(f) {
//!         f.erase_op(op)?;
//!         drop(cost.flops.len()); // the function has changed
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # Supported types
//!
//! A shared type is a `#[repr(C)]` struct. Its fields are numbers, such structs, and types of
//! `abi_stable::std_types` (`RVec`, `RString`, `ROption`, `RHashMap`, …), which correspond to those of `std`.
//! Don't use enums that are `repr(C, u8)`: use structs, `ROption`, and numbers for kinds. Methods of
//! the type aren't shared: each plugin has its own.
//!
//! Don't change a published type. To add a field, define a new type with a new
//! [`KEY`](SharedAnalysis::KEY) (`acme.Cost/2`). If a published type is changed anyway, readers with the
//! old layout get a [`Why`] that names the field.
#![deny(missing_docs)]
#![deny(unsafe_code)]
#![warn(unsafe_op_in_unsafe_fn)]

mod layout;
mod raw;
mod reason;

use abi_stable::StableAbi;
use passdock_plugin_api::Function;

pub use reason::Why;

/// Data about a function that plugins of several vendors share.
///
/// It must depend only on the function and on op definitions, like an
/// [`Analysis`](passdock_plugin_api::Analysis), because passes with other options and passes of other
/// plugins find it. Several threads may read it, and any thread may drop it. It is therefore `Send` and
/// `Sync`.
pub trait SharedAnalysis: StableAbi + Send + Sync + 'static {
    /// The key: the vendor, the name, and the version of the layout (`acme.Cost/1`). A key belongs to one
    /// type.
    const KEY: &'static str;
}

/// Publishes data about the current state of the function for all plugins.
///
/// Returns the data that readers find: `data`, or the data that was already published under the key.
/// The next edit of the function drops it.
///
/// # Errors
/// Fails and drops `data` if the data that was already published has another layout, or if the function
/// has 4,096 analyses.
pub fn publish<T: SharedAnalysis>(function: &Function, data: T) -> Result<&T, Why> {
    raw::publish(function, data)
}

/// Returns the data that a plugin published about the current state of the function; `None` if there is none.
///
/// The first time a plugin reads another plugin's data, the two layouts are compared, which takes less than
/// a millisecond. The result is cached.
///
/// # Errors
/// Fails with a message that names the field if the data has another layout than this plugin's type.
pub fn find<T: SharedAnalysis>(function: &Function) -> Option<Result<&T, Why>> {
    raw::find(function)
}
