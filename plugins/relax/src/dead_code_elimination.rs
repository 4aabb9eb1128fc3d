//! `relax.transform.DeadCodeElimination`: erases what nobody uses.
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
//! Ops without effects whose results nobody uses, constants that nobody uses, and functions that no
//! entry function reaches. One sweep from the end: the users of an op stand behind it, so they are
//! gone before it is looked at, and the whole takes time linear in the ops.
//!
//! It does not erase ops that may have an effect (an op without a definition may), parameters, nor
//! any function of a module that has none of the entry functions.
//!
//! Source: TVM `src/relax/transform/dead_code_elimination.cc`.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::ConstId;
use passdock_plugin_api::prelude::*;

use crate::purity::Purity;

options! {
    /// What is alive from the start.
    pub struct DeadCodeElimination {
        /// The functions that are called from outside, separated by commas.
        entry_functions: String = "main",
    }
}

pub(crate) fn dead_code_elimination(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<DeadCodeElimination>()?;
    let purity = Purity::new(m)?;
    for entry in m.functions() {
        if entry.kind == FunctionKind::GRAPH {
            let mut f = m.edit(entry.name)?;
            erase_dead_ops(&mut f, &purity)?;
            erase_dead_constants(&mut f)?;
        }
    }
    erase_dead_functions(m, &options)
}

fn erase_dead_ops(f: &mut Function, purity: &Purity) -> PassResult {
    // Ops whose regions hold something that has to stay.
    let mut kept_inside: HashSet<OpId> = HashSet::new();
    for op in f.walk(f.body()).rev() {
        let region = f.parent_region(op);
        let is_terminator = f.terminator(region) == Some(op);
        let is_dead = !is_terminator
            && f.results(op).iter().all(|&result| f.use_count(result) == 0)
            && !kept_inside.contains(&op)
            && purity.is_pure(f, op);
        if is_dead {
            f.erase_op(op)?;
        } else if !is_terminator
            && !purity.is_pure(f, op)
            && let Some(parent) = f.parent_op(region)
        {
            kept_inside.insert(parent);
        }
        if kept_inside.contains(&op)
            && let Some(parent) = f.parent_op(region)
        {
            kept_inside.insert(parent);
        }
    }
    Ok(())
}

fn erase_dead_constants(f: &mut Function) -> PassResult {
    let all = (0..).map(ConstId);
    let dead: Vec<ConstId> = all
        .map_while(|id| Some((id, f.constant_record(id)?)))
        .filter(|(id, record)| {
            let value = record.value;
            f.is_live_value(value) && f.constant(value) == Some(*id) && f.use_count(value) == 0
        })
        .map(|(id, _)| id)
        .collect();
    dead.into_iter()
        .try_for_each(|id| Ok(f.erase_constant(id)?))
}

fn erase_dead_functions(m: &mut Module<'_>, options: &DeadCodeElimination) -> PassResult {
    let names: HashMap<String, SymbolId> = m
        .functions()
        .map(|entry| (m.text(entry.name).to_owned(), entry.name))
        .collect();
    let entries = options.entry_functions.split(',').map(str::trim);
    let mut pending: Vec<SymbolId> = entries
        .filter_map(|name| names.get(name).copied())
        .collect();
    if pending.is_empty() {
        return Ok(());
    }
    let mut alive: HashSet<SymbolId> = pending.iter().copied().collect();
    let functions: HashSet<SymbolId> = names.values().copied().collect();
    while let Some(name) = pending.pop() {
        let f = m.snapshot(name)?;
        for op in &*f {
            let called = functions.get(&f.symbol(op)).copied();
            let callee = f
                .string(op, "callee")
                .and_then(|callee| names.get(callee).copied());
            pending.extend(
                called
                    .into_iter()
                    .chain(callee)
                    .filter(|&name| alive.insert(name)),
            );
        }
    }
    for entry in m.functions() {
        if !alive.contains(&entry.name) {
            m.remove(entry.name)?;
        }
    }
    Ok(())
}
