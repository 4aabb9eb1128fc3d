//! The standard passes of the graph level that find patterns of ops and replace them.
//!
//! The plugin `relax` lists them among its passes; `rules!` and the driver behind it are the SDK's. One folder per
//! pass, with the rules by what they are about.

pub mod fold_explicit_padding;
pub mod fuse_operators;
mod shared;
pub mod simplify_expr;

pub use shared::kernels;
