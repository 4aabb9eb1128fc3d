//! `relax.transform.CombineParallelMatmul`: combines parallel matmuls of one input into one matmul.
//!
//! ```ir
//! fn @main(%x: f32[n,2]) -> (%q: f32[n,1], %k: f32[n,2]) opset("" = 13) {
//!   %wq = const f32[2,1] [1.0, 2.0]
//!   %wk = const f32[2,2] [3.0, 4.0, 5.0, 6.0]
//!   %bq = const f32[1] [0.5]
//!   %bk = const f32[2] [0.25, 0.75]
//!   %0 = onnx.MatMul(%x, %wq) : f32[n,1]
//!   %1 = onnx.Add(%0, %bq) : f32[n,1]
//!   %2 = onnx.MatMul(%x, %wk) : f32[n,2]
//!   %3 = onnx.Add(%2, %bk) : f32[n,2]
//!   return %1, %3
//! }
//! →
//! fn @main(%x: f32[n,2]) -> (%q: f32[n,1], %k: f32[n,2]) opset("" = 13) {
//!   %0 = const f32[2,3] [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]
//!   %1 = const f32[3] [0.5, 0.25, 0.75]
//!   %2 = const i64[2] [1, 2]
//!   %3 = onnx.MatMul(%x, %0) : f32[n,3]
//!   %4 = onnx.Add(%3, %1) : f32[n,3]
//!   %5, %6 = onnx.Split(%4, %2) {axis = 1} : f32[n,1], f32[n,2]
//!   return %5, %6
//! }
//! ```
//!
//! The weights must be constants with no other users, of equal shape except for the columns, such as the projections of
//! queries, keys and values in a transformer. Elementwise ops that follow, such as a bias and a `Relu`, are combined as
//! long as they match in all branches; their constants with one element per column may differ. The pass only combines
//! branches if that leaves fewer ops: two products without following ops would become a product and a `Split`.
//! `min_num_branches = 2` combines those as well. The model doesn't grow, as the concatenated weights replace the
//! original ones. Weights of more than 128 MiB in total aren't combined, because they would be held in memory.
//!
//! `Gemm`s and `Conv`s have separate passes, and products in different regions aren't combined. Kernels may sum in
//! another order for other sizes, so results are equal up to rounding. Rewrites are counted as `products_of_one_value`,
//! which can be disabled like a rule.
//!
//! Source: TVM `src/relay/transforms/combine_parallel_dense.cc`, `src/relax/transform/combine_parallel_matmul.cc`.

use passdock_plugin_api::prelude::*;

use super::{Family, combine_parallel};

const FAMILY: Family = Family {
    product: "onnx.MatMul",
    rule: "products_of_one_value",
    // A vector has no columns.
    weights: |f, op| {
        f.rank(f.operand(op, 1)?)?
            .checked_sub(1)
            .filter(|&last| last > 0)
    },
    axis: |f, op| f.rank(f.result(op, 0))?.checked_sub(1),
    has_bias: false,
};

pub(crate) fn combine_parallel_matmul(f: &mut Function, cx: &PassContext) -> PassResult {
    combine_parallel(f, cx, &FAMILY)
}
