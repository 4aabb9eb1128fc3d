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
        flows: graphs.map(|graph| vec![0; graph.nodes.len()]),
    };
    let mut at = 0;
    while let Some(&areas) = matcher.m.areas.get(at) {
        matcher.area(areas.into());
        at += 1;
    }
    matcher.m
}

struct Matcher<'g, 'f> {
    graphs: [&'g Graph<'f>; 2],
    interface: &'g Interface,
    labels: [Vec<u64>; 2],
    m: Matching,
    /// The hashes of all that flows into the nodes.
    flows: [Vec<u64>; 2],
}

impl Matcher<'_, '_> {
    /// Pairs the nodes of two areas.
    fn area(&mut self, areas: [u32; 2]) {
        self.ends(areas);
        let own = [0, 1].map(|side: usize| -> Vec<u32> {
            let graph = self.graphs[side];
            let nodes = graph.areas[areas[side] as usize].nodes.clone();
            nodes.filter(|&node| graph.node(node).kind != ARG).collect()
        });
        let named = self.unique(&own, |m, side, node| {
            let node = m.graphs[side].node(node);
            Some(hash((node.name?, node.kind)))
        });
        // An exporter that numbers its values gives all of them other names when one is added.
        let same = named
            .iter()
            .filter(|&&(a, b)| self.label(0, a) == self.label(1, b));
        let names_hold = !named.is_empty() && same.count() * 2 >= named.len();
        if names_hold {
            self.pair_all(named);
        }
        for (side, own) in own.iter().enumerate() {
            for &node in own {
                self.flows[side][node as usize] = self.flow(side, node, self.label(side, node));
            }
        }
        let alike = self.unique(&own, |m, side, node| {
            (!m.has_little_data(side, node)).then(|| m.flows[side][node as usize])
        });
        self.pair_all(alike);
        self.in_order(&own, names_hold, |m, side, node| m.label(side, node));
        self.in_order(&own, names_hold, |m, side, node| {
            hash(m.graphs[side].node(node).kind)
        });
        // An op of another kind with the same operands.
        self.in_order(&own, names_hold, |m, side, node| {
            m.flow(
                side,
                node,
                u64::from(m.graphs[side].node(node).kind == CONST),
            )
        });
        self.descend(&own[0]);
    }

    /// Pairs the arguments and the terminators of two areas.
    fn ends(&mut self, areas: [u32; 2]) {
        let [a, b] = [0, 1].map(|side: usize| &self.graphs[side].areas[areas[side] as usize]);
        let pairs = match areas {
            [0, 0] => self.interface.params.clone(),
            _ => {
                let args = [(0, a), (1, b)]
                    .map(|(side, area)| self.graphs[side].f.args(area.region).len());
                (0..args[0].min(args[1])).map(|at| (at, at)).collect()
            }
        };
        for (from, to) in pairs {
            self.m
                .pair(a.nodes.start + from as u32, b.nodes.start + to as u32);
        }
        let ends = [0, 1].map(|side: usize| self.graphs[side].terminator(areas[side]));
        if let [Some(a), Some(b)] = ends {
            self.m.pair(a, b);
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

    /// Whether a node is a constant that is told from others by its name: two are not one because both are 1.
    fn has_little_data(&self, side: usize, node: u32) -> bool {
        /// More data than is the same by chance.
        const BYTES: u64 = 32;
        let graph = self.graphs[side];
        let is_small = |id| graph.f.constant_data(id).len() < BYTES;
        graph.constant(node).is_some_and(is_small) && graph.node(node).is_named()
    }

    /// Hashes a label and what flows into a node, whose hashes are computed.
    fn flow(&self, side: usize, node: u32, label: u64) -> u64 {
        let graph = self.graphs[side];
        let mut flow = label;
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

    /// Pairs nodes that are in order between paired ones and have the same key. A constant with a name isn't paired by
    /// its position, if names hold.
    fn in_order(
        &mut self,
        nodes: &[Vec<u32>; 2],
        names_hold: bool,
        key: impl Fn(&Self, usize, u32) -> u64,
    ) {
        let keys = [0, 1].map(|side: usize| -> Vec<(u32, u32, u64)> {
            let graph = self.graphs[side];
            let has_position = |node: u32| {
                !names_hold || graph.constant(node).is_none() || !graph.node(node).is_named()
            };
            let key = |&node: &u32| match self.m.counterpart(side, node) {
                NONE => has_position(node).then(|| (node, NONE, key(self, side, node))),
                other => Some((node, [node, other][side], 0)),
            };
            nodes[side].iter().filter_map(key).collect()
        });
        let same = [0, 1].map(|side: usize| {
            keys[side]
                .iter()
                .map(|key| (key.1, key.2))
                .collect::<Vec<_>>()
        });
        for (i, j) in common(&same[0], &same[1]) {
            self.m.pair(keys[0][i].0, keys[1][j].0);
        }
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
                    self.m.areas.push((area, other));
                }
            }
        }
    }
}
