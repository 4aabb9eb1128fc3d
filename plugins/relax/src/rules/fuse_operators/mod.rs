//! `relax.transform.FuseOperators`: writes one operator for what several ops spell out.
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
//! Only operators that the model's opset has are made, and only if that leaves fewer ops: what others use stays, and so
//! does what is made of it.
//!
//! - `LayerNormalization`, from opset 17, of `(x - mean) / √(variance + epsilon)` along the last axes, with scale and
//!   bias; also by factors, as Keras writes it, and in float32 of halves between two Casts;
//! - `RMSNormalization`, from 23, of `x / √(mean square + epsilon)` along the last axes, with a scale; also between two
//!   Casts;
//! - `Gelu`, from 20, of `x/2 (1 + erf(x/√2))` and its approximation by tanh, in whatever order it is multiplied;
//! - `HardSigmoid`, from 6, and `HardSwish`, from 14, of a `Clip` of `alpha x + beta`, times `x`;
//! - `Mish`, from 18, of `x Tanh(Softplus(x))`;
//! - `Softmax`, from 13, and `LogSoftmax` of exponentials over their sum along the last axis, with or without the
//!   largest taken away; the latter also of the logarithm of a `Softmax`;
//! - `Attention`, from 23, of `Softmax(q kᵀ scale) v`, without a mask.
//!
//! ONNX Runtime takes no longer for these on a processor. Others are made only if `ops` names them: `Swish` (from opset
//! 24), `Softplus`, `ReduceL1`, `ReduceL2`, `ReduceSumSquare`, `ReduceLogSum`, `ReduceLogSumExp`, `Softmax` along other
//! axes, `LayerNormalization` of float64, for which its kernels take longer, and `Attention` with a mask that is added:
//! where a mask leaves nothing of a row, ONNX Runtime answers zeros, and the ops a mean or no numbers.
//!
//! The results are the same up to rounding, where the ops overflow or lose everything aside: `log(1 + exp(x))` is
//! infinite from 89 on, `Softplus` isn't; exponentials over their sum are no numbers if one overflows or all vanish, a
//! `Softmax` is; `Log` of a `Softmax` that vanishes is infinite, a `LogSoftmax` isn't; squares of halves
//! overflow from 256 on, normalisations compute in float32.
//!
//! It doesn't make operators of types that they don't have, nor of those for which ONNX Runtime has no kernel although
//! it has those of the ops (`HardSwish` of float64). A scale that isn't there becomes ones: a constant up to 4 KiB,
//! beyond that an `Expand`, so that the model doesn't grow.
//!
//! Source: none; microsoft/onnxscript `onnxscript/rewriter` has much of the same.

mod activations;
mod attention;
mod factors;
mod norms;
mod reductions;
mod softmax;

use std::collections::BTreeSet;

use passdock_plugin_api::prelude::*;

options! {
    /// The operators that are made.
    pub struct FuseOperators {
        /// The operators to make, by name (`onnx.Swish`); none: all that the pass knows, but for those that ONNX
        /// Runtime is slower at.
        ops: Vec<String> = [],
        /// Operators that aren't made.
        except: Vec<String> = [],
    }
}

/// The operators that are made, each by its rules; and whether only if they are named: ONNX Runtime's kernels for
/// processors take longer, or answer something else for rows of which a mask leaves nothing.
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
    ("onnx.Softmax", &softmax::SOFTMAX_ELSEWHERE, true),
    ("onnx.ReduceL1", &reductions::L1, true),
    ("onnx.ReduceL2", &reductions::L2, true),
    ("onnx.ReduceSumSquare", &reductions::SUM_SQUARE, true),
    // Before what is a part of it.
    ("onnx.ReduceLogSumExp", &reductions::LOG_SUM_EXP, true),
    ("onnx.ReduceLogSum", &reductions::LOG_SUM, true),
    ("onnx.Attention", &attention::ATTENTION_WITH_MASK, true),
];

/// The pass.
///
/// # Errors
/// If an option names no operator that it makes.
pub fn fuse_operators(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<FuseOperators>()?;
    let names = BTreeSet::from(OPERATORS.map(|(name, ..)| name));
    for name in options.ops.iter().chain(&options.except) {
        if !names.contains(&**name) {
            let names = Vec::from_iter(names).join(", ");
            return Err(PassError::config(format!(
                "The pass makes no operator `{name}`; those that it knows: {names}."
            )));
        }
    }
    let is_meant = |(name, _, is_named_only): &(&str, &Rules, bool)| {
        let is_in = |list: &[String]| list.iter().any(|one| one == name);
        let is_chosen = match options.ops.is_empty() {
            true => !is_named_only,
            false => is_in(&options.ops),
        };
        is_chosen && !is_in(&options.except)
    };
    let rules: Vec<&Rules> = OPERATORS
        .into_iter()
        .filter(is_meant)
        .map(|(_, rules, _)| rules)
        .collect();
    cx.rewrite(f, &rules)
}
