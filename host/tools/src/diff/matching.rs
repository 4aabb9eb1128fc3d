//! Pairs of nodes of two functions.
//!
//! Region by region, from the body inwards; the regions of two ops that are paired are paired by name. In a pair
//! of regions the nodes are paired in steps, surest first:
//!
//! 1. by name and kind, unless the values were renumbered (`names_hold`);
//! 2. by a hash of the label and of all that flows into the node;
//! 3. by the longest common subsequence, of labels, kinds and then operands, between nodes that are paired.
//!
//! By a name or a hash a node is paired only if one node of either side has it. A pair only proposes how to describe
//! the difference: a bad pair makes a longer report, never a wrong one.

use std::hash::{Hash, Hasher};

use passdock_abi::{Attr, AttrKind, ConstId, OpId, RegionId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::content::Contents;
use super::interface::Interface;
use super::side::{Node, Side, text_of};

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

    /// Returns the first function's node of a pair, as a name for both.
    pub(super) fn pair(&self, side: usize, node: Node) -> Option<Node> {
        let other = self.counterpart(side, node)?;
        Some([node, other][side])
    }

    fn add(&mut self, a: Node, b: Node) {
        self.counterparts[0].insert(a, b);
        self.counterparts[1].insert(b, a);
    }
}

/// Returns the positions of a longest common subsequence; of very different sequences, of a common one that is long.
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

/// Returns the numbers that aren't in order among the others, as few as possible.
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
    /// Hashes of all that flows into the nodes.
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
        // An exporter that numbers its values gives all of them other names when one is added.
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
        // An op of another kind with the same operands.
        self.in_order(&nodes, names_hold, |m, side, node| {
            m.flow(side, node, u64::from(node.constant().is_some()))
        });
        self.descend(&nodes[0]);
    }

    /// Pairs arguments of two regions by position, and the terminators.
    fn ends(&mut self, regions: [RegionId; 2], args: Vec<(usize, usize)>) {
        let [olds, news] = [0, 1].map(|side: usize| -> Vec<Node> {
            let args = self.sides[side].f.args(regions[side]);
            args.map(Node::Arg).collect()
        });
        for (from, to) in args {
            self.m.add(olds[from], news[to]);
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
        let regions = regions.map(|region| hash(text_of(side.f, side.f.region(region).name)));
        // Their order means nothing.
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

    /// Finds the nodes without a counterpart that alone on their side have a key.
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

    /// Whether a node is a constant that is told from others by its name: two are not one because both are 1.
    fn has_little_data(&self, side: usize, node: Node) -> bool {
        /// More data than is the same by chance.
        const BYTES: u64 = 32;
        let side = &self.sides[side];
        let is_small = |id| side.f.constant_data(id).len() < BYTES && side.is_named(id);
        node.constant().is_some_and(is_small)
    }

    /// Hashes a label and what flows into a node, whose hashes are computed.
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

    /// Pairs nodes that are in order between paired ones and have the same key. A constant with a name isn't paired by
    /// its position, if names hold.
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

    /// Pairs the regions of paired ops: by name, the first with the first.
    fn descend(&mut self, nodes: &[Node]) {
        for &a in nodes {
            let Some(b) = self.m.counterpart(0, a) else {
                continue;
            };
            let [f, g] = [self.sides[0].f, self.sides[1].f];
            let mut news = self.sides[1].regions(b);
            for old in self.sides[0].regions(a) {
                let name = text_of(f, f.region(old).name);
                let is_same = |new: &RegionId| text_of(g, g.region(*new).name) == name;
                if let Some(at) = news.iter().position(is_same) {
                    let new = news.remove(at);
                    let args = f.args(old).len().min(g.args(new).len());
                    self.ends([old, new], (0..args).map(|at| (at, at)).collect());
                    self.m.regions.push([old, new]);
                }
            }
        }
    }
}

/// Returns the kind, flags and value of an attribute: equal keys are equal attributes of either function.
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
