//! Parameters and results of two functions: which is which.
//!
//! By name first. What is left is paired by type, between the same neighbours and in order: it was
//! renamed.

use passdock_abi::{SymbolId, TypeId};
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
        graphs: [&Graph<'_>; 2],
        symbols: &mut SharedSymbols<'_>,
        types: &mut SharedTypes,
    ) -> Interface {
        let mut slots = |graph: &Graph<'_>, ports: Vec<(SymbolId, TypeId)>| -> Vec<Slot> {
            let slot = |(name, ty)| Slot {
                name: symbols.of(graph.side, name),
                ty: types.of(graph.side, graph.f, ty),
            };
            ports.into_iter().map(slot).collect()
        };
        let params = graphs.map(|graph| slots(graph, graph.params()));
        let results = graphs.map(|graph| slots(graph, graph.results()));
        let mut opposites = results.each_ref().map(|slots| vec![None; slots.len()]);
        let results = pair(&results);
        for &(from, to) in &results {
            opposites[0][from] = Some(to);
            opposites[1][to] = Some(from);
        }
        Interface {
            params: pair(&params),
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
                numbers[[a, b][graph.side]] = mix(99, number as u64);
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

fn pair(slots: &[Vec<Slot>; 2]) -> Vec<(usize, usize)> {
    let [a, b] = slots;
    let mut by_name: FxHashMap<u32, usize> = FxHashMap::default();
    by_name.extend(b.iter().enumerate().map(|(at, slot)| (slot.name, at)));
    by_name.remove(&NONE);
    let named = |(at, slot): (usize, &Slot)| Some((at, by_name.remove(&slot.name)?));
    let mut pairs: Vec<(usize, usize)> = a.iter().enumerate().filter_map(named).collect();
    let mut left = [vec![true; a.len()], vec![true; b.len()]];
    for &(from, to) in &pairs {
        left[0][from] = false;
        left[1][to] = false;
    }
    let left = left.map(|left| -> Vec<usize> { (0..left.len()).filter(|&at| left[at]).collect() });
    let ty = |side: usize, at: usize| u64::from(slots[side][at].ty);
    pairs.extend(align::between(&pairs, [&left[0], &left[1]], ty));
    pairs.sort_unstable();
    pairs
}
