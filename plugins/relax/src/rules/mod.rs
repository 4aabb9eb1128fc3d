//! The pattern-based rewrite passes on graph functions.
//!
//! `rules!` and the rewrite driver are part of the SDK. Each pass has a folder; its files group the rules by subject.

pub mod fold_explicit_padding;
pub mod fuse_operators;
mod shared;
pub mod simplify_expr;

pub use shared::kernels;
