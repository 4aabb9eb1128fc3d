//! `relax.transform.Legalize`: legalizes ops, replacing them with ops that every back end supports.
//!
//! ```ir
//! fn @main(%x: f32[n]) -> (%y: f32[n]) opset("" = 17, "acme" = 1) {
//!   %0 = acme.FusedMulAdd(%x, %x, %x) : f32[n] loc("fma")
//!   return %0
//! }
//! →
//! fn @main(%x: f32[n]) -> (%y: f32[n]) opset("" = 17, "acme" = 1) {
//!   %0 = onnx.Mul(%x, %x) : f32[n] loc("fma")
//!   %1 = onnx.Add(%0, %x) : f32[n] loc("fma")
//!   return %1
//! }
//! ```
//!
//! An op is illegal if its definition has the trait ILLEGAL, or if another plugin extends its operator with a
//! decomposition. For example, a plugin that defines `acme.FusedMulAdd` for its accelerator declares the op as illegal
//! for other back ends, and the plugin of another accelerator decomposes the ONNX operators that it doesn't support.
//! The decomposition may depend on types and attributes, and its ops are legalized in turn.
//! `relax.transform.DecomposeOps` replaces all ops that have a decomposition.
//!
//! An op stays if it has no decomposition. Infinite recursion of decompositions is an error.
//!
//! Source: TVM `src/relay/transforms/legalize.cc`.

use passdock_plugin_api::prelude::*;

use crate::shared::bodies::{Bodies, replace_by_bodies};

pub(crate) fn legalize(f: &mut Function, cx: &PassContext) -> PassResult {
    replace_by_bodies(
        f,
        cx,
        &Bodies {
            is_selected: &|f, op| f.traits(op).is_illegal(),
            body_of: PassContext::decompose,
            without: &|_, _, _| {},
        },
    )
}
