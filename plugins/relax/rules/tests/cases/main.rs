//! Cases of the passes that are rules, a file a pass or a subject. They are one program: each links the host and all
//! operators.

mod fold_explicit_padding;
mod fuse_operators;
mod fuse_operators_norms;
mod simplify_expr;
mod simplify_expr_axes;
mod simplify_expr_bounds;
mod simplify_expr_casts;
mod simplify_expr_others;
mod simplify_expr_parts;
mod simplify_expr_pieces;
mod simplify_expr_rows;
mod simplify_expr_transposes;
mod simplify_expr_values;
mod simplify_expr_views_apart;
#[path = "../../../tests/support/mod.rs"]
mod support;
