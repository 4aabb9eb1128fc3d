//! Which node of one function is which of the other.
//!
//! Region by region, from the body inwards; the regions of two ops that are the same op are paired
//! by name. In a pair of regions the nodes are paired in steps, surest first:
//!
//! 1. from both ends what is computed alike from the parameters, or used alike down to the results,
//!    under the same name (two hashes that run through the whole function, from above and below);
//! 2. what has the same name and kind, unless names were dealt out anew (`names_lie`);
//! 3. what is computed alike, whatever its name;
//! 4. what says the same and is an operand, or a user, of what is paired;
//! 5. the longest common subsequence of kinds in what is left between paired neighbours;
//! 6. ops of another kind in the same place: same operands and same users;
//! 7. of equal neighbours, the one that leaves less to tell (`improve.rs`).
//!
//! By a hash or a name a node is paired only where exactly one is left on either side that fits, so
//! the order in which nodes are looked at doesn't matter there; nothing depends on the order of a hash
//! table. Each step looks at each node and at each use
//! once, but for 5, whose work is bounded (`align.rs`): all told the time grows with the size of
//! the functions. Pairs are only ever a proposal of how to tell the difference: what is reported is
//! what really differs between them, so a bad pair makes a longer report, never a wrong one.

use rustc_hash::FxHashMap;

use super::NONE;
use super::graph::{ARG, Graph};
use super::hash::{self, Context, Hashes, mix};
use super::interface::Interface;

/// The pairs of nodes and of areas.
pub(super) struct Matching {
    /// The counterpart in the other function of each node of either, or NONE.
    pub(super) to: [Vec<u32>; 2],
    /// Areas that are the same, outer ones first.
    pub(super) areas: Vec<(u32, u32)>,
}

impl Matching {
    pub(super) fn counterpart(&self, side: usize, node: u32) -> u32 {
        self.to[side][node as usize]
    }

    pub(super) fn is_paired(&self, side: usize, node: u32) -> bool {
        self.counterpart(side, node) != NONE
    }
}

