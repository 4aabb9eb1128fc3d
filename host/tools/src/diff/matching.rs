//! The pairing of nodes of two functions.
//!
//! Regions are paired from the body inwards; the regions of two paired ops are paired by name. In a pair of regions,
//! nodes are paired in steps, the most reliable first:
//!
//! 1. by name and kind, unless the values were renumbered (`names_hold`);
//! 2. by a hash of the label and of all operands, transitively;
//! 3. by the longest common subsequence, of labels, kinds and then operands, between nodes that are paired.
//!
//! By name or hash, a node is paired only if the name or hash is unique on both sides. A pair only determines how the
//! difference is described: a bad pair makes the report longer, but never wrong.

use std::hash::{Hash, Hasher};

use passdock_abi::{Attr, AttrKind, ConstId, OpId, RegionId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::content::Contents;
use super::interface::Interface;
use super::side::{Node, Side, optional_text};

/// The pairs of nodes and of regions.
#[derive(Default)]
pub(super) struct Matching {
    counterparts: [FxHashMap<Node, Node>; 2],
    /// The pairs of regions, outer ones first.
    pub(super) regions: Vec<[RegionId; 2]>,
}

impl Matching {
    pub(super) fn counterpart(&self, side: usize, node: Node) -> Option<Node> {
        self.counterparts[side].get(&node).copied()
    }

    pub(super) fn is_paired(&self, side: usize, node: Node) -> bool {
        self.counterparts[side].contains_key(&node)
    }

    /// Returns the first function's node of a pair, which identifies the pair.
    pub(super) fn pair(&self, side: usize, node: Node) -> Option<Node> {
        let other = self.counterpart(side, node)?;
        Some([node, other][side])
    }

    fn add(&mut self, a: Node, b: Node) {
        self.counterparts[0].insert(a, b);
        self.counterparts[1].insert(b, a);
    }
}

/// Returns the index pairs of a longest common subsequence. For very different sequences it may not be the longest.
pub(super) fn common<T: Eq + Hash>(a: &[T], b: &[T]) -> Vec<(usize, usize)> {
    let ops = capture_diff_slices(Algorithm::Myers, a, b);
    let equal = ops.into_iter().filter_map(|op| match op {
        DiffOp::Equal {
            old_index,
            new_index,
            len,
        } => Some((0..len).map(move |at| (old_index + at, new_index + at))),
        _ => None,
    });
    equal.flatten().collect()
}

/// Returns a minimal set of numbers whose removal leaves the others in ascending order.
pub(super) fn moved(numbers: &[usize]) -> FxHashSet<usize> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let mut moved: FxHashSet<usize> = numbers.iter().copied().collect();
    for (at, _) in common(&sorted, numbers) {
        moved.remove(&sorted[at]);
    }
    moved
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Pairs the nodes of two functions.
pub(super) fn matching(
    sides: &[Side<'_>; 2],
    interface: &Interface,
    contents: &Contents,
) -> Matching {
    let bodies = [0, 1].map(|side: usize| sides[side].f.body());
    let mut matcher = Matcher {
        sides,
        contents,
        m: Matching {
            regions: vec![bodies],
            ..Matching::default()
        },
        labels: Default::default(),
        flows: Default::default(),
    };
    matcher.ends(bodies, interface.params.clone());
    let mut at = 0;
    while let Some(&regions) = matcher.m.regions.get(at) {
        matcher.regions(regions);
        at += 1;
    }
    matcher.m
}

struct Matcher<'s, 'f> {
    sides: &'s [Side<'f>; 2],
    contents: &'s Contents,
    m: Matching,
    /// Hashes of the nodes' kinds, attributes and constant operands.
    labels: [FxHashMap<Node, u64>; 2],
    /// Hashes of the nodes' labels and all transitive operands.
    flows: [FxHashMap<Node, u64>; 2],
}

impl Matcher<'_, '_> {
    /// Pairs the nodes of two regions, whose arguments and terminators are paired.
    fn regions(&mut self, regions: [RegionId; 2]) {
        let nodes = [0, 1].map(|side: usize| {
            let mut nodes = self.sides[side].nodes(regions[side]);
            nodes.retain(|node| !matches!(node, Node::Arg(_)));
            nodes
        });
        for (side, nodes) in nodes.iter().enumerate() {
            let labels = nodes.iter().map(|&node| (node, self.new_label(side, node)));
            let labels: Vec<(Node, u64)> = labels.collect();
            self.labels[side].extend(labels);
        }
        let named = self.unique(&nodes, |m, side, node| {
            let side = &m.sides[side];
            Some(hash((side.name(node)?, side.kind(node))))
        });
        // If an exporter numbers values, one additional value changes the names of all after it.
        let same = named
            .iter()
            .filter(|&&(a, b)| self.label(0, a) == self.label(1, b));
        let names_hold = !named.is_empty() && same.count() * 2 >= named.len();
        if names_hold {
            self.pair_all(named);
        }
        for (side, nodes) in nodes.iter().enumerate() {
            for &node in nodes {
                let flow = self.flow(side, node, self.label(side, node));
                self.flows[side].insert(node, flow);
            }
        }
        let alike = self.unique(&nodes, |m, side, node| {
            (!m.has_little_data(side, node)).then(|| m.flows[side][&node])
        });
        self.pair_all(alike);
        self.in_order(&nodes, names_hold, Self::label);
        self.in_order(&nodes, names_hold, |m, side, node| {
            hash(m.sides[side].kind(node))
        });
        // Ops of different kinds with the same operands.
        self.in_order(&nodes, names_hold, |m, side, node| {
            m.flow(side, node, u64::from(node.constant().is_some()))
        });
        self.descend(&nodes[0]);
    }

    /// Pairs arguments of two regions by position, and the terminators.
    fn ends(&mut self, regions: [RegionId; 2], args: Vec<(usize, usize)>) {
        let [old_items, new_items] = [0, 1].map(|side: usize| -> Vec<Node> {
            let args = self.sides[side].f.args(regions[side]);
            args.map(Node::Arg).collect()
        });
        for (from, to) in args {
            self.m.add(old_items[from], new_items[to]);
        }
        let ends = [0, 1].map(|side: usize| self.sides[side].terminator(regions[side]));
        if let [Some(a), Some(b)] = ends {
            self.m.add(a, b);
        }
    }

    fn label(&self, side: usize, node: Node) -> u64 {
        self.labels[side][&node]
    }

    fn new_label(&self, side: usize, node: Node) -> u64 {
        let (contents, side) = (self.contents, &self.sides[side]);
        let class = |id| contents.class(side.index, id);
        let op = match node {
            Node::Const(id) => return hash((side.kind(node), class(id))),
            Node::Op(op) => op,
            Node::Arg(_) => return hash(side.kind(node)),
        };
        let attrs = side.f.attrs(op).iter();
        let attrs =
            attrs.map(|attr| hash((side.f.text(attr.name), attr_key(side, contents, op, attr))));
        let regions = side.f.regions_of(op);
        let regions = regions.map(|region| hash(optional_text(side.f, side.f.region(region).name)));
        // The order of attributes and regions has no meaning.
        let sum = attrs.chain(regions).fold(0, u64::wrapping_add);
        let constants = side
            .operands(node)
            .map(|value| match side.definition(value) {
                Some((definition, _)) => definition.constant().map(class),
                None => Some(None),
            });
        hash((side.kind(node), sum, constants.collect::<Vec<_>>()))
    }

    fn pair_all(&mut self, pairs: Vec<(Node, Node)>) {
        pairs.into_iter().for_each(|(a, b)| self.m.add(a, b));
    }

    /// Finds unpaired nodes whose key is unique on both sides.
    fn unique(
        &self,
        nodes: &[Vec<Node>; 2],
        key: impl Fn(&Self, usize, Node) -> Option<u64>,
    ) -> Vec<(Node, Node)> {
        let mut by_key: FxHashMap<u64, [Vec<Node>; 2]> = FxHashMap::default();
        for (side, nodes) in nodes.iter().enumerate() {
            for &node in nodes.iter().filter(|&&node| !self.m.is_paired(side, node)) {
                if let Some(key) = key(self, side, node) {
                    by_key.entry(key).or_default()[side].push(node);
                }
            }
        }
        let pairs = by_key.into_values().filter_map(|nodes| match &nodes {
            [a, b] if a.len() == 1 && b.len() == 1 => Some((a[0], b[0])),
            _ => None,
        });
        pairs.collect()
    }

    /// Whether a node is a small constant with a name. Equal contents don't make two of them the same constant.
    fn has_little_data(&self, side: usize, node: Node) -> bool {
        /// The minimum size of data that isn't equal by chance.
        const BYTES: u64 = 32;
        let side = &self.sides[side];
        let is_small = |id| side.f.constant_data(id).len() < BYTES && side.is_named(id);
        node.constant().is_some_and(is_small)
    }

    /// Hashes a label and the operands of a node. The hashes of their definitions are already computed.
    fn flow(&self, side: usize, node: Node, label: u64) -> u64 {
        let operands = self.sides[side].operands(node);
        operands.fold(label, |flow, value| {
            let definition = self.sides[side].definition(value);
            let source = definition.map(|(node, index)| match self.m.pair(side, node) {
                Some(pair) => (Some(pair), 0, index),
                None => (
                    None,
                    self.flows[side].get(&node).copied().unwrap_or(0),
                    index,
                ),
            });
            hash((flow, source))
        })
    }

    /// Pairs nodes with equal keys that are in the same order between paired nodes. If `names_hold`, a constant with a
    /// name isn't paired by position.
    fn in_order(
        &mut self,
        nodes: &[Vec<Node>; 2],
        names_hold: bool,
        key: impl Fn(&Self, usize, Node) -> u64,
    ) {
        let keyed = [0, 1].map(|side: usize| -> Vec<(Node, (Option<Node>, u64))> {
            let is_named = |id: ConstId| self.sides[side].is_named(id);
            let has_position = |node: Node| !names_hold || !node.constant().is_some_and(is_named);
            let keyed = nodes[side]
                .iter()
                .filter_map(|&node| match self.m.pair(side, node) {
                    Some(pair) => Some((node, (Some(pair), 0))),
                    None => has_position(node).then(|| (node, (None, key(self, side, node)))),
                });
            keyed.collect()
        });
        let keys = [0, 1].map(|side: usize| -> Vec<(Option<Node>, u64)> {
            keyed[side].iter().map(|(_, key)| *key).collect()
        });
        for (i, j) in common(&keys[0], &keys[1]) {
            self.m.add(keyed[0][i].0, keyed[1][j].0);
        }
    }

    /// Pairs the regions of paired ops: by name and, for several regions of one name, in order.
    fn descend(&mut self, nodes: &[Node]) {
        for &a in nodes {
            let Some(b) = self.m.counterpart(0, a) else {
                continue;
            };
            let [f, g] = [self.sides[0].f, self.sides[1].f];
            let mut new_items = self.sides[1].regions(b);
            for old in self.sides[0].regions(a) {
                let name = optional_text(f, f.region(old).name);
                let is_same = |new: &RegionId| optional_text(g, g.region(*new).name) == name;
                if let Some(at) = new_items.iter().position(is_same) {
                    let new = new_items.remove(at);
                    let args = f.args(old).len().min(g.args(new).len());
                    self.ends([old, new], (0..args).map(|at| (at, at)).collect());
                    self.m.regions.push([old, new]);
                }
            }
        }
    }
}

/// Returns a key for the kind, flags and value of an attribute. Equal keys mean equal attributes, across functions.
pub(super) fn attr_key(
    side: &Side<'_>,
    contents: &Contents,
    op: OpId,
    attr: &Attr,
) -> (AttrKind, u32, Vec<Option<u32>>, String) {
    let class = |id: u32| contents.class(side.index, ConstId(id));
    let (classes, text) = match attr.kind {
        AttrKind::NONE => (Vec::new(), String::new()),
        AttrKind::TENSOR => (vec![class(attr.bits as u32)], String::new()),
        AttrKind::TENSORS => {
            let ids = side.f.ids_in(attr.list).iter();
            (ids.map(|&id| class(id)).collect(), String::new())
        }
        _ => (Vec::new(), side.whole_attr(op, attr)),
    };
    (attr.kind, attr.flags, classes, text)
}
