//! The calls between functions, and the size of the entry after inlining all calls.

use passdock_abi::{self as abi, SymbolId};
use passdock_ir::{Function, Module};
use rustc_hash::FxHashMap;

use super::{FunctionKind, FunctionStats, Stats, interface};

/// Adds each function to the statistics, and counts calls.
pub(super) fn count(module: &Module, entry: Option<SymbolId>, stats: &mut Stats) {
    let names = module.names().enumerate().map(|(at, name)| (name, at));
    let positions: FxHashMap<SymbolId, usize> = names.collect();
    let graph: Vec<Calls> = module
        .functions()
        .map(|f| Calls::new(f, &positions))
        .collect();
    let entry = entry.and_then(|name| positions.get(&name).copied());
    let copies = entry.map_or_else(|| Some(Vec::new()), |entry| copies(&graph, entry));
    stats.ops.inlined = copies.as_ref().and_then(|copies| {
        let bodies = graph.iter().zip(copies);
        bodies
            .map(|(calls, &copies)| calls.own_ops.checked_mul(copies))
            .try_fold(0_u64, |all, ops| all.checked_add(ops?))
    });
    let mut called = vec![0; graph.len()];
    for (callee, count) in graph.iter().flat_map(|calls| &calls.callees) {
        called[*callee] += count;
    }
    for (at, f) in module.functions().enumerate() {
        let end = f.terminator(f.body());
        stats.functions.push(FunctionStats {
            name: f.text(f.name()).to_owned(),
            kind: match f.kind() {
                abi::FunctionKind::PRIM => FunctionKind::Prim,
                _ => FunctionKind::Graph,
            },
            inputs: f.args(f.body()).len() as u64,
            outputs: end.map_or(0, |op| f.operands(op).len() as u64),
            ops: f.op_count() as u64,
            calls: called[at],
            inlined_copies: copies.as_ref().map(|copies| copies[at]),
            opsets: interface::opsets(f),
        });
    }
}

/// The calls of one function.
struct Calls {
    /// The number of ops that don't call a function of the module.
    own_ops: u64,
    /// The callees as indices into the module's functions, without duplicates, with the number of calls.
    callees: Vec<(usize, u64)>,
}

impl Calls {
    fn new(f: &Function, positions: &FxHashMap<SymbolId, usize>) -> Calls {
        let mut own_ops = 0;
        let mut callees: FxHashMap<usize, u64> = FxHashMap::default();
        for (_, op) in f.ops() {
            match positions.get(&op.name) {
                Some(&callee) => *callees.entry(callee).or_default() += 1,
                None => own_ops += 1,
            }
        }
        let callees = callees.into_iter().collect();
        Calls { own_ops, callees }
    }
}

/// Returns the number of copies of each function's body in the entry after inlining all calls. Returns `None` if the
/// entry reaches a cycle of calls, or if a number has more than 64 bits.
fn copies(graph: &[Calls], entry: usize) -> Option<Vec<u64>> {
    // The number of reachable callers whose copies aren't counted yet.
    let mut callers = vec![0_u32; graph.len()];
    let mut reached = vec![entry];
    let mut at = 0;
    while let Some(&caller) = reached.get(at) {
        at += 1;
        for &(callee, _) in &graph[caller].callees {
            callers[callee] += 1;
            if callers[callee] == 1 && callee != entry {
                reached.push(callee);
            }
        }
    }
    let mut copies = vec![0_u64; graph.len()];
    copies[entry] = 1;
    let mut ready: Vec<usize> = (callers[entry] == 0).then_some(entry).into_iter().collect();
    let mut counted = 0;
    while let Some(caller) = ready.pop() {
        counted += 1;
        for &(callee, count) in &graph[caller].callees {
            let more = copies[caller].checked_mul(count)?;
            copies[callee] = copies[callee].checked_add(more)?;
            callers[callee] -= 1;
            if callers[callee] == 0 {
                ready.push(callee);
            }
        }
    }
    (counted == reached.len()).then_some(copies)
}
