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
//! In program order, so that an op's operands have their types before it is asked; an op with regions
//! after them. A `tuple` has the types of its operands, a `tuple_get` that of the field, an `if` what its
//! branches agree on. What goes round in a loop has the type that holds for every round. A call of one of
//! the module's functions has the types that the body gives for just these operands; in the function
//! itself stands what all its calls have in common.
//!
//! An inferred type wins over a declared one: where they contradict each other, or a declared size narrows one that the
//! inputs leave open, a warning has both types. A declared size stays where nothing is inferred, but for those of
//! outputs, and of all values of a function in which a declared type was wrong. A size that no operand says, as it
//! depends on data, gets a symbol that no function has, `_1`: it says what else is as large, not even whether it is 0,
//! and gives way to whatever is found out later. What a function takes and gives stays as it is declared, unless an
//! output's type contradicts its op. Functions that skip optimization have types, too: their ops stay as they are.
//!
//! Source: relay `InferType`; ONNX's own shape inference.

mod builtin;
mod calls;
mod declared;
mod regions;
mod report;
mod sizes;
mod sort;
mod walk;

use passdock_plugin_api::prelude::*;

use crate::shared::call_graph::graph_functions;
use walk::Inference;

/// Runs on a module, because a function's types may come from its callers.
pub(crate) fn infer_type(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let graph = m.call_graph()?;
    let mut inference = Inference::new(m, &graph)?;
    // Callers first: they say which types the others are called with.
    let is_called = |&name: &SymbolId| graph.callers(name).next().is_some();
    let (called, callers): (Vec<_>, Vec<_>) = graph_functions(m).partition(is_called);
    for name in callers {
        inference.function(m, cx, name)?;
    }
    for name in called {
        inference.called_function(m, cx, name)?;
    }
    inference.finish(m)?;
    Ok(())
}
