//! Trust in plugins: the checks of plugin files before any of them is loaded.
//!
//! [`needed`] finds the plugins that a run may load. [`lock`] writes them to a lock file, whose format is in
//! [`lock_file`]. [`admission`] compares plugins with the lock file and verifies their signatures ([`signature`]).
//!
//! **Invariant:** a plugin that was checked isn't loaded if its file changes afterwards.

mod admission;
mod contents;
mod lock;
mod lock_file;
mod needed;
mod signature;

pub(crate) use admission::prepared;
pub use lock::{LockChange, LockUpdate, Locked, lock, lock_path};
pub use lock_file::{LockedPlugin, check_lock_file};
pub(crate) use needed::has_ops;
pub use signature::{signature_key, signature_path};

/// The names of the standard plugins, which are released together with the host.
pub(crate) const STANDARD: [&str; 3] = ["onnx-ops", "relax", "tir"];
