//! Pairs of parameters and of results of two functions.
//!
//! By name first. What is left is paired by type, between the same neighbours and in order: it was
//! renamed.

use passdock_abi::{SymbolId, TypeId};
use passdock_ir::text;
use rustc_hash::FxHashMap;

use super::compare::text_of;
use super::graph::Graph;
use super::matching::common;

/// The pairs of parameters and of results, by their positions.
pub(super) struct Interface {
    pub(super) params: Vec<(usize, usize)>,
    pub(super) results: Vec<(usize, usize)>,
}

impl Interface {
    pub(super) fn new(graphs: [&Graph<'_>; 2]) -> Interface {
        Interface {
            params: pair(graphs, graphs.map(Graph::params)),
            results: pair(graphs, graphs.map(Graph::results)),
        }
    }
}

fn pair(graphs: [&Graph<'_>; 2], ports: [Vec<(SymbolId, TypeId)>; 2]) -> Vec<(usize, usize)> {
    let name = |side: usize, at: usize| text_of(graphs[side].f, ports[side][at].0);
    let news = (0..ports[1].len()).filter_map(|at| Some((name(1, at)?, at)));
    let mut by_name: FxHashMap<String, usize> = news.collect();
    let named = |at| Some((at, by_name.remove(&name(0, at)?)?));
    let mut pairs: Vec<(usize, usize)> = (0..ports[0].len()).filter_map(named).collect();
    let mut keys = [0, 1].map(|side: usize| -> Vec<(Option<usize>, String)> {
        let f = graphs[side].f;
        let types = ports[side].iter().map(|port| text::type_text(f, port.1));
        types.map(|ty| (None, ty)).collect()
    });
    for &(from, to) in &pairs {
        keys[0][from] = (Some(from), String::new());
        keys[1][to] = (Some(from), String::new());
    }
    let renamed = common(&keys[0], &keys[1]).into_iter();
    pairs.extend(renamed.filter(|pair| keys[0][pair.0].0.is_none()));
    pairs.sort_unstable();
    pairs
}
