//! `relax.transform.AlterOpLayout`: converts ops to the layouts that their definitions prefer.
//!
//! ```ir
//! fn @main(%x: f32[1,8,4,4], %w: f32[8,8,1,1]) -> (%y: f32[1,8,4,4]) opset("" = 17, "acme" = 1) {
//!   %c = acme.Conv(%x, %w) : f32[1,8,4,4] loc("conv")
//!   %y = onnx.Relu(%c) : f32[1,8,4,4] loc("relu")
//!   return %y
//! }
//! →
//! fn @main(%x: f32[1,8,4,4], %w: f32[8,8,1,1]) -> (%y: f32[1,8,4,4]) opset("" = 17, "acme" = 1) {
//!   %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,4,4,8] loc("conv")
//!   %1 = acme.ConvLast(%0, %w) : f32[1,4,4,8] loc("conv")
//!   %2 = onnx.Relu(%1) : f32[1,4,4,8] loc("relu")
//!   %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[1,8,4,4] loc("relu")
//!   return %y
//! }
//! ```
//!
//! The plugin that defines `acme.Conv` prefers channels-last. The `alter_layout` of its definition returns the layouts
//! of operands and results, and the replacement in these layouts. The replacement may consist of the vendor's ops or
//! ONNX ops. The choice may depend on the op's types, attributes and the layouts of its operands. ONNX's own
//! definitions have no preference, so nothing changes without a vendor's plugin. Constants are converted at compile
//! time. Layouts propagate through other ops, and the other rules of `ConvertLayout` apply.
//!
//! The pass queries each op once. It doesn't query the ops of a replacement.
//!
//! Source: TVM `src/relax/transform/alter_op_impl.cc`, `src/relay/transforms/alter_op_layout.cc`.

use passdock_plugin_api::prelude::*;

use crate::layout::walk::{LayoutSource, convert};

/// Runs `relax.transform.AlterOpLayout`.
pub fn alter_op_layout(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    convert(m, cx, &LayoutSource::Definitions)
}
