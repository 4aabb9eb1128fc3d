//! The standard passes of the graph level that find patterns of ops and replace them.
//!
//! `rules!` and its driver are the SDK's. One folder per pass, with the rules by subject.

pub mod fold_explicit_padding;
pub mod fuse_operators;
mod shared;
pub mod simplify_expr;

pub use shared::kernels;
