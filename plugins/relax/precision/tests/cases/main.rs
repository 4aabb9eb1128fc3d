//! Cases of the passes that trade precision for speed, a file a pass or a subject. They are one program: each links the
//! host and all operators.

mod fast_math;
mod fast_math_errors;
mod mixed_precision;
mod mixed_precision_casts;
mod mixed_precision_constants;
mod mixed_precision_options;
mod mixed_precision_vendor;
#[path = "../../../tests/support/mod.rs"]
mod support;
