//! The steps of matching that go from what is paired to what is next to it: along operands and uses,
//! and in program order.

use std::collections::VecDeque;

use passdock_abi::ValueId;
use rustc_hash::FxHashMap;

use super::NONE;
use super::align;
use super::graph::{ARG, CONST};
use super::hash::mix;
use super::matching::Matcher;

/// What two nodes have in common if they may be the same.
type Key<'g, 'f> = fn(&Matcher<'g, 'f>, usize, u32) -> u64;

/// A user and the slot in which it uses a value.
type User = (u32, u64);

impl<'g, 'f> Matcher<'g, 'f> {
    /// Pairs operands and users of what is paired, and theirs, as far as it goes.
    pub(super) fn spread(&mut self, key: Key<'g, 'f>) {
        let mut queue: VecDeque<u32> = std::mem::take(&mut self.queue).into();
        while let Some(a) = queue.pop_front() {
            let b = self.m.to_b[a as usize];
            if b != NONE {
                self.operands(a, b, key);
                self.users(a, b, key);
            }
            queue.extend(self.queue.drain(..));
        }
    }

    /// Looks again at all that is next to something that is left.
    pub(super) fn frontier(&mut self) {
        self.queue.clear();
        if self.is_done() {
            return;
        }
        let graph = self.graphs[0];
        let mut next = Vec::new();
        for &node in &self.left[0] {
            let defs = graph.operands(node).filter_map(|value| graph.place(value));
            next.extend(defs.map(|(def, _)| def));
            for value in graph.values(node) {
                next.extend(graph.users(value).map(|(user, _)| user));
            }
        }
        next.retain(|&node| self.is_paired(0, node));
        next.sort_unstable();
        next.dedup();
        self.queue = next;
    }

    /// Whether a node is of the areas at hand and has no counterpart.
    fn is_free(&self, side: usize, node: u32) -> bool {
        let area = [self.area.0, self.area.1][side];
        self.graphs[side].node(node).area == area
            && !self.is_paired(side, node)
            && !self.is_reserved(side, node)
    }

