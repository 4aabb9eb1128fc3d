//! Data that Rust plugins of different makers share: what one plugin works out about a function,
//! another reads in place, whatever compilers built the two.
//!
//! An [`Analysis`](passdock_plugin_api::Analysis) is seen by the plugin that computes it, and by no
//! other: two compilers lay out a Rust type in two ways, and nothing in it says which. A type that
//! derives `StableAbi`, of the crate `abi_stable`, carries a description of its layout. It goes
//! with the data, and a plugin that finds the data compares it with its own before it reads.
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
//!         None => {} // nobody published it for the function as it is
//!     }
//!     Ok(())
//! }
//! ```
//!
//! What is found borrows the function, whose next edit ends it:
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
//!         drop(cost.flops.len()); // of a function that is no more
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # What a type may be
//!
//! A `#[repr(C)]` struct whose fields are numbers, such structs, and types of
//! `abi_stable::std_types` (`RVec`, `RString`, `ROption`, `RHashMap`, …), which stand for those of `std`.
//! Don't use enums that are `repr(C, u8)`: share structs and `ROption`, and numbers for kinds. No
//! function of the type is shared: each plugin has its own.
//!
//! A published type isn't changed: a new field is a new type with a new [`KEY`](SharedAnalysis::KEY)
//! (`acme.Cost/2`). A maker who forgets that breaks nobody: the layouts differ, and readers get a
//! [`Why`] that names the field.
#![deny(missing_docs)]
#![deny(unsafe_code)]
#![warn(unsafe_op_in_unsafe_fn)]

mod layout;
mod raw;
mod reason;

use abi_stable::StableAbi;
use passdock_plugin_api::Function;

pub use reason::Why;

/// Data about a function that plugins of several makers know.
///
/// It must depend on the function (and on what op definitions say) alone, as an
/// [`Analysis`](passdock_plugin_api::Analysis) must: passes with other options and of other plugins find
/// it. Several threads may read it, and the last one that holds the function drops it: hence `Send`
/// and `Sync`.
pub trait SharedAnalysis: StableAbi + Send + Sync + 'static {
    /// The key: whose data it is, what it is, and the version of its layout (`acme.Cost/1`). It is of
    /// one type.
    const KEY: &'static str;
}

/// Publishes data about the function as it is, for all plugins, and answers what readers find now: the
/// data, or what somebody had published under the key already.
///
/// The function's next edit ends it.
///
/// # Errors
/// If what was published already is of another layout; if the function has 4,096 analyses. The
/// data is dropped then.
pub fn publish<T: SharedAnalysis>(function: &Function, data: T) -> Result<&T, Why> {
    raw::publish(function, data)
}

/// The data that some plugin published about the function as it is; `None` if nobody did.
///
/// The first time that a plugin reads what another made, the two layouts are compared, which takes part
/// of a millisecond; then a table says how that went.
///
/// # Errors
/// If it isn't laid out as this plugin's type, in a sentence that names the field.
pub fn find<T: SharedAnalysis>(function: &Function) -> Option<Result<&T, Why>> {
    raw::find(function)
}
