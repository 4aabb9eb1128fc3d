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
//! The replacement is the `legalize` of the op's definition. For example, a plugin that defines `acme.FusedMulAdd`
//! provides a form for back ends other than `acme`'s accelerator. The form may depend on types and attributes. Legal
//! forms are legalized in turn. `relax.transform.DecomposeOps` replaces an op with its semantics; this pass replaces it
//! with the ops that should run.
//!
//! An op stays if its definition has no legal form for it. Infinite recursion of legal forms is an error.
//!
//! Source: TVM `src/relay/transforms/legalize.cc`.

use passdock_plugin_api::prelude::*;

use crate::shared::bodies::{Bodies, replace_by_bodies};

pub(crate) fn legalize(f: &mut Function, cx: &PassContext) -> PassResult {
    replace_by_bodies(
        f,
        cx,
        &Bodies {
            is_selected: &|f, op| f.traits(op).legalizes(),
            body_of: PassContext::legalize,
            without: &|_, _, _| {},
        },
    )
}
