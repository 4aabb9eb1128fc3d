//! What the cases in IR text beside the passes can't say: they are made, computed or counted. One program, as it links
//! the host and all operators.

mod bind_params;
mod diagnostics;
mod fast_math_errors;
mod fold_scale_axis_kernels;
mod layouts_evaluated;
mod scale;
#[path = "../support/mod.rs"]
mod support;
