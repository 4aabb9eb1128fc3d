//! `relax.transform.SimplifyExpr`: rewrites expressions to equivalent ones with fewer or cheaper ops.
//!
//! ```ir
//! fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 13) {
//!   %one = const f32[] 1.0
//!   %0 = onnx.Mul(%x, %one) : f32[2,3]
//!   %1 = onnx.Neg(%0) : f32[2,3]
//!   %2 = onnx.Neg(%1) : f32[2,3]
//!   %3 = onnx.Relu(%2) : f32[2,3]
//!   return %3
//! }
//! →
//! fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 13) {
//!   %0 = onnx.Relu(%x) : f32[2,3]
//!   return %0
//! }
//! ```
//!
//! No rule increases the number of ops.
//!
//! Source: TVM `src/relay/transforms/simplify_expr.cc`.

mod arithmetic;
mod bounds;
mod broadcast_views;
mod constants;
mod dtypes;
mod joined;
mod pads;
mod pieces;
mod products;
mod recurrent;
mod reductions;
mod rows;
mod sequences;
mod slices;
mod transposed_axes;
mod transposes;
mod transposes_below;
mod views;
mod views_apart;

use passdock_plugin_api::prelude::*;

options! {
    /// Options of SimplifyExpr.
    pub struct SimplifyExpr {
        /// Whether to keep `x + 0.0` and `x - -0.0`, which turn a `-0.0` into `0.0`.
        keep_negative_zero: bool = false,
    }
}

/// Runs the pass.
///
/// # Errors
/// If an edit is rejected.
pub fn simplify_expr(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<SimplifyExpr>()?;
    let mut rules = RULES.to_vec();
    if options.keep_negative_zero {
        rules[0] = &arithmetic::EXACT_ZEROS;
    }
    cx.rewrite(f, &rules)?;
    if rows::flatten(f, cx)? {
        cx.rewrite(f, &rules)?;
    }
    Ok(())
}

/// The rules, public for tests on models. The option `keep_negative_zero` replaces the first ones.
#[doc(hidden)]
pub static RULES: [&Rules; 18] = [
    &arithmetic::ZEROS,
    &arithmetic::NEUTRAL,
    &arithmetic::INVERSES,
    &bounds::RULES,
    &constants::RULES,
    &dtypes::RULES,
    &products::RULES,
    // Before the views: a Transpose of unit dims may meet another Transpose.
    &transposes::RULES,
    &transposes_below::RULES,
    &views::RULES,
    &views_apart::RULES,
    &pieces::RULES,
    &joined::RULES,
    &sequences::RULES,
    &slices::RULES,
    &pads::RULES,
    &recurrent::RULES,
    &reductions::RULES,
];
