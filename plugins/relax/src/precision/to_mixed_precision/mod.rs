//! `relax.transform.ToMixedPrecision`: converts a model to mixed precision, float16 or bfloat16.
//!
//! ```ir
//! fn @main(%x: f32[1,1,4]) -> (%y: f32[1,1,2]) opset("" = 17) {
//!   %w = const f32[1,1,3] [1.0, 0.5, 0.1]
//!   %0 = onnx.Conv(%x, %w) : f32[1,1,2]
//!   %1 = onnx.Relu(%0) : f32[1,1,2]
//!   %2 = onnx.Softmax(%1) : f32[1,1,2]
//!   return %2
//! }
//! →
//! fn @main(%x: f32[1,1,4]) -> (%y: f32[1,1,2]) opset("" = 17) {
//!   %w = const f16[1,1,3] [1.0, 0.5, 0.1]
//!   %0 = onnx.Cast(%x) {to = 10} : f16[1,1,4]
//!   %1 = onnx.Conv(%0, %w) : f16[1,1,2]
//!   %2 = onnx.Relu(%1) : f16[1,1,2]
//!   %3 = onnx.Cast(%2) {to = 1} : f32[1,1,2]
//!   %4 = onnx.Softmax(%3) : f32[1,1,2]
//!   return %4
//! }
//! ```
//!
//! Operators have three categories. Ops that are **always** in the low-precision type: `Conv`, `ConvTranspose`,
//! `DeformConv`, `Einsum`, `Gemm`, `MatMul`. Ops that **follow** their neighbors: data movement, and elementwise ops
//! that don't increase the magnitude much (`Add`, `Relu`, `Tanh`, pooling). All others are **never** converted:
//! reductions, exponentials, logarithms, normalizations. The options `always`, `follow` and `never` override the
//! category of operators; an unknown operator of ONNX is an error. A vendor's operator is converted if its definition
//! infers result types for the low-precision type.
//!
//! An op that follows is converted if all its operands are, except constants. If another assignment needs fewer
//! `Cast`s, the assignment with the minimum number is used. A value is cast at most once to each type, after its
//! definition. Redundant casts are removed. Constants are converted once and shared.
//!
//! **If a constant would overflow to infinity, or entirely underflow to zero, its op stays in float32**, and a note
//! reports the constant. Another note reports constants of which more than a tenth of the elements would be subnormal.
//! An op also stays in float32 if the type of an operand or result is unknown, or if its opset version doesn't support
//! the low-precision type. Most operators support bfloat16 from opset 13, and `Conv` from opset 22. A note reports
//! that, and `RaiseOpset` raises the version.
//!
//! Ops next to a `DequantizeLinear` or a `QuantizeLinear` stay in float32, because runtimes compute them in integers.
//! `ScatterElements` and `ScatterND` with a `reduction` stay as well, because ONNX Runtime has no float16 kernels for
//! them.
//!
//! With `accumulate_float32`, an op that accumulates rounds its operands and computes in float32, like an accelerator
//! that multiplies in the low-precision type. ONNX has no attribute for that, so the weights are cast in the model
//! until FoldConstant folds them to float32 constants. Without `keep_io`, the model's inputs and outputs change to the
//! low-precision type if that saves a `Cast`; this changes the interface. Parameters, results, region arguments and
//! loop-carried values of other functions and regions always keep their types.
//!
//! The instrument `numerics` and `--verify-outputs` use tolerances for the low-precision type. A model that subtracts
//! large numbers may exceed them. In the project's tests, the outputs of basic_pitch, which are between 0 and 1, differ
//! by up to 0.06.
//!
//! The pass doesn't convert float64 values, values that have the low-precision type already, or inputs with defaults.
//!
//! ```ir
//! fn @main(%x: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
//!   %w = const f32[2,2] [1.0, 0.5, 0.25, 2.0]
//!   %0 = onnx.MatMul(%x, %w) : f32[n,2]
//!   return %0
//! }
//! → { dtype = "bfloat16", keep_io = false }
//! fn @main(%x: bf16[n,2]) -> (%y: bf16[n,2]) opset("" = 17) {
//!   %w = const bf16[2,2] [1.0, 0.5, 0.25, 2.0]
//!   %0 = onnx.MatMul(%x, %w) : bf16[n,2]
//!   return %0
//! }
//! ```
//!
//! Source: TVM `src/relax/transform/to_mixed_precision.cc`, `src/relax/transform/infer_amp_utils.cc`.

mod category;
mod constants;
mod cut;
mod decide;
mod flow;
mod operators;
mod rewrite;
mod trial;

use passdock_plugin_api::prelude::*;

use crate::shared::operators::is_operator;
use category::Categories;
use flow::Flows;

options! {
    /// Options of ToMixedPrecision.
    pub struct ToMixedPrecision {
        /// The low-precision type.
        #[choices("float16", "bfloat16")]
        dtype: String = "float16",
        /// Operators that are always computed in the low-precision type, by name (`onnx.Conv`).
        always: Vec<String> = [],
        /// Operators that are computed in the low-precision type if their neighbors are.
        follow: Vec<String> = [],
        /// Operators that stay in float32.
        never: Vec<String> = [],
        /// Whether the model's inputs and outputs keep their types.
        keep_io: bool = true,
        /// Whether ops that accumulate round their operands and compute in float32.
        accumulate_float32: bool = false,
    }
}

/// A low-precision type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Low {
    dtype: DType,
    /// The name in options.
    name: &'static str,
    /// The value of `Cast`'s attribute `to`.
    onnx: i64,
    /// The first opset whose `Cast` supports the type as a number.
    since: i64,
}

impl Low {
    const F16: Low = Low {
        dtype: DType::F16,
        name: "float16",
        onnx: 10,
        since: 6,
    };
    const BF16: Low = Low {
        dtype: DType::BF16,
        name: "bfloat16",
        onnx: 16,
        since: 13,
    };
}

const CAST: &str = "onnx.Cast";

/// The value of `Cast`'s attribute `to` for float32.
const FLOAT: i64 = 1;

/// Runs `relax.transform.ToMixedPrecision`.
pub fn to_mixed_precision(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<ToMixedPrecision>()?;
    let low = match &*options.dtype {
        "bfloat16" => Low::BF16,
        _ => Low::F16,
    };
    if let Some(module) = cx.module() {
        module.check_operators("always", &options.always)?;
        module.check_operators("follow", &options.follow)?;
        module.check_operators("never", &options.never)?;
    }
    let categories = Categories::new(&options)?;
    let opset = f.opset("").unwrap_or(0);
    if !is_operator(cx, CAST) || opset < low.since {
        return Ok(());
    }
    let mut flows = Flows::new(f, cx, &options, &categories, low)?;
    decide::decide(f, cx, &mut flows)?;
    rewrite::rewrite(f, &flows)
}
