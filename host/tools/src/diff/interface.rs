//! Pairs of parameters and of results of two functions.
//!
//! Ports are paired by name first. The remaining ones are paired by type, in order and between the same neighbors:
//! they were renamed.

use passdock_abi::{SymbolId, TypeId};
use passdock_ir::text;
use rustc_hash::FxHashMap;

use super::matching::common;
use super::side::{Side, optional_text};

/// The pairs of parameters and of results, as indices.
pub(super) struct Interface {
    pub(super) params: Vec<(usize, usize)>,
    pub(super) results: Vec<(usize, usize)>,
}

impl Interface {
    pub(super) fn new(sides: &[Side<'_>; 2]) -> Interface {
        Interface {
            params: pair(sides, sides.each_ref().map(Side::params)),
            results: pair(sides, sides.each_ref().map(Side::results)),
        }
    }
}

fn pair(sides: &[Side<'_>; 2], ports: [Vec<(SymbolId, TypeId)>; 2]) -> Vec<(usize, usize)> {
    let name = |side: usize, at: usize| optional_text(sides[side].f, ports[side][at].0);
    let new_items = (0..ports[1].len()).filter_map(|at| Some((name(1, at)?, at)));
    let mut by_name: FxHashMap<&str, usize> = new_items.collect();
    let named = |at| Some((at, by_name.remove(name(0, at)?)?));
    let mut pairs: Vec<(usize, usize)> = (0..ports[0].len()).filter_map(named).collect();
    let mut keys = [0, 1].map(|side: usize| -> Vec<(Option<usize>, String)> {
        let types = ports[side].iter();
        types
            .map(|port| (None, text::type_text(sides[side].f, port.1)))
            .collect()
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
