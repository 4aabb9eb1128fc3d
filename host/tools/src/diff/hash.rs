//! Hashes of nodes: of what an op says, of what flows into it, and of where its results go.
//!
//! They only suggest pairs: what is reported is compared field by field.

use std::hash::Hasher;

use passdock_abi::Attr;
use rustc_hash::FxHasher;

use super::NONE;
use super::attrs;
use super::content::Contents;
use super::graph::{CONST, Graph, What};
use super::shared::{SharedSymbols, SharedTypes};

/// The hashes of a function's nodes.
pub(super) struct Hashes {
    /// The hash of what a node says for itself, constant operands included.
    pub(super) label: Vec<u64>,
    /// The hash of all that flows into a node, from the parameters on; without its label.
    pub(super) from: Vec<u64>,
    /// The hash of all that is made of its values, down to the results; without its label.
    pub(super) to: Vec<u64>,
}

/// Two numbers in one; the order counts.
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let a = u128::from(a ^ 0x9e37_79b9_7f4a_7c15);
    let product = a * u128::from(b ^ 0xd1b5_4a32_d192_ed03 | 1 << 63);
    let folded = (product as u64) ^ (product >> 64) as u64;
    folded.rotate_left(23) ^ b
}

impl Hashes {
    /// The hash of what a node says and all that flows into it.
    pub(super) fn up(&self, node: u32) -> u64 {
        mix(self.label[node as usize], self.from[node as usize])
    }

    /// The hash of what a node says and all that is made of it.
    pub(super) fn down(&self, node: u32) -> u64 {
        mix(self.label[node as usize], self.to[node as usize])
    }
}

/// The tables that hashing reads beside the graph.
pub(super) struct Context<'c, 'm> {
    pub(super) contents: &'c Contents,
    pub(super) symbols: &'c mut SharedSymbols<'m>,
    pub(super) types: &'c mut SharedTypes,
}

/// The numbers of parameters and of results, by which they correspond before anything else does.
pub(super) struct Anchors {
    pub(super) params: Vec<u64>,
    pub(super) results: Vec<u64>,
}

pub(super) fn hashes(graph: &Graph<'_>, anchors: &Anchors, cx: &mut Context<'_, '_>) -> Hashes {
    let count = graph.nodes.len();
    let nodes = 0..count as u32;
    let mut hashes = Hashes {
        label: nodes.map(|node| label(graph, node, cx)).collect(),
        from: vec![0; count],
        to: vec![0; count],
    };
    let order = graph.inside_out();
    for &node in &order {
        hashes.from[node as usize] = flows_in(graph, node, &hashes, anchors);
    }
    for &node in order.iter().rev() {
        hashes.to[node as usize] = flows_out(graph, node, &hashes, anchors);
    }
    hashes
}

/// The hash of what a node says for itself, constant operands included.
fn label(graph: &Graph<'_>, node: u32, cx: &mut Context<'_, '_>) -> u64 {
    let record = graph.node(node);
    let kind = mix(1, u64::from(record.kind));
    let op = match record.what {
        What::Const(id) => return mix(kind, u64::from(cx.contents.class(graph.side, id))),
        What::Op(op) => op,
        What::Arg(_) => return kind,
    };
    let mut sum = 0_u64;
    for attr in graph.f.attrs(op) {
        sum = sum.wrapping_add(attribute(graph, attr, cx));
    }
    for area in graph.areas_of(node) {
        let name = graph.areas[area as usize].name;
        sum = sum.wrapping_add(mix(2, u64::from(name)));
    }
    let mut hash = mix(kind, sum);
    for (slot, operand) in graph.operands(node).enumerate() {
        let place = graph.place(operand);
        let Some((def, _)) = place else {
            hash = mix(hash, mix(3, slot as u64));
            continue;
        };
        if let Some(id) = graph.constant(def) {
            let class = cx.contents.class(graph.side, id);
            hash = mix(hash, mix(slot as u64, u64::from(class)));
        }
    }
    hash
}

/// The hash of an attribute's name and value.
fn attribute(graph: &Graph<'_>, attr: &Attr, cx: &mut Context<'_, '_>) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(&attrs::content(graph, attr, cx));
    let name = u64::from(cx.symbols.of(graph.side, attr.name));
    let value = mix(u64::from(attr.kind.0), hasher.finish());
    mix(name, mix(value, u64::from(attr.flags & Attr::PARAM)))
}

/// The hash of all that flows into a node. Its operands and what is nested in it are done.
fn flows_in(graph: &Graph<'_>, node: u32, hashes: &Hashes, anchors: &Anchors) -> u64 {
    if let What::Arg(value) = graph.node(node).what {
        let index = graph.f.value(value).index as usize;
        let param = (graph.node(node).area == 0).then(|| anchors.params.get(index));
        return param.flatten().copied().unwrap_or(mix(4, index as u64));
    }
    let mut hash = 5;
    for operand in graph.operands(node) {
        let value = match graph.place(operand) {
            Some((def, index)) => mix(hashes.up(def), u64::from(index)),
            None => 6,
        };
        hash = mix(hash, value);
    }
    for area in graph.areas_of(node) {
        hash = mix(hash, inside(graph, area, hashes));
    }
    hash
}

/// The hash of what is in an area, in whatever order.
fn inside(graph: &Graph<'_>, area: u32, hashes: &Hashes) -> u64 {
    let mut sum = 0_u64;
    for node in graph.areas[area as usize].nodes.clone() {
        if graph.node(node).kind != CONST {
            sum = sum.wrapping_add(mix(7, hashes.up(node)));
        }
    }
    sum
}

/// The hash of all that is made of a node's values. Their users, and the op around, are done.
fn flows_out(graph: &Graph<'_>, node: u32, hashes: &Hashes, anchors: &Anchors) -> u64 {
    let area = graph.node(node).area;
    if graph.terminator(area) == Some(node) {
        return match graph.areas[area as usize].owner {
            NONE => 8,
            owner => mix(hashes.down(owner), u64::from(graph.area_place(area))),
        };
    }
    let mut sum = 0_u64;
    for (index, value) in graph.values(node).enumerate() {
        for (user, slot) in graph.users(value) {
            let there = graph.node(user).area;
            let mut way = mix(hashes.down(user), slot_number(graph, user, slot, anchors));
            if there != area {
                way = mix(way, hashes.down(graph.areas[there as usize].owner));
            }
            sum = sum.wrapping_add(mix(index as u64, way));
        }
    }
    sum
}

/// A slot's number: of the body's terminator that of the result.
fn slot_number(graph: &Graph<'_>, user: u32, slot: u32, anchors: &Anchors) -> u64 {
    let results = graph.node(user).area == 0 && graph.terminator(0) == Some(user);
    let known = results.then(|| anchors.results.get(slot as usize));
    known.flatten().copied().unwrap_or(u64::from(slot))
}
