//! The standard passes of the graph level that make functions of groups of ops, and what such a function is made with.
//!
//! A group is a model function whose body is the ops, in a domain of its own, so that the model still runs and a back
//! end recognises what is its.

pub mod defuse_ops;
pub mod fuse_ops;
pub mod fuse_ops_by_pattern;
pub mod group;
pub mod partition;
mod shared;

pub use shared::domains::take_back_domains;
