//! `relax.transform.InferType`: infers the types of all results from the operators' definitions.
//!
//! ```ir
//! fn @main(%x: f32[n,4]) -> (%y: f32[n,4]) opset("" = 17) {
//!   %0 = onnx.Relu(%x)
//!   return %0
//! }
//! →
//! fn @main(%x: f32[n,4]) -> (%y: f32[n,4]) opset("" = 17) {
//!   %0 = onnx.Relu(%x) : f32[n,4]
//!   return %0
//! }
//! ```
//!
//! In program order, so that an op's operands have their types before it is asked. Ops inside
//! regions come after the op that holds them. It does not change a type that is known to something
//! else: where a definition contradicts what the model declares, both are named in a warning.
//!
//! Source: relay `InferType`; ONNX's own shape inference.

use passdock_plugin_api::prelude::*;

/// Runs on a module, because a function's types may come from its callers.
pub(crate) fn infer_type(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    for entry in m.functions() {
        if entry.kind != FunctionKind::GRAPH {
            continue;
        }
        let mut f = m.edit(entry.name)?;
        for op in f.walk(f.body()) {
            if f.traits(op).is_defined()
                && let Err(error) = cx.infer(&mut f, op)
            {
                cx.emit(
                    &Diagnostic::warning(error.message)
                        .at(Place::op(op).within(&f))
                        .code("relax::infer-type")
                        .help("The type that the model declares was kept."),
                );
            }
        }
    }
    Ok(())
}
