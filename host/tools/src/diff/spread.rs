//! The steps of matching that go from what is paired to what is next to it: along operands and uses,
//! and in program order.

use std::collections::VecDeque;

use passdock_abi::ValueId;
use rustc_hash::FxHashMap;

use super::NONE;
use super::align;
use super::graph::CONST;
use super::hash::mix;
use super::matching::{Matcher, Only};

impl Matcher<'_, '_> {
    /// Pairs operands and users of what is paired that say the same, and theirs, as far as it goes.
    pub(super) fn spread(&mut self) {
        let mut queue: VecDeque<u32> = std::mem::take(&mut self.queue).into();
        while let Some(a) = queue.pop_front() {
            let b = self.m.counterpart(0, a);
            self.operands(a, b);
            self.users(a, b);
            queue.extend(self.queue.drain(..));
        }
    }

    /// Whether a node is of the areas at hand and has no counterpart.
    fn is_free(&self, side: usize, node: u32) -> bool {
        let area = [self.area.0, self.area.1][side];
        self.graphs[side].node(node).area == area && !self.m.is_paired(side, node)
    }

    fn operands(&mut self, a: u32, b: u32) {
        for (old, new) in self.slots(a, b) {
            if let Some((from, i)) = self.graphs[0].place(old)
                && let Some((to, j)) = self.graphs[1].place(new)
                && i == j
                && self.is_free(0, from)
                && self.is_free(1, to)
                && self.label(0, from) == self.label(1, to)
            {
                self.pair(from, to);
            }
        }
    }

    /// The operands of two nodes, slot by slot; of the bodies' terminators result by result.
    pub(super) fn slots(&self, a: u32, b: u32) -> Vec<(ValueId, ValueId)> {
        let [of_a, of_b] = self.graphs;
        if self.area == (0, 0) && of_a.terminator(0) == Some(a) {
            let (old, new): (Vec<_>, Vec<_>) =
                (of_a.operands(a).collect(), of_b.operands(b).collect());
            let both = |&(i, j): &(usize, usize)| Some((*old.get(i)?, *new.get(j)?));
            return self.interface.results.iter().filter_map(both).collect();
        }
        of_a.operands(a).zip(of_b.operands(b)).collect()
    }

    /// Pairs users of two nodes where on either side only one says what it does in its slot.
    fn users(&mut self, a: u32, b: u32) {
        let [of_a, of_b] = self.graphs;
        for (old, new) in of_a.values(a).zip(of_b.values(b)) {
            let mut found: FxHashMap<u64, [Only; 2]> = FxHashMap::default();
            let mut order = Vec::new();
            for (side, value) in [old, new].into_iter().enumerate() {
                for (user, slot) in self.graphs[side].users(value) {
                    if self.is_free(side, user) {
                        let key = mix(self.label(side, user), slot.into());
                        found.entry(key).or_default()[side].add(user);
                        order.extend((side == 0).then_some(key));
                    }
                }
            }
            for key in order {
                if let [Only::One(a), Only::One(b)] = found[&key]
                    // One that uses the value twice may be paired by now.
                    && self.is_free(0, a)
                    && self.is_free(1, b)
                {
                    self.pair(a, b);
                }
            }
        }
    }

    /// Pairs what is left between neighbours that are paired, kind by kind in program order. A
    /// constant with a name isn't another one because it stands in its place.
    pub(super) fn gaps(&mut self) {
        if self.is_done() {
            return;
        }
        let nodes = self.graphs[0].areas[self.area.0 as usize].nodes.clone();
        let paired = nodes.map(|a| (a, self.m.counterpart(0, a)));
        let paired: Vec<(u32, u32)> = paired.filter(|&(_, b)| b != NONE).collect();
        let left = [0, 1].map(|side: usize| -> Vec<u32> {
            let is_const = |node: u32| self.graphs[side].constant(node).is_some();
            let nodes = self.left[side].iter().copied();
            nodes
                .filter(|&node| !is_const(node) || self.called(side, node).is_none())
                .collect()
        });
        let kind = |side: usize, node: u32| self.graphs[side].node(node).kind.into();
        self.pair_all(align::between(&paired, [&left[0], &left[1]], kind));
    }

    /// Pairs ops that do something else in the same place: what flows in is the same, constants
    /// aside, and so is where the results go.
    pub(super) fn other_kinds(&mut self) {
        self.unique(Self::place_key);
    }

    fn place_key(&self, side: usize, node: u32) -> Option<u64> {
        let graph = self.graphs[side];
        let record = graph.node(node);
        if record.kind == CONST {
            return None;
        }
        let mut hash = 0;
        for value in graph.operands(node) {
            let number = match graph.place(value) {
                Some((def, _)) if graph.node(def).kind == CONST => continue,
                Some((def, index)) => mix(self.pair_number(side, def)?, u64::from(index)),
                None => 1,
            };
            hash = mix(hash, number);
        }
        // Users in regions aren't paired yet.
        let mut sum = 1_u64;
        for (index, value) in graph.values(node).enumerate() {
            for (user, slot) in graph.users(value) {
                if graph.node(user).area == record.area {
                    let number = mix(self.pair_number(side, user)?, u64::from(slot));
                    sum = sum.wrapping_add(mix(number, index as u64));
                }
            }
        }
        Some(mix(hash, sum))
    }

    /// Pairs constants that are left where paired ops use them, also in regions.
    pub(super) fn constants_of_users(&mut self) {
        let [of_a, of_b] = self.graphs;
        let partner: FxHashMap<u32, u32> = self.m.areas.iter().copied().collect();
        for a in 0..of_a.nodes.len() as u32 {
            let b = self.m.counterpart(0, a);
            if b == NONE {
                continue;
            }
            for (old, new) in of_a.operands(a).zip(of_b.operands(b)) {
                if let Some((from, _)) = of_a.place(old)
                    && let Some((to, _)) = of_b.place(new)
                    && [of_a.node(from).kind, of_b.node(to).kind] == [CONST; 2]
                    && !self.m.is_paired(0, from)
                    && !self.m.is_paired(1, to)
                    && partner.get(&of_a.node(from).area) == Some(&of_b.node(to).area)
                {
                    self.pair(from, to);
                }
            }
        }
    }
}
