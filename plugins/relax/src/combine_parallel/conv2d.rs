//! `relax.transform.CombineParallelConv2D`: combines parallel convolutions of one input into one convolution.
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
//! The weights must be constants with no other users, of equal shape except for the output channels. The attributes
//! must be equal, and either all convolutions have a bias or none has. Elementwise ops that follow are combined as long
//! as they match in all branches; their constants with one element per channel may differ. The pass only combines
//! branches if that leaves fewer ops: two convolutions without following ops would become a convolution and a `Split`.
//! `min_num_branches = 2` combines those as well. The model doesn't grow. Weights of more than 128 MiB in total aren't
//! combined. Convolutions of any number of spatial axes are combined, as ONNX has one operator for them.
//!
//! Grouped convolutions and convolutions in different regions aren't combined. The pass has level 4 and is in no
//! pipeline, because the profit depends on the back end. One large convolution and a copy of its result may be slower
//! than several small ones. Kernels may sum in another order for other sizes, so results are equal up to rounding.
//! Rewrites are counted as `convolutions_of_one_value`, which can be disabled like a rule.
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
