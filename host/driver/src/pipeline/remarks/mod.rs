//! Warnings and notes of a run: flags and names without effect, and problems of the model before and after the passes.

mod created_ops;
mod model;
mod new_op;
mod request;
mod unscheduled;

use std::sync::Arc;

use passdock_abi::{FunctionKind, SymbolId};
use passdock_core::Diagnostic;
use passdock_ir::{Function, Module};
use rustc_hash::FxHashMap;

pub use created_ops::UsedOperators;
pub(super) use model::{newer_opset, recursion, unknown_ops};
pub use new_op::{InvalidOperator, check_new_op};
pub(super) use request::level;
pub(super) use unscheduled::warnings as unscheduled;

use crate::prepare::{Prepared, Request};

/// Returns notes about a request, before its model is read.
pub(super) fn for_request(request: &Request, prepared: &Prepared) -> Vec<Diagnostic> {
    let notes = level(request, prepared).into_iter();
    let notes = notes.chain(request::absent(request, prepared));
    let notes = notes.chain(request::skipped(request, prepared));
    let notes = notes.chain(request::unplaced(prepared));
    notes.chain(unscheduled(request, prepared)).collect()
}

/// Returns the graph functions, whose ops are operators.
fn graphs(module: &Module) -> impl Iterator<Item = &Arc<Function>> {
    let functions = module.functions();
    functions.filter(|function| function.kind() == FunctionKind::GRAPH)
}

/// Counts a function's ops by name and operand count.
fn counts(function: &Function) -> FxHashMap<(SymbolId, usize), usize> {
    let mut counts = FxHashMap::default();
    for op in function.walk(function.body()) {
        let operands = function.operands(op).len();
        *counts.entry((function.op(op).name, operands)).or_default() += 1;
    }
    counts
}
