//! Cases of the passes, a file a pass or a subject. They are one program: each links the host and all operators.

mod bind_params;
mod bind_symbolic_vars;
mod calls;
mod canonicalize_bindings;
mod combine_parallel_convs;
mod combine_parallel_matmul;
mod dead_code_elimination;
mod decompose_ops;
mod diagnostics;
mod dynamic_to_static;
mod dynamic_to_static_sizes;
mod eliminate_common_subexpr;
mod eliminate_common_subexpr_scopes;
mod fold_batch_norm;
mod fold_batch_norm_sums;
mod fold_constant;
mod fold_growth;
mod fold_scale_axis;
mod fold_scale_axis_left;
mod infer_type;
mod infer_type_declared;
mod infer_type_kinds;
mod infer_type_says;
mod infer_type_sizes;
mod inline_functions;
mod lambda_lift;
mod legalize;
mod own_functions;
mod raise_opset;
mod raise_opset_adapters;
mod simplify_inference;
mod skip_optimization;
#[path = "../support/mod.rs"]
mod support;
mod to_a_normal_form;
mod tvm;
