//! Attributes of two functions side by side.

use passdock_abi::{Attr, AttrKind, ConstId, OpId};
use rustc_hash::FxHashMap;

use super::compare::Comparison;
use super::content::Contents;
use super::graph::{Graph, What};
use super::lines::Lines;
use super::matching::hash;
use super::report::OpChange;

impl Comparison<'_> {
    /// Compares the attributes of two ops (NONE: of the functions) by name; their order means nothing.
    pub(super) fn attributes(&mut self, ops: [OpId; 2], changes: &mut Vec<OpChange>) {
        let [f, g] = self.functions();
        let (old_attrs, new_attrs) = (f.attrs(ops[0]), g.attrs(ops[1]));
        let mut olds: FxHashMap<&str, &Attr> = FxHashMap::default();
        olds.extend(old_attrs.iter().map(|attr| (f.text(attr.name), attr)));
        for attr in new_attrs {
            let name = g.text(attr.name);
            let before = olds.remove(name);
            if before.is_none_or(|before| !self.is_same_attr(ops, [before, attr])) {
                changes.push(OpChange::Attribute {
                    name: name.to_owned(),
                    old: before.map(|before| self.lines[0].attr(ops[0], before)),
                    new: Some(self.lines[1].attr(ops[1], attr)),
                });
            }
        }
        for attr in old_attrs {
            let name = f.text(attr.name);
            if olds.remove(name).is_some() {
                changes.push(OpChange::Attribute {
                    name: name.to_owned(),
                    old: Some(self.lines[0].attr(ops[0], attr)),
                    new: None,
                });
            }
        }
    }

    fn is_same_attr(&mut self, ops: [OpId; 2], attrs: [&Attr; 2]) -> bool {
        let [old, new] = [0, 1].map(|side| {
            let (graph, lines) = (&self.graphs[side], &mut self.lines[side]);
            key(graph, ops[side], attrs[side], &self.contents, lines)
        });
        old == new
    }
}

/// The kind, flags and value of an attribute: equal keys are equal attributes of either function.
fn key(
    graph: &Graph<'_>,
    op: OpId,
    attr: &Attr,
    contents: &Contents,
    lines: &mut Lines<'_>,
) -> (AttrKind, u32, Vec<u32>, String) {
    let class = |id: u32| contents.class(graph.side, ConstId(id));
    let (classes, text) = match attr.kind {
        AttrKind::NONE => (Vec::new(), String::new()),
        AttrKind::TENSOR => (vec![class(attr.bits as u32)], String::new()),
        AttrKind::TENSORS => {
            let ids = graph.f.ids_in(attr.list).iter();
            (ids.map(|&id| class(id)).collect(), String::new())
        }
        _ => (Vec::new(), lines.whole_attr(op, attr)),
    };
    (attr.kind, attr.flags, classes, text)
}

/// Hashes the kinds, attributes and constant operands of a function's nodes.
pub(super) fn labels(graph: &Graph<'_>, contents: &Contents, lines: &mut Lines<'_>) -> Vec<u64> {
    let nodes = 0..graph.nodes.len() as u32;
    let label = |node: u32| {
        let kind = graph.node(node).kind;
        let op = match graph.node(node).what {
            What::Const(id) => return hash((kind, contents.class(graph.side, id))),
            What::Op(op) => op,
            What::Arg(_) => return hash(kind),
        };
        let mut sum = 0_u64;
        for attr in graph.f.attrs(op) {
            let name = graph.f.text(attr.name);
            sum = sum.wrapping_add(hash((name, key(graph, op, attr, contents, lines))));
        }
        for area in graph.areas_of(node) {
            sum = sum.wrapping_add(hash(graph.areas[area as usize].name));
        }
        let constants = graph.operands(node).map(|value| match graph.place(value) {
            Some((def, _)) => graph.constant(def).map(|id| contents.class(graph.side, id)),
            None => Some(super::NONE),
        });
        hash((kind, sum, constants.collect::<Vec<_>>()))
    };
    nodes.map(label).collect()
}
