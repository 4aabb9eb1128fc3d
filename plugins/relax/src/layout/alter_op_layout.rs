//! `relax.transform.AlterOpLayout`: brings ops into the layouts that their definitions want.
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
//! A plugin that defines `acme.Conv` says in the `alter_layout` of its definition that its accelerator has the channels
//! last. ONNX's own definitions want nothing, so without a vendor's plugin nothing changes. A definition that does says
//! it in its `alter_layout`: the layouts of operands and results, which it may choose by the op's types, attributes and
//! the layouts its operands come in, and the op in these layouts, the vendor's own or ONNX's. Constants are repacked at
//! once; ops between them follow, and all else is as in `ConvertLayout`.
//!
//! It does not ask twice about an op, nor about those that an answer is made of.
//!
//! Source: TVM `src/relax/transform/alter_op_impl.cc`, `src/relay/transforms/alter_op_layout.cc`.

use passdock_plugin_api::prelude::*;

use crate::layout::walk::{Wishes, lay_out};

/// Brings ops into the layouts that their definitions want.
pub fn alter_op_layout(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    lay_out(m, cx, &Wishes::Definitions)
}
