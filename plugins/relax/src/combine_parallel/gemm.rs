//! `relax.transform.CombineParallelGemm`: combines parallel Gemms of one input into one Gemm.
//!
//! ```ir
//! fn @main(%x: f32[n,2]) -> (%p: f32[n,1], %q: f32[n,2]) opset("" = 17) {
//!   %v = const f32[1,2] [1.0, 2.0]
//!   %w = const f32[2,2] [3.0, 4.0, 5.0, 6.0]
//!   %a = const f32[1] [0.5]
//!   %b = const f32[2] [0.25, 0.75]
//!   %0 = onnx.Gemm(%x, %v, %a) {transB = 1} : f32[n,1]
//!   %1 = onnx.Relu(%0) : f32[n,1]
//!   %2 = onnx.Gemm(%x, %w, %b) {transB = 1} : f32[n,2]
//!   %3 = onnx.Relu(%2) : f32[n,2]
//!   return %1, %3
//! }
//! →
//! fn @main(%x: f32[n,2]) -> (%p: f32[n,1], %q: f32[n,2]) opset("" = 17) {
//!   %0 = const f32[3,2] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
//!   %1 = const f32[3] [0.5, 0.25, 0.75]
//!   %2 = const i64[2] [1, 2]
//!   %3 = onnx.Gemm(%x, %0, %1) {transB = 1} : f32[n,3]
//!   %4 = onnx.Relu(%3) : f32[n,3]
//!   %5, %6 = onnx.Split(%4, %2) {axis = 1} : f32[n,1], f32[n,2]
//!   return %5, %6
//! }
//! ```
//!
//! The weights must be constants with no other users, and the attributes must be equal. Either all `Gemm`s have a bias
//! with one element per column, or none has. Following ops, limits, level and rounding are the same as for
//! `relax.transform.CombineParallelConv2D`. Rewrites are counted as `gemms_of_one_value`, which can be disabled like a
//! rule.
//!
//! `Gemm`s in different regions and `Gemm`s that add a matrix aren't combined.
//!
//! Source: TVM `src/relay/transforms/combine_parallel_dense.cc`.

use passdock_plugin_api::prelude::*;

use super::{Family, combine_parallel};

const FAMILY: Family = Family {
    product: "onnx.Gemm",
    rule: "gemms_of_one_value",
    weights: |f, op| match f.attr(op, "transB") {
        None | Some(Attr::Unset | Attr::Int(0)) => Some(1),
        Some(Attr::Int(_)) => Some(0),
        _ => None,
    },
    axis: |_, _| Some(1),
    has_bias: true,
};

pub(crate) fn combine_parallel_gemm(f: &mut Function, cx: &PassContext) -> PassResult {
    combine_parallel(f, cx, &FAMILY)
}
