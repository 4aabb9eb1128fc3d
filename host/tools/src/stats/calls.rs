//! Who calls whom, and how large the entry is with every call replaced by a body.

use passdock_abi::SymbolId;
use passdock_ir::{Function, Module};
use rustc_hash::FxHashMap;

use super::{FunctionKind, FunctionStats, Stats, interface};
use crate::queries::callee;

/// Tells of each function, and counts calls.
pub(super) fn count(module: &Module, entry: Option<SymbolId>, stats: &mut Stats) {
    let names = module.names().enumerate().map(|(at, name)| (name, at));
    let places: FxHashMap<SymbolId, usize> = names.collect();
    let graph: Vec<Calls> = module.functions().map(|f| Calls::of(f, &places)).collect();
    let entry = entry.and_then(|name| places.get(&name).copied());
    let copies = entry.map_or_else(|| Some(Vec::new()), |entry| copies(&graph, entry));
    stats.ops.inlined = copies.as_ref().and_then(|copies| {
        let bodies = graph.iter().zip(copies);
        bodies
            .map(|(calls, &copies)| calls.own_ops.checked_mul(copies))
            .try_fold(0_u64, |all, ops| all.checked_add(ops?))
    });
    let mut called = vec![0; graph.len()];
    for (callee, count) in graph.iter().flat_map(|calls| &calls.to) {
        called[*callee] += count;
    }
    for (at, f) in module.functions().enumerate() {
        let prim = f.kind() == passdock_abi::FunctionKind::PRIM;
        stats.functions.push(FunctionStats {
            name: f.text(f.name()).to_owned(),
            kind: if prim {
                FunctionKind::Prim
            } else {
                FunctionKind::Graph
            },
            inputs: f.args(f.body()).len() as u64,
            outputs: interface::result_count(f) as u64,
            ops: f.op_count() as u64,
            calls: called[at],
            copies: copies.as_ref().map(|copies| copies[at]),
            opsets: interface::opsets(f),
        });
    }
}

/// The calls of one function.
struct Calls {
    /// OpCounts that aren't calls of functions of the module.
    own_ops: u64,
    /// Functions by their place in the module, each once, and how many ops call it.
    to: Vec<(usize, u64)>,
}

impl Calls {
    fn of(f: &Function, places: &FxHashMap<SymbolId, usize>) -> Calls {
        let mut own_ops = 0;
        let mut to: FxHashMap<usize, u64> = FxHashMap::default();
        for (op, _) in f.ops() {
            match callee(f, op).and_then(|name| places.get(&name).copied()) {
                Some(callee) => *to.entry(callee).or_default() += 1,
                None => own_ops += 1,
            }
        }
        let to = to.into_iter().collect();
        Calls { own_ops, to }
    }
}

/// The number of times each function's body would stand in the entry; `None` if the entry reaches a circle of
/// calls, or if a count has more than 64 bits.
fn copies(graph: &[Calls], entry: usize) -> Option<Vec<u64>> {
    // How many functions that the entry reaches call each, and have yet to be done.
    let mut waiting = vec![0_u32; graph.len()];
    let mut reached = vec![false; graph.len()];
    reached[entry] = true;
    let mut left = 0_usize;
    let mut stack = vec![entry];
    while let Some(caller) = stack.pop() {
        left += 1;
        for &(callee, _) in &graph[caller].to {
            waiting[callee] += 1;
            if !reached[callee] {
                reached[callee] = true;
                stack.push(callee);
            }
        }
    }
    let mut copies = vec![0_u64; graph.len()];
    copies[entry] = 1;
    if waiting[entry] == 0 {
        stack.push(entry);
    }
    while let Some(caller) = stack.pop() {
        left -= 1;
        for &(callee, count) in &graph[caller].to {
            let more = copies[caller].checked_mul(count)?;
            copies[callee] = copies[callee].checked_add(more)?;
            waiting[callee] -= 1;
            if waiting[callee] == 0 {
                stack.push(callee);
            }
        }
    }
    (left == 0).then_some(copies)
}
