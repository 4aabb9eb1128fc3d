//! `relax.transform.CombineParallelMatmul`: multiplies one value by several weights at once.
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
//! The weights are constants that nobody else uses, of one size but for their columns, as those of queries, keys and
//! values in a transformer. Ops behind that work element by element are put together as far as they are the same
//! everywhere, but for constants of one number for each column: a sum, then a `Relu`. It does so only where that leaves
//! fewer ops, as two products with nothing behind them would be a product and a `Split`; `min_num_branches = 2` puts
//! those together, too. The model doesn't grow, as the weights replace the others. Where they have more than 128 MiB in
//! all, they stay as they are: they would be held in memory.
//!
//! `Gemm`s and `Conv`s have passes of their own, and products in different regions stay. A runtime's kernels may sum in
//! another order for other sizes, so results are equal up to rounding. It counts as `products_of_one_value`, which can
//! be disabled as rules can.
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
