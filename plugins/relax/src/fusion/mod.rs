//! The graph-level standard passes that outline groups of ops into functions.
//!
//! A group becomes a model function in a separate domain. The model still runs, and a back end recognizes its functions
//! by domain and attributes.

pub mod defuse_ops;
pub mod fuse_ops;
pub mod fuse_ops_by_pattern;
pub mod group;
pub mod partition;
mod shared;

pub use shared::domains::remove_domains;
pub(crate) use shared::marks::{CODEGEN, is_primitive};