    fn operands(&mut self, a: u32, b: u32, key: Key<'g, 'f>) {
        for (old, new) in self.slots(a, b) {
            let [Some((from, i)), Some((to, j))] =
                [self.graphs[0].place(old), self.graphs[1].place(new)]
            else {
                continue;
            };
            let free = i == j && self.is_free(0, from) && self.is_free(1, to);
            if free && key(self, 0, from) == key(self, 1, to) {
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

    fn users(&mut self, a: u32, b: u32, key: Key<'g, 'f>) {
        let [of_a, of_b] = self.graphs;
        for (old, new) in of_a.values(a).zip(of_b.values(b)) {
            let free = |m: &Self, side: usize, value: ValueId| -> Vec<User> {
                let users = m.graphs[side].users(value);
                let free = users.filter(|&(user, _)| m.is_free(side, user));
                free.map(|(user, slot)| (user, u64::from(slot))).collect()
            };
            let mut left = [free(self, 0, old), free(self, 1, new)];
            for finer in [Self::by_name, Self::by_operands, Self::by_nothing] {
                let [a, b] = &mut left;
                a.retain(|&(user, _)| self.is_free(0, user));
                b.retain(|&(user, _)| self.is_free(1, user));
                if a.is_empty() || b.is_empty() {
                    break;
                }
                let number = |m: &Self, side: usize, &(user, slot): &User| {
                    let more = finer(m, side, user)?;
                    Some(mix(mix(key(m, side, user), slot), more))
                };
                for (a, b) in self.unique_users(&left, number) {
                    // One that uses the value twice may be paired by now.
                    if self.is_free(0, a) && self.is_free(1, b) {
                        self.pair(a, b);
                    }
                }
            }
        }
    }

    fn unique_users(
        &self,
        [a, b]: &[Vec<User>; 2],
        number: impl Fn(&Self, usize, &User) -> Option<u64>,
    ) -> Vec<(u32, u32)> {
        if let ([a], [b]) = (a.as_slice(), b.as_slice()) {
            let same = number(self, 0, a).is_some() && number(self, 0, a) == number(self, 1, b);
            return if same { vec![(a.0, b.0)] } else { Vec::new() };
        }
        let mut found: FxHashMap<u64, [(u32, u32); 2]> = FxHashMap::default();
        for (side, users) in [a, b].into_iter().enumerate() {
            for user in users {
                if let Some(number) = number(self, side, user) {
                    let (count, only) = &mut found.entry(number).or_default()[side];
                    (*count, *only) = (*count + 1, user.0);
                }
            }
        }
        let pair = |user: &User| match found.get(&number(self, 0, user)?)? {
            &[(1, a), (1, b)] => Some((a, b)),
            _ => None,
        };
        a.iter().filter_map(pair).collect()
    }

    fn by_name(&self, side: usize, node: u32) -> Option<u64> {
        self.called(side, node)
    }

    /// What its paired operands are.
    fn by_operands(&self, side: usize, node: u32) -> Option<u64> {
        let graph = self.graphs[side];
        let mut hash = 0;
        for value in graph.operands(node) {
            let number = graph.place(value).map_or(Some(1), |(def, index)| {
                Some(mix(self.pair_number(side, def)?, u64::from(index)))
            });
            hash = mix(hash, number.unwrap_or(2));
        }
        Some(hash)
    }

    fn by_nothing(&self, _side: usize, _node: u32) -> Option<u64> {
        Some(0)
    }

    /// Pairs what is left between neighbours that are paired, in program order.
    pub(super) fn gaps(&mut self, key: Key<'g, 'f>) {
        if self.is_done() {
            return;
        }
        let nodes = self.graphs[0].areas[self.area.0 as usize].nodes.clone();
        let paired: Vec<u32> = nodes.filter(|&node| self.is_paired(0, node)).collect();
        let partners: Vec<u32> = paired.iter().map(|&a| self.m.to_b[a as usize]).collect();
        let kept = align::longest_increasing(&partners);
        let mut fences: Vec<(u32, u32)> = kept
            .into_iter()
            .map(|at| (paired[at], partners[at]))
            .collect();
        fences.push((u32::MAX, u32::MAX));
        let left = [0, 1].map(|side: usize| -> Vec<u32> {
            let nodes = self.left[side].iter().copied();
            nodes
                .filter(|&node| !self.is_reserved(side, node))
                .collect()
        });
        let (mut rest_a, mut rest_b) = (left[0].as_slice(), left[1].as_slice());
        let mut made: Vec<(u32, u32)> = Vec::new();
        for (end_a, end_b) in fences {
            let (gap_a, gap_b);
            (gap_a, rest_a) = rest_a.split_at(rest_a.partition_point(|&node| node < end_a));
            (gap_b, rest_b) = rest_b.split_at(rest_b.partition_point(|&node| node < end_b));
            if gap_a.is_empty() || gap_b.is_empty() {
                continue;
            }
            let keys = |side: usize, gap: &[u32]| -> Vec<u64> {
                gap.iter().map(|&node| key(self, side, node)).collect()
            };
            let common = align::common(&keys(0, gap_a), &keys(1, gap_b));
            made.extend(common.into_iter().map(|(i, j)| (gap_a[i], gap_b[j])));
        }
        for &(a, b) in &made {
            self.pair(a, b);
        }
        self.part_unsupported(&made);
    }

    /// Pairs ops that do something else in the same place: what flows in is the same, constants
    /// aside, and so is the name or where the results go.
    pub(super) fn other_kinds(&mut self) {
        for by_name in [true, false] {
            if self.is_done() {
                return;
            }
            let mut found: FxHashMap<u64, [(u32, u32); 2]> = FxHashMap::default();
            let mut keys = Vec::new();
            for side in 0..2 {
                for &node in &self.left[side] {
                    let Some(key) = self.place_key(side, node, by_name) else {
                        continue;
                    };
                    let (count, only) = &mut found.entry(key).or_default()[side];
                    (*count, *only) = (*count + 1, node);
                    if side == 0 {
                        keys.push(key);
                    }
                }
            }
            for key in keys {
                if let [(1, a), (1, b)] = found[&key] {
                    self.pair(a, b);
                }
            }
        }
    }

    fn place_key(&self, side: usize, node: u32, by_name: bool) -> Option<u64> {
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
        if by_name {
            return (record.name != NONE).then(|| mix(hash, record.name.into()));
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

    /// Pairs constants that are left by content, the first with the first.
    pub(super) fn same_constants(&mut self) {
        if self.is_done() {
            return;
        }
        let labels = |side: usize| -> Vec<(u32, u64)> {
            let nodes = self.left[side].iter().copied();
            let telling = nodes.filter(|&node| {
                self.graphs[side].node(node).kind == CONST && self.says_much(side, node)
            });
            telling.map(|node| (node, self.label(side, node))).collect()
        };
        let mut by_label: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        for (node, label) in labels(1).into_iter().rev() {
            by_label.entry(label).or_default().push(node);
        }
        for (a, label) in labels(0) {
            if let Some(b) = by_label.get_mut(&label).and_then(Vec::pop) {
                self.pair(a, b);
            }
        }
    }

    /// Pairs constants that are left where paired ops use them, also in regions.
    pub(super) fn constants_of_users(&mut self) {
        let [of_a, of_b] = self.graphs;
        let mut partner: FxHashMap<u32, u32> = FxHashMap::default();
        partner.extend(self.m.areas.iter().copied());
        let mut lonely = false;
        for node in 0..of_a.nodes.len() as u32 {
            lonely |= of_a.node(node).kind == CONST && !self.is_paired(0, node);
        }
        if !lonely {
            return;
        }
        for a in 0..of_a.nodes.len() as u32 {
            let b = self.m.to_b[a as usize];
            if b == NONE || of_a.node(a).kind == CONST || of_a.node(a).kind == ARG {
                continue;
            }
            let slots: Vec<_> = of_a.operands(a).zip(of_b.operands(b)).collect();
            for (old, new) in slots {
                let [Some((from, _)), Some((to, _))] = [of_a.place(old), of_b.place(new)] else {
                    continue;
                };
                let constants = of_a.node(from).kind == CONST && of_b.node(to).kind == CONST;
                let free = !self.is_paired(0, from) && !self.is_paired(1, to);
                let areas = [of_a.node(from).area, of_b.node(to).area];
                if constants && free && partner.get(&areas[0]) == Some(&areas[1]) {
                    self.pair(from, to);
                }
            }
        }
    }
}
