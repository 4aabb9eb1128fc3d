//! The standard passes of the graph level that trade precision for speed.
//!
//! One folder per pass.

pub mod fast_math;
pub mod to_mixed_precision;
