//! `relax.transform.Legalize`: replaces ops by what their makers say that every back end has.
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
//! Which ops, and by what, is in the `legalize` of their definitions: a plugin that defines `acme.FusedMulAdd` says
//! there what it is without `acme`'s accelerator, and where a legal form depends on types and attributes, in which
//! cases. A legal form is legalized in turn. Where `relax.transform.DecomposeOps` replaces an op by what it means, this
//! pass replaces it by what should be run in its stead.
//!
//! It does not replace an op whose definition has no legal form for it. An op whose legal form never comes to an end,
//! because it is made of itself, is an error.
//!
//! Source: TVM `src/relay/transforms/legalize.cc`.

use passdock_plugin_api::prelude::*;

use crate::shared::bodies::{Bodies, replace_by_bodies};

pub(crate) fn legalize(f: &mut Function, cx: &PassContext) -> PassResult {
    replace_by_bodies(
        f,
        cx,
        &Bodies {
            is_meant: &|f, op| f.traits(op).legalizes(),
            give: PassContext::legalize,
            without: &|_, _, _| {},
        },
    )
}
