//! Cases that IR text can't express: they are generated, computed or counted. They are one program, because it links
//! the host and all operators.

mod bind_params;
mod diagnostics;
mod fast_math_errors;
mod fold_scale_axis_kernels;
mod layouts_evaluated;
mod scale;
#[path = "../support/mod.rs"]
mod support;
