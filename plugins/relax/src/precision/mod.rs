//! The graph-level standard passes that trade precision for speed, one folder each.

pub mod fast_math;
pub mod to_mixed_precision;
