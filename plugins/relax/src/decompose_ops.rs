//! `relax.transform.DecomposeOps`: decomposes ops into the simpler ops of their definitions.
//!
//! ```ir
//! fn @main(%x: f32[n]) -> (%y: f32[n]) opset("" = 17) {
//!   %0 = onnx.HardSwish(%x) : f32[n] loc("act")
//!   return %0
//! }
//! →
//! fn @main(%x: f32[n]) -> (%y: f32[n]) opset("" = 17) {
//!   %0 = const f32[] 0.16666667
//!   %1 = const f32[] 0.5
//!   %2 = const f32[] 1.0
//!   %3 = const f32[] 0.0
//!   %4 = onnx.Mul(%x, %0) : f32[n] loc("act")
//!   %5 = onnx.Add(%4, %1) : f32[n] loc("act")
//!   %6 = onnx.Min(%5, %2) : f32[n] loc("act")
//!   %7 = onnx.Max(%6, %3) : f32[n] loc("act")
//!   %8 = onnx.Mul(%x, %7) : f32[n] loc("act")
//!   return %8
//! }
//! ```
//!
//! For ONNX's own operators, the bodies are the function bodies of the specification, including those that were added
//! in later versions. The ops of a body are decomposed in turn. A body defines an operator's semantics and isn't the
//! best way to compute it: the body of `Softplus` may overflow where a kernel doesn't. List the ops that a back end
//! lacks in `ops`, or those that it supports in `except`.
//!
//! An op stays if it has no body, or if its body depends on an unknown element type, rank or attribute parameter. For
//! ops listed in `ops`, a note reports that. Infinite recursion of bodies is an error.
//!
//! Source: TVM `src/relax/transform/decompose_ops.cc`.

use passdock_plugin_api::prelude::*;

use crate::shared::bodies::{Bodies, replace_by_bodies};

options! {
    /// Options of DecomposeOps.
    pub struct DecomposeOps {
        /// Ops to decompose, by name (`onnx.Gelu`). If empty, all ops that have a body.
        ops: Vec<String> = [],
        /// Ops that are not decomposed, by name.
        except: Vec<String> = [],
    }
}

pub(crate) fn decompose_ops(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<DecomposeOps>()?;
    if let Some(module) = cx.module() {
        module.check_operators("ops", &options.ops)?;
        module.check_operators("except", &options.except)?;
    }
    replace_by_bodies(
        f,
        cx,
        &Bodies {
            is_selected: &|f, op| options.is_selected(f.name(op)) && f.traits(op).decomposes(),
            body_of: PassContext::decompose,
            without: &|f, cx, op| {
                if !options.ops.is_empty() {
                    let note = format!(
                        "`{}` is not decomposed: its types are not sufficiently known, or its version has no \
                         decomposition",
                        f.name(op)
                    );
                    let position = OpSpan::name(op).within(f);
                    cx.emit(&Diagnostic::note(note).code("relax::no-body").at(position));
                }
            },
        },
    )
}

impl DecomposeOps {
    fn is_selected(&self, name: &str) -> bool {
        let names = |list: &[String]| list.iter().any(|one| one == name);
        (self.ops.is_empty() || names(&self.ops)) && !names(&self.except)
    }
}
