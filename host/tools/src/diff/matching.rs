//! Pairs of nodes of two functions.
//!
//! Region by region, from the body inwards; the regions of two ops that are paired are paired by name. In a pair
//! of regions the nodes are paired in steps, surest first:
//!
//! 1. by name and kind, unless the values were renumbered (`names_hold`);
//! 2. by a hash of the label and of all that flows into the node;
//! 3. operands of paired nodes that have the same label, backwards from the terminator;
//! 4. the longest common subsequence, of labels and then of kinds, between nodes that are paired; by kind only
//!    nodes that have an operand or a use in common, unless both have as many of the kind there;
//! 5. operands of paired nodes that are both constants, or ops of other kinds that use the same values.
//!
//! By a name or a hash a node is paired only where one node of either side has it. Steps 1, 2, 3 and 5 take time in
//! proportion to the nodes and uses, and `similar` limits the work of step 4. A pair only proposes how to describe
//! the difference: a bad pair makes a longer report, never a wrong one.

use std::hash::{Hash, Hasher};

use passdock_abi::ValueId;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::NONE;
use super::graph::{ARG, CONST, Graph};
use super::interface::Interface;

/// The pairs of nodes and of areas.
pub(super) struct Matching {
    /// The counterpart in the other function of each node of either, or NONE.
    pub(super) to: [Vec<u32>; 2],
    /// The pairs of areas, outer ones first.
    pub(super) areas: Vec<(u32, u32)>,
}

impl Matching {
    pub(super) fn counterpart(&self, side: usize, node: u32) -> u32 {
        self.to[side][node as usize]
    }

    pub(super) fn is_paired(&self, side: usize, node: u32) -> bool {
        self.counterpart(side, node) != NONE
    }

