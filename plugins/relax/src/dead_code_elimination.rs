//! `relax.transform.DeadCodeElimination`: removes dead code.
//!
//! ```ir
//! fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
//!   %w = const f32[2] [1.0, 2.0]
//!   %0 = onnx.Relu(%x) : f32[2]
//!   %1 = onnx.Add(%x, %w) : f32[2]
//!   return %0
//! }
//! →
//! fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
//!   %0 = onnx.Relu(%x) : f32[2]
//!   return %0
//! }
//! ```
//!
//! The pass removes ops without effects and without used results, unused constants, and functions that no entry
//! function reaches. If it removes the last function of a domain that passdock created (`passdock.…`), it also removes
//! the domain's opset imports that no op needs.
//!
//! One sweep in reverse program order suffices: users follow their operands, so dead users are erased before an op is
//! visited. The running time is linear in the number of ops.
//!
//! The pass doesn't erase ops that may have effects; ops without a definition count as such. It keeps parameters,
//! functions that skip optimization (`SkipOptimization`, `Compiler`, `Extern`), and all functions of a module that has
//! none of the entry functions.
//!
//! Source: TVM `src/relax/transform/dead_code_elimination.cc`.

use std::collections::HashSet;

use crate::fusion::remove_domains;
use passdock_plugin_api::ConstId;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record::Constant;

use crate::shared::call_graph::optimized_functions;
use crate::shared::purity::Purity;

options! {
    /// Options of DeadCodeElimination.
    pub struct DeadCodeElimination {
        /// Names of the entry functions, separated by commas.
        entry_functions: String = "main",
    }
}

pub(crate) fn dead_code_elimination(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<DeadCodeElimination>()?;
    let purity = Purity::new(&m.call_graph()?, OpTraits::is_pure);
    for name in optimized_functions(m)? {
        let f = m.edit(name)?;
        erase_dead_ops(f, &purity)?;
        erase_dead_constants(f)?;
    }
    erase_dead_functions(m, &options)
}

fn erase_dead_ops(f: &mut Function, purity: &Purity) -> PassResult {
    let kept = ops_with_effects(f, purity)?;
    for op in f.walk(f.body()).rev() {
        let is_used = |&result: &ValueId| f.use_count(result) > 0;
        if !f.results(op).iter().any(is_used) && !f.is_terminator(op) && !kept.contains(&op) {
            f.erase_op(op)?;
        }
    }
    Ok(())
}

/// Returns the ops that stay even if their results are unused: ops with effects, and the ops around them.
fn ops_with_effects(f: &Function, purity: &Purity) -> Result<HashSet<OpId>, EditError> {
    let impure = purity.impure_names(f)?;
    let mut kept = HashSet::new();
    let is_impure = |&op: &OpId| impure.contains(&f.symbol(op));
    for op in f.iter().filter(is_impure) {
        let mut holder = Some(op);
        while let Some(op) = holder.filter(|&op| kept.insert(op)) {
            holder = f.parent_op(f.parent_region(op));
        }
    }
    Ok(kept)
}

fn erase_dead_constants(f: &mut Function) -> PassResult {
    let is_dead = |(_, record): &(ConstId, Constant)| f.use_count(record.value) == 0;
    let dead: Vec<ConstId> = f.constants().filter(is_dead).map(|(id, _)| id).collect();
    dead.into_iter()
        .try_for_each(|id| Ok(f.erase_constant(id)?))
}

fn erase_dead_functions(m: &mut Module<'_>, options: &DeadCodeElimination) -> PassResult {
    let entries = options.entry_functions.split(',').map(str::trim);
    let mut pending: Vec<SymbolId> = entries
        .filter_map(|name| Some(m.function(name)?.name))
        .collect();
    if pending.is_empty() {
        return Ok(());
    }
    let graph = m.call_graph()?;
    let mut alive: HashSet<SymbolId> = pending.iter().copied().collect();
    while let Some(name) = pending.pop() {
        pending.extend(graph.callees(name).filter(|&callee| alive.insert(callee)));
    }
    let mut removed = Vec::new();
    for entry in graph.functions() {
        if !alive.contains(&entry.name) {
            m.remove(entry.name)?;
            removed.push(entry.name);
        }
    }
    remove_domains(m, &removed)
}
