//! `relax.transform.FuseOperators`: replaces groups of ops with one equivalent operator.
//!
//! ```ir
//! fn @main(%x: f32[n,8]) -> (%y: f32[n,8]) opset("" = 20) {
//!   %root = const f32[] 1.4142135
//!   %one = const f32[] 1.0
//!   %half = const f32[] 0.5
//!   %0 = onnx.Div(%x, %root) : f32[n,8]
//!   %1 = onnx.Erf(%0) : f32[n,8]
//!   %2 = onnx.Add(%1, %one) : f32[n,8]
//!   %3 = onnx.Mul(%x, %2) : f32[n,8]
//!   %4 = onnx.Mul(%3, %half) : f32[n,8]
//!   return %4
//! }
//! →
//! fn @main(%x: f32[n,8]) -> (%y: f32[n,8]) opset("" = 20) {
//!   %0 = onnx.Gelu(%x) : f32[n,8]
//!   return %0
//! }
//! ```
//!
//! The model's opset must have the operator, and the result must have fewer ops. So a group stays if other ops use its
//! intermediate results.
//!
//! - `LayerNormalization`, from opset 17: `(x - mean) / √(variance + epsilon)` along the last axes, with scale and
//!   bias; also with the scale factored out, as Keras writes it, and 16-bit floats between two Casts to float32 and
//!   back;
//! - `RMSNormalization`, from 23: `x / √(mean square + epsilon)` along the last axes, with a scale; also between two
//!   Casts;
//! - `Gelu`, from 20: `x/2 (1 + erf(x/√2))` and its approximation by tanh, with the factors in any order;
//! - `HardSigmoid`, from 6: a `Clip` of `alpha x + beta` to 0 and 1; `HardSwish`, from 14: the same times `x`;
//! - `Mish`, from 18: `x Tanh(Softplus(x))`;
//! - `Softmax`, from 13, and `LogSoftmax`: exponentials divided by their sum along the last axis, with or without
//!   subtracting the maximum first; `LogSoftmax` also for the logarithm of a `Softmax`;
//! - `Attention`, from 23: `Softmax(q kᵀ scale) v`, without a mask.
//!
//! ONNX Runtime's CPU kernels for these operators are at least as fast as the ops. Operators with slower kernels must
//! be named in the option `ops`:
//!
//! - `Swish` (from opset 24), `Softplus`, `ReduceL1`, `ReduceL2`, `ReduceSumSquare`, `ReduceLogSum`, `ReduceLogSumExp`;
//! - `Softmax` along other axes;
//! - `LayerNormalization` of float64.
//!
//! `Attention` with an additive mask must be named, too. For a fully masked row, ONNX Runtime's operator returns zeros,
//! and the ops return a mean or NaN.
//!
//! Results are equal up to rounding, except where the ops overflow or underflow:
//!
//! - `log(1 + exp(x))` is infinite for `x` of 89 or more, `Softplus` is finite;
//! - exponentials divided by their sum are NaN if one overflows or all are 0, `Softmax` isn't;
//! - `Log` of a `Softmax` that underflows is infinite, `LogSoftmax` is finite;
//! - squares of float16 overflow for numbers of 256 or more, normalizations compute in float32.
//!
//! The pass doesn't create operators for types that they don't support. It also requires a kernel in ONNX Runtime if
//! the ops have kernels (there is none for `HardSwish` of float64). An absent scale becomes a constant of ones up to 4
//! KiB, and an `Expand` above that, so that the model doesn't grow.
//!
//! Source: none; microsoft/onnxscript `onnxscript/rewriter` has similar rewrites.

mod activations;
mod attention;
mod factors;
mod norms;
mod reductions;
mod softmax;

use std::collections::BTreeSet;

use passdock_plugin_api::prelude::*;

options! {
    /// Options of FuseOperators.
    pub struct FuseOperators {
        /// The operators to create, by name (`onnx.Swish`). If empty: all that the pass supports, except the slow ones.
        ops: Vec<String> = [],
        /// Operators that the pass doesn't create.
        except: Vec<String> = [],
    }
}

/// The operators with their rules, and whether `ops` must name them. That is so if ONNX Runtime's CPU kernels are
/// slower than the ops, or return another result for fully masked rows.
const OPERATORS: [(&str, &Rules, bool); 19] = [
    ("onnx.LayerNormalization", &norms::LAYER_NORM, false),
    ("onnx.RMSNormalization", &norms::RMS_NORM, false),
    ("onnx.Gelu", &activations::GELU, false),
    ("onnx.HardSwish", &activations::HARD_SWISH, false),
    ("onnx.HardSigmoid", &activations::HARD_SIGMOID, false),
    ("onnx.Mish", &activations::MISH, false),
    ("onnx.Softmax", &softmax::SOFTMAX, false),
    ("onnx.LogSoftmax", &softmax::LOG_SOFTMAX, false),
    ("onnx.Attention", &attention::ATTENTION, false),
    (
        "onnx.LayerNormalization",
        &norms::LAYER_NORM_OF_DOUBLES,
        true,
    ),
    ("onnx.Swish", &activations::SWISH, true),
    ("onnx.Softplus", &activations::SOFTPLUS, true),
    ("onnx.Softmax", &softmax::SOFTMAX_INNER_AXIS, true),
    ("onnx.ReduceL1", &reductions::L1, true),
    ("onnx.ReduceL2", &reductions::L2, true),
    ("onnx.ReduceSumSquare", &reductions::SUM_SQUARE, true),
    // Before `ReduceLogSum`, which matches a part of it.
    ("onnx.ReduceLogSumExp", &reductions::LOG_SUM_EXP, true),
    ("onnx.ReduceLogSum", &reductions::LOG_SUM, true),
    ("onnx.Attention", &attention::ATTENTION_WITH_MASK, true),
];

/// Runs the pass.
///
/// # Errors
/// If an option names an operator that the pass doesn't support.
pub fn fuse_operators(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<FuseOperators>()?;
    let names = BTreeSet::from(OPERATORS.map(|(name, ..)| name));
    for name in options.ops.iter().chain(&options.except) {
        if !names.contains(&**name) {
            let names = Vec::from_iter(names).join("`, `");
            return Err(PassError::config(format!(
                "unsupported operator `{name}`; expected one of `{names}`"
            )));
        }
    }
    let is_selected = |(name, _, is_named_only): &(&str, &Rules, bool)| {
        let is_in = |list: &[String]| list.iter().any(|one| one == name);
        let is_chosen = match options.ops.is_empty() {
            true => !is_named_only,
            false => is_in(&options.ops),
        };
        is_chosen && !is_in(&options.except)
    };
    let rules: Vec<&Rules> = OPERATORS
        .into_iter()
        .filter(is_selected)
        .map(|(_, rules, _)| rules)
        .collect();
    cx.rewrite(f, &rules)
}
