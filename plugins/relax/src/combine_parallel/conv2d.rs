//! `relax.transform.CombineParallelConv2D`: convolves one value with several weights at once.
//!
//! ```ir
//! fn @main(%x: f32[1,1,4,4]) -> (%p: f32[1,1,4,4], %q: f32[1,2,4,4]) opset("" = 17) {
//!   %v = const f32[1,1,1,1] [1.0]
//!   %w = const f32[2,1,1,1] [2.0, 3.0]
//!   %s = const f32[2,1,1] [0.5, 0.25]
//!   %t = const f32[1,1,1] [0.75]
//!   %0 = onnx.Conv(%x, %v) : f32[1,1,4,4]
//!   %1 = onnx.Mul(%0, %t) : f32[1,1,4,4]
//!   %2 = onnx.Relu(%1) : f32[1,1,4,4]
//!   %3 = onnx.Conv(%x, %w) : f32[1,2,4,4]
//!   %4 = onnx.Mul(%3, %s) : f32[1,2,4,4]
//!   %5 = onnx.Relu(%4) : f32[1,2,4,4]
//!   return %2, %5
//! }
//! →
//! fn @main(%x: f32[1,1,4,4]) -> (%p: f32[1,1,4,4], %q: f32[1,2,4,4]) opset("" = 17) {
//!   %0 = const f32[3,1,1,1] [1.0, 2.0, 3.0]
//!   %1 = const f32[3,1,1] [0.75, 0.5, 0.25]
//!   %2 = const i64[2] [1, 2]
//!   %3 = onnx.Conv(%x, %0) : f32[1,3,4,4]
//!   %4 = onnx.Mul(%3, %1) : f32[1,3,4,4]
//!   %5 = onnx.Relu(%4) : f32[1,3,4,4]
//!   %6, %7 = onnx.Split(%5, %2) {axis = 1} : f32[1,1,4,4], f32[1,2,4,4]
//!   return %6, %7
//! }
//! ```
//!
//! The weights are constants of one size but for their output channels that nobody else uses, and the attributes are
//! the same; all convolutions have a bias, or none has. Ops behind that work element by element are put together as far
//! as they are the same everywhere, but for constants of one number for each channel. It does so only where that leaves
//! fewer ops, as two convolutions with nothing behind them would be a convolution and a `Split`; `min_num_branches = 2`
//! puts those together, too. The model doesn't grow; where the weights have more than 128 MiB in all, they stay as they
//! are. Convolutions of any number of axes are put together, as ONNX has one operator for them.
//!
//! It doesn't look at convolutions of groups, nor at those in different regions. It is of level 4 and in no pipeline:
//! whether one large convolution and a copy of its result are faster than several small ones is for the back end to
//! say. A runtime's kernels may sum in another order for other sizes, so results are equal up to rounding. It counts as
//! `convolutions_of_one_value`, which can be disabled as rules can.
//!
//! Source: TVM `src/relay/transforms/combine_parallel_conv2d.cc`.

use passdock_plugin_api::prelude::*;

use super::{Family, combine_parallel};

const FAMILY: Family = Family {
    product: "onnx.Conv",
    rule: "convolutions_of_one_value",
    weights: |f, op| {
        let is_whole = matches!(f.attr(op, "group"), None | Some(Attr::Unset | Attr::Int(1)));
        is_whole.then_some(0)
    },
    axis: |_, _| Some(1),
    has_bias: true,
};

pub(crate) fn combine_parallel_conv2d(f: &mut Function, cx: &PassContext) -> PassResult {
    combine_parallel(f, cx, &FAMILY)
}
