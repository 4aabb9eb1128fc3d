//! Parameters and results of two functions: which is which.
//!
//! By name first. What is left is paired by type, between the same neighbours and in order: it was
//! renamed.

use passdock_abi::{Port, ValueId};
use rustc_hash::FxHashMap;

use super::NONE;
use super::align;
use super::graph::Graph;
use super::hash::{Anchors, mix};
use super::shared::{SharedSymbols, SharedTypes};

/// A parameter or a result, as it is paired: the numbers of its name and its type.
#[derive(Clone, Copy)]
struct Slot {
    name: u32,
    ty: u32,
}

/// The pairs of parameters and of results, by their places.
pub(super) struct Interface {
    pub(super) params: Vec<(usize, usize)>,
    pub(super) results: Vec<(usize, usize)>,
    /// The counterpart of each result of either side.
    opposites: [Vec<Option<usize>>; 2],
}

impl Interface {
    pub(super) fn new(
        a: &Graph<'_>,
        b: &Graph<'_>,
        symbols: &mut SharedSymbols<'_>,
        types: &mut SharedTypes,
    ) -> Interface {
        let mut params = |graph: &Graph<'_>| -> Vec<Slot> {
            let slot = |arg: ValueId| {
                let value = graph.f.value(arg);
                Slot {
                    name: symbols.of(graph.side, value.name),
                    ty: types.of(graph.side, graph.f, value.ty),
                }
            };
            graph.f.args(graph.f.body()).map(slot).collect()
        };
        let params = pair(&params(a), &params(b));
        let mut results = |graph: &Graph<'_>| -> Vec<Slot> {
            let slot = |port: &Port| Slot {
                name: symbols.of(graph.side, port.name),
                ty: types.of(graph.side, graph.f, port.ty),
            };
            graph.f.ports(graph.f.body()).iter().map(slot).collect()
        };
        let slots = [results(a), results(b)];
        let results = pair(&slots[0], &slots[1]);
        let mut opposites = slots.map(|slots| vec![None; slots.len()]);
        for &(from, to) in &results {
            opposites[0][from] = Some(to);
            opposites[1][to] = Some(from);
        }
        Interface {
            params,
            results,
            opposites,
        }
    }

    /// The result of the other side that a side's result is paired with.
    pub(super) fn opposite(&self, side: usize, result: usize) -> Option<usize> {
        *self.opposites[side].get(result)?
    }

    /// The numbers of the parameters and results of one side.
    pub(super) fn anchors(&self, graph: &Graph<'_>) -> Anchors {
        let numbers = |pairs: &[(usize, usize)], count: usize| {
            // What has no counterpart is like nothing else.
            let alone = |at: usize| mix(100 + graph.side as u64, at as u64);
            let mut numbers: Vec<u64> = (0..count).map(alone).collect();
            for (number, &(a, b)) in pairs.iter().enumerate() {
                let at = [a, b][graph.side as usize];
                numbers[at] = mix(99, number as u64);
            }
            numbers
        };
        let body = graph.f.body();
        Anchors {
            params: numbers(&self.params, graph.f.args(body).len()),
            results: numbers(&self.results, graph.f.ports(body).len()),
        }
    }
}

fn pair(a: &[Slot], b: &[Slot]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut by_name: FxHashMap<u32, usize> = FxHashMap::default();
    for (at, slot) in b.iter().enumerate() {
        by_name.insert(slot.name, at);
    }
    by_name.remove(&NONE);
    let mut taken = vec![false; b.len()];
    for (at, slot) in a.iter().enumerate() {
        if let Some(to) = by_name.remove(&slot.name) {
            pairs.push((at, to));
            taken[to] = true;
        }
    }
    let targets: Vec<u32> = pairs.iter().map(|&(_, to)| to as u32).collect();
    let kept = align::longest_increasing(&targets);
    let mut anchors: Vec<(usize, usize)> = kept.into_iter().map(|at| pairs[at]).collect();
    anchors.push((a.len(), b.len()));
    let named: Vec<bool> = {
        let mut named = vec![false; a.len()];
        pairs.iter().for_each(|&(at, _)| named[at] = true);
        named
    };
    let (mut from_a, mut from_b) = (0, 0);
    for (to_a, to_b) in anchors {
        let left_a: Vec<usize> = (from_a..to_a).filter(|&at| !named[at]).collect();
        let left_b: Vec<usize> = (from_b..to_b).filter(|&at| !taken[at]).collect();
        let types = |left: &[usize], of: &[Slot]| -> Vec<u64> {
            left.iter().map(|&at| u64::from(of[at].ty)).collect()
        };
        let common = align::common(&types(&left_a, a), &types(&left_b, b));
        pairs.extend(common.into_iter().map(|(i, j)| (left_a[i], left_b[j])));
        (from_a, from_b) = (to_a + 1, to_b + 1);
    }
    pairs.sort_unstable();
    pairs
}