/// Pairs the nodes of two functions.
pub(super) fn matching(
    graphs: [&Graph<'_>; 2],
    interface: &Interface,
    cx: &mut Context<'_, '_>,
) -> Matching {
    let mut matcher = Matcher {
        graphs,
        interface,
        hashes: graphs.map(|graph| hash::hashes(graph, &interface.anchors(graph), cx)),
        m: Matching {
            to: graphs.map(|graph| vec![NONE; graph.nodes.len()]),
            areas: vec![(0, 0)],
        },
        area: (0, 0),
        left: [Vec::new(), Vec::new()],
        queue: Vec::new(),
    };
    let mut at = 0;
    while let Some(&area) = matcher.m.areas.get(at) {
        matcher.enter(area);
        matcher.steps();
        matcher.descend();
        at += 1;
    }
    matcher.constants_of_users();
    matcher.m
}

/// Pairs nodes, one pair of areas at a time.
pub(super) struct Matcher<'g, 'f> {
    pub(super) graphs: [&'g Graph<'f>; 2],
    pub(super) interface: &'g Interface,
    pub(super) hashes: [Hashes; 2],
    pub(super) m: Matching,
    /// The areas at hand.
    pub(super) area: (u32, u32),
    /// Their nodes without a counterpart, in program order, but for arguments and terminators.
    pub(super) left: [Vec<u32>; 2],
    /// Nodes of the first function whose neighbours haven't been looked at since they were paired.
    pub(super) queue: Vec<u32>,
}

impl Matcher<'_, '_> {
    pub(super) fn pair(&mut self, a: u32, b: u32) {
        self.m.to[0][a as usize] = b;
        self.m.to[1][b as usize] = a;
        self.queue.push(a);
    }

    /// The number of a pair, the same on both sides.
    pub(super) fn pair_number(&self, side: usize, node: u32) -> Option<u64> {
        let other = self.m.counterpart(side, node);
        (other != NONE).then(|| mix(77, u64::from([node, other][side])))
    }

    /// Whether nothing is left to pair; what is paired by now is forgotten.
    pub(super) fn is_done(&mut self) -> bool {
        for (left, to) in self.left.iter_mut().zip(&self.m.to) {
            left.retain(|&node| to[node as usize] == NONE);
        }
        self.left.iter().any(Vec::is_empty)
    }

    /// Starts with a pair of areas: pairs their arguments, and what ends them.
    fn enter(&mut self, area: (u32, u32)) {
        self.area = area;
        self.queue.clear();
        let [a, b] = self.graphs;
        let areas = [&a.areas[area.0 as usize], &b.areas[area.1 as usize]];
        let starts = areas.map(|area| area.nodes.start);
        if area == (0, 0) {
            for &(from, to) in &self.interface.params {
                self.pair(starts[0] + from as u32, starts[1] + to as u32);
            }
        } else {
            let args = a.f.args(areas[0].region).zip(b.f.args(areas[1].region));
            for at in 0..args.count() as u32 {
                self.pair(starts[0] + at, starts[1] + at);
            }
        }
        let ends = [a.terminator(area.0), b.terminator(area.1)];
        if let [Some(end_a), Some(end_b)] = ends {
            self.pair(end_a, end_b);
        }
        self.left = [0, 1].map(|side| {
            let graph = self.graphs[side];
            let is_own = |node: &u32| graph.node(*node).kind != ARG && Some(*node) != ends[side];
            areas[side].nodes.clone().filter(is_own).collect()
        });
    }

    /// Steps 1 to 7.
    fn steps(&mut self) {
        self.ends();
        if !self.is_done() && !self.names_lie() {
            self.unique(|m, side, node| {
                let record = m.graphs[side].node(node);
                (record.name != NONE).then(|| mix(record.name.into(), record.kind.into()))
            });
        }
        self.unique(|m, side, node| m.says_much(side, node).then(|| m.hashes[side].up(node)));
        self.spread();
        self.gaps();
        self.other_kinds();
        self.improve();
    }

    /// The label of a node: what it says for itself.
    pub(super) fn label(&self, side: usize, node: u32) -> u64 {
        self.hashes[side].label[node as usize]
    }

    /// Whether a node can be told by what it says: two constants under different names aren't one
    /// because both are 1.
    fn says_much(&self, side: usize, node: u32) -> bool {
        /// More data than is the same by chance.
        const BYTES: u64 = 32;
        let graph = self.graphs[side];
        let is_small = |id| graph.f.constant_data(id).len() < BYTES;
        !graph.constant(node).is_some_and(is_small) || self.called(side, node).is_none()
    }

    /// The name of a node: a value's, or else its ONNX node's.
    pub(super) fn called(&self, side: usize, node: u32) -> Option<u64> {
        let record = self.graphs[side].node(node);
        match (record.name, record.loc) {
            (NONE, NONE) => None,
            (NONE, loc) => Some(mix(2, loc.into())),
            (name, _) => Some(mix(1, name.into())),
        }
    }

    /// Pairs from both ends as long as all is the same: most of a function, most of the time.
    fn ends(&mut self) {
        let same = |a: &u32, b: &u32, hash: fn(&Hashes, u32) -> u64| {
            let nodes = [self.graphs[0].node(*a), self.graphs[1].node(*b)];
            let said = nodes.map(|node| (node.name, node.loc));
            hash(&self.hashes[0], *a) == hash(&self.hashes[1], *b) && said[0] == said[1]
        };
        let [a, b] = &self.left;
        let above = a.iter().zip(b);
        let above: Vec<_> = above.take_while(|(a, b)| same(a, b, Hashes::up)).collect();
        let below = a[above.len()..].iter().rev();
        let below = below.zip(b[above.len()..].iter().rev());
        let below = below.take_while(|(a, b)| same(a, b, Hashes::down));
        let pairs: Vec<_> = above
            .into_iter()
            .chain(below)
            .map(|(a, b)| (*a, *b))
            .collect();
        self.pair_all(pairs);
    }

    pub(super) fn pair_all(&mut self, pairs: Vec<(u32, u32)>) {
        pairs.into_iter().for_each(|(a, b)| self.pair(a, b));
    }

    /// Pairs what alone on its side has a key.
    pub(super) fn unique(&mut self, key: impl Fn(&Self, usize, u32) -> Option<u64>) {
        if self.is_done() {
            return;
        }
        self.pair_all(self.unique_pairs(key));
    }

    fn unique_pairs(&self, key: impl Fn(&Self, usize, u32) -> Option<u64>) -> Vec<(u32, u32)> {
        let mut found: FxHashMap<u64, [Only; 2]> = FxHashMap::default();
        // What isn't on this side can't be paired.
        for &node in &self.left[0] {
            if let Some(key) = key(self, 0, node) {
                found.entry(key).or_default()[0].add(node);
            }
        }
        for &node in &self.left[1] {
            let known = key(self, 1, node).and_then(|key| found.get_mut(&key));
            if let Some(known) = known {
                known[1].add(node);
            }
        }
        let pair = |&node: &u32| match found.get(&key(self, 0, node)?)? {
            &[Only::One(a), Only::One(b)] => Some((a, b)),
            _ => None,
        };
        self.left[0].iter().filter_map(pair).collect()
    }

    /// Whether names were dealt out anew, as an exporter that numbers its values does when one is
    /// added: nodes of the same name say something else more often than the same, while what one
    /// says is found at the same place under another name.
    fn names_lie(&self) -> bool {
        let by_name = self.unique_pairs(|m, side, node| m.called(side, node));
        let named: FxHashMap<u32, u32> = by_name.into_iter().collect();
        let says_else = |(a, b): &(u32, u32)| {
            let other = named.get(a);
            other.is_some_and(|&other| other != *b && self.label(0, *a) != self.label(1, other))
        };
        let up = self.unique_pairs(|m, side, node| Some(m.hashes[side].up(node)));
        let down = self.unique_pairs(|m, side, node| Some(m.hashes[side].down(node)));
        let wrong = |pairs: &[(u32, u32)]| pairs.iter().filter(|pair| says_else(pair)).count();
        let right = named
            .iter()
            .filter(|&(&a, &b)| self.label(0, a) == self.label(1, b));
        wrong(&up).max(wrong(&down)) > right.count()
    }

    /// Pairs the regions of paired ops: by name, the first with the first.
    fn descend(&mut self) {
        let nodes = self.graphs[0].areas[self.area.0 as usize].nodes.clone();
        for a in nodes {
            let b = self.m.counterpart(0, a);
            let of_a = self.graphs[0].areas_of(a);
            if b == NONE || of_a.is_empty() {
                continue;
            }
            let name = |side: usize, area: u32| self.graphs[side].areas[area as usize].name;
            let mut by_name: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
            for area in self.graphs[1].areas_of(b).rev() {
                by_name.entry(name(1, area)).or_default().push(area);
            }
            for area in of_a {
                let same = by_name.get_mut(&name(0, area)).and_then(Vec::pop);
                self.m.areas.extend(same.map(|other| (area, other)));
            }
        }
    }
}

/// The nodes that have a key.
#[derive(Clone, Copy, Default)]
pub(super) enum Only {
    #[default]
    None,
    One(u32),
    Many,
}

impl Only {
    pub(super) fn add(&mut self, node: u32) {
        *self = match self {
            Only::None => Only::One(node),
            _ => Only::Many,
        };
    }
}