    fn pair(&mut self, a: u32, b: u32) {
        self.to[0][a as usize] = b;
        self.to[1][b as usize] = a;
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
pub(super) fn moved<T: Copy + Ord + Hash>(numbers: &[T]) -> FxHashSet<T> {
    let mut moved: FxHashSet<T> = numbers.iter().copied().collect();
    if !numbers.is_sorted() {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        for (at, _) in common(&sorted, numbers) {
            moved.remove(&sorted[at]);
        }
        return moved;
    }
    FxHashSet::default()
}

/// Hashes a value.
pub(super) fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Pairs the nodes of two functions, whose labels are hashes of their kinds, attributes and constant operands.
pub(super) fn matching(
    graphs: [&Graph<'_>; 2],
    interface: &Interface,
    labels: [Vec<u64>; 2],
) -> Matching {
    let mut matcher = Matcher {
        graphs,
        interface,
        labels,
        m: Matching {
            to: graphs.map(|graph| vec![NONE; graph.nodes.len()]),
            areas: vec![(0, 0)],
        },
        partner: FxHashMap::from_iter([(0, 0)]),
        flows: graphs.map(|graph| vec![0; graph.nodes.len()]),
    };
    let mut at = 0;
    while let Some(&areas) = matcher.m.areas.get(at) {
        matcher.area(areas);
        at += 1;
    }
    // Ops in regions may be the only ones that use a constant.
    for a in (0..graphs[0].nodes.len() as u32).rev() {
        matcher.operands(a, Matcher::fits);
    }
    matcher.m
}

struct Matcher<'g, 'f> {
    graphs: [&'g Graph<'f>; 2],
    interface: &'g Interface,
    labels: [Vec<u64>; 2],
    m: Matching,
    /// The second function's area of each paired area of the first.
    partner: FxHashMap<u32, u32>,
    /// The hashes of all that flows into the nodes.
    flows: [Vec<u64>; 2],
}

impl Matcher<'_, '_> {
    /// Pairs the nodes of two areas.
    fn area(&mut self, areas: (u32, u32)) {
        self.ends(areas);
        let [a, b] = self.graphs;
        let nodes = [(a, areas.0), (b, areas.1)]
            .map(|(graph, area)| graph.areas[area as usize].nodes.clone());
        let own = [0, 1].map(|side: usize| -> Vec<u32> {
            let nodes = nodes[side].clone();
            let is_own = |node: &u32| self.graphs[side].node(*node).kind != ARG;
            nodes.filter(is_own).collect()
        });
        let named = self.unique(&own, |m, side, node| {
            let node = m.graphs[side].node(node);
            Some(hash((node.name?, node.kind)))
        });
        if self.names_hold(&own) {
            self.pair_all(named);
        }
        for (side, own) in own.iter().enumerate() {
            for &node in own {
                self.flows[side][node as usize] = self.flow(side, node);
            }
        }
        let alike = self.unique(&own, |m, side, node| {
            (!m.has_little_data(side, node)).then(|| m.flows[side][node as usize])
        });
        self.pair_all(alike);
        for a in nodes[0].clone().rev() {
            self.operands(a, |m, from, to| m.label(0, from) == m.label(1, to));
        }
        self.gaps(&own, |m, side, node| m.label(side, node));
        self.gaps(&own, |m, side, node| hash(m.graphs[side].node(node).kind));
        for a in nodes[0].clone().rev() {
            self.operands(a, Matcher::fits);
        }
        self.descend(&own[0]);
    }

    /// Pairs the arguments and the terminators of two areas.
    fn ends(&mut self, areas: (u32, u32)) {
        let [a, b] = self.graphs;
        let starts = [(a, areas.0), (b, areas.1)]
            .map(|(graph, area)| graph.areas[area as usize].nodes.start);
        let args = [(a, areas.0), (b, areas.1)]
            .map(|(graph, area)| graph.f.args(graph.areas[area as usize].region).len());
        let pairs = match areas {
            (0, 0) => self.interface.params.clone(),
            _ => (0..args[0].min(args[1])).map(|at| (at, at)).collect(),
        };
        for (from, to) in pairs {
            self.m.pair(starts[0] + from as u32, starts[1] + to as u32);
        }
        if let (Some(end_a), Some(end_b)) = (a.terminator(areas.0), b.terminator(areas.1)) {
            self.m.pair(end_a, end_b);
        }
    }

    fn label(&self, side: usize, node: u32) -> u64 {
        self.labels[side][node as usize]
    }

    fn pair_all(&mut self, pairs: Vec<(u32, u32)>) {
        for (a, b) in pairs {
            self.m.pair(a, b);
        }
    }

    /// Finds the nodes without a counterpart that alone on their side have a key.
    fn unique(
        &self,
        nodes: &[Vec<u32>; 2],
        key: impl Fn(&Self, usize, u32) -> Option<u64>,
    ) -> Vec<(u32, u32)> {
        let mut by_key: FxHashMap<u64, [Vec<u32>; 2]> = FxHashMap::default();
        for (side, nodes) in nodes.iter().enumerate() {
            for &node in nodes.iter().filter(|&&node| !self.m.is_paired(side, node)) {
                if let Some(key) = key(self, side, node) {
                    by_key.entry(key).or_default()[side].push(node);
                }
            }
        }
        let pairs = by_key
            .into_values()
            .filter_map(|nodes| match [&nodes[0][..], &nodes[1][..]] {
                [&[a], &[b]] => Some((a, b)),
                _ => None,
            });
        pairs.collect()
    }

    /// Whether names mean the same on both sides: an exporter that numbers its values gives all of them other names
    /// when one is added.
    fn names_hold(&self, nodes: &[Vec<u32>; 2]) -> bool {
        let name = |m: &Self, side: usize, node: u32| m.graphs[side].node(node).name.map(hash);
        let named = self.unique(nodes, name);
        let same = named
            .iter()
            .filter(|&&(a, b)| self.label(0, a) == self.label(1, b));
        same.count() * 2 >= named.len()
    }

    /// Whether a node is a constant that is told from others by its name: two are not one because both are 1.
    fn has_little_data(&self, side: usize, node: u32) -> bool {
        /// More data than is the same by chance.
        const BYTES: u64 = 32;
        let graph = self.graphs[side];
        let is_small = |id| graph.f.constant_data(id).len() < BYTES;
        graph.constant(node).is_some_and(is_small) && graph.node(node).is_named()
    }

    /// Hashes a node's label and what flows into it, whose hashes are computed.
    fn flow(&self, side: usize, node: u32) -> u64 {
        let graph = self.graphs[side];
        let mut flow = self.label(side, node);
        for value in graph.operands(node) {
            let source = graph.place(value).map(|(def, index)| {
                let other = self.m.counterpart(side, def);
                match other {
                    NONE => (NONE, self.flows[side][def as usize], index),
                    _ => ([def, other][side], 0, index),
                }
            });
            flow = hash((flow, source));
        }
        flow
    }

    /// Pairs the operands of a paired node with those of its counterpart where they fit.
    fn operands(&mut self, a: u32, fits: impl Fn(&Self, u32, u32) -> bool) {
        if !self.m.is_paired(0, a) {
            return;
        }
        for (old, new) in self.slots(a, self.m.counterpart(0, a)) {
            if let Some((from, i)) = self.graphs[0].place(old)
                && let Some((to, j)) = self.graphs[1].place(new)
                && i == j
                && !self.m.is_paired(0, from)
                && !self.m.is_paired(1, to)
                && self.partner.get(&self.graphs[0].node(from).area)
                    == Some(&self.graphs[1].node(to).area)
                && fits(self, from, to)
            {
                self.m.pair(from, to);
            }
        }
    }

    /// The operands of two nodes, slot by slot; of the bodies' terminators result by result.
    fn slots(&self, a: u32, b: u32) -> Vec<(ValueId, ValueId)> {
        let [of_a, of_b] = self.graphs;
        if of_a.terminator(0) == Some(a) {
            let (old, new): (Vec<_>, Vec<_>) =
                (of_a.operands(a).collect(), of_b.operands(b).collect());
            let both = |&(i, j): &(usize, usize)| Some((*old.get(i)?, *new.get(j)?));
            return self.interface.results.iter().filter_map(both).collect();
        }
        of_a.operands(a).zip(of_b.operands(b)).collect()
    }

    /// Whether two nodes in the same place are one that changed: constants, or ops whose labels or whose operands,
    /// constants aside, are the same.
    fn fits(&self, a: u32, b: u32) -> bool {
        let [of_a, of_b] = self.graphs;
        match [of_a.node(a).kind, of_b.node(b).kind] {
            [CONST, CONST] => true,
            [CONST | ARG, _] | [_, CONST | ARG] => false,
            _ if self.label(0, a) == self.label(1, b) => true,
            _ => {
                let olds = of_a
                    .sources(a)
                    .map(|(def, index)| (self.m.counterpart(0, def), index));
                olds.eq(of_b.sources(b))
            }
        }
    }

    /// Pairs nodes that are in order between paired ones and have the same key. A constant with a name isn't another
    /// one because of its position.
    fn gaps(&mut self, nodes: &[Vec<u32>; 2], key: impl Fn(&Self, usize, u32) -> u64) {
        let all = [0, 1].map(|side: usize| {
            let graph = self.graphs[side];
            let is_known = |node: &u32| {
                self.m.is_paired(side, *node)
                    || graph.constant(*node).is_none()
                    || !graph.node(*node).is_named()
            };
            let known = nodes[side].iter().copied().filter(is_known);
            known.collect::<Vec<u32>>()
        });
        let keys = [0, 1].map(|side: usize| -> Vec<(u32, u64)> {
            let key = |&node: &u32| match self.m.counterpart(side, node) {
                NONE => (NONE, key(self, side, node)),
                other => ([node, other][side], 0),
            };
            all[side].iter().map(key).collect()
        });
        let pairs = common(&keys[0], &keys[1]);
        // The nodes of each kind between two paired ones.
        let mut counts: FxHashMap<(usize, u64), [usize; 2]> = FxHashMap::default();
        for (side, keys) in keys.iter().enumerate() {
            let paired = pairs
                .iter()
                .filter(|pair| self.m.is_paired(0, all[0][pair.0]));
            let mut paired = paired.map(|pair| [pair.0, pair.1][side]).peekable();
            let mut gap = 0;
            for (at, (_, key)) in keys.iter().enumerate() {
                gap += usize::from(paired.next_if_eq(&at).is_some());
                counts.entry((gap, *key)).or_default()[side] += 1;
            }
        }
        let mut gap = 0;
        for (i, j) in pairs {
            let (a, b) = (all[0][i], all[1][j]);
            if self.m.is_paired(0, a) {
                gap += 1;
                continue;
            }
            let [olds, news] = counts[&(gap, keys[0][i].1)];
            if olds == news || self.label(0, a) == self.label(1, b) || self.is_near(a, b) {
                self.m.pair(a, b);
            }
        }
    }

    /// Whether two nodes have an operand or a use in common.
    fn is_near(&self, a: u32, b: u32) -> bool {
        let [of_a, of_b] = self.graphs;
        let is_same = |(old, new): (ValueId, ValueId)| match [of_a.place(old), of_b.place(new)] {
            [Some((from, i)), Some((to, j))] => i == j && self.m.counterpart(0, from) == to,
            _ => false,
        };
        let mut values = of_a.values(a).zip(of_b.values(b));
        self.slots(a, b).into_iter().any(is_same)
            || values.any(|(old, new)| {
                of_a.users(old).any(|(user, slot)| {
                    let other = self.m.counterpart(0, user);
                    other != NONE && of_b.operands(other).nth(slot as usize) == Some(new)
                })
            })
    }

    /// Pairs the regions of paired ops: by name, the first with the first.
    fn descend(&mut self, nodes: &[u32]) {
        for &a in nodes {
            let b = self.m.counterpart(0, a);
            let of_a = self.graphs[0].areas_of(a);
            if b == NONE || of_a.is_empty() {
                continue;
            }
            let name = |side: usize, area: u32| self.graphs[side].areas[area as usize].name;
            let mut of_b: Vec<u32> = self.graphs[1].areas_of(b).collect();
            for area in of_a {
                let same = of_b
                    .iter()
                    .position(|&other| name(1, other) == name(0, area));
                if let Some(at) = same {
                    let other = of_b.remove(at);
                    self.partner.insert(area, other);
                    self.m.areas.push((area, other));
                }
            }
        }
    }
}
