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
//! Ops are visited in program order, so operands have types before their users; an op is visited after its regions. A
//! `tuple` has the types of its operands, a `tuple_get` that of the field, an `if` the common type of its branches. A
//! loop-carried value has a type that holds for every iteration. A call of one of the module's functions is inferred
//! for the types of its operands. The function itself has the types that all calls have in common.
//!
//! An inferred type overrides a declared one. If they contradict each other, or a declared size narrows one that the
//! inputs leave open, a warning shows both types. A declared size stays where none is inferred. This excludes outputs,
//! and all values of a function in which a declared type was wrong. A data-dependent size gets a fresh symbol, such as
//! `_1`. Equal symbols mean equal sizes; the size may be 0. More precise information replaces the symbol later. The
//! declared types of parameters and results stay, unless the type of an output contradicts its op. Functions that skip
//! optimization have inferred types as well; their ops don't change.
//!
//! Source: relay `InferType`; ONNX's shape inference.

mod builtin;
mod calls;
mod declared;
mod portable_type;
mod regions;
mod report;
mod sizes;
mod walk;

use passdock_plugin_api::prelude::*;

use crate::shared::call_graph::graph_functions;
use walk::Inference;

/// Runs on the module, because a function's types may depend on its callers.
pub(crate) fn infer_type(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let graph = m.call_graph()?;
    let mut inference = Inference::new(m, &graph)?;
    // Callers first, because they determine the types of their callees' parameters.
    let is_called = |&name: &SymbolId| graph.callers(name).next().is_some();
    let (called, entries): (Vec<_>, Vec<_>) = graph_functions(m).partition(is_called);
    for name in entries {
        inference.function(m, cx, name)?;
    }
    for name in called {
        inference.called_function(m, cx, name)?;
    }
    inference.finish(m)?;
    Ok(())
}
