//! Second thoughts: pairs that have nothing in common are taken apart, and pairs that make a report
//! longer than their neighbours would are changed.

use passdock_abi::ValueId;
use rustc_hash::FxHashMap;

use super::NONE;
use super::graph::ARG;
use super::matching::Matcher;

/// Of a value with many users a few tell enough.
const USERS: usize = 16;
/// Ops with more operands aren't reconsidered.
const WIDE: usize = 256;

impl Matcher<'_, '_> {
    /// Takes pairs apart that have nothing else in common: they aren't the same op. What only they
    /// supported goes with them.
    pub(super) fn part_unsupported(&mut self, made: &[(u32, u32)]) {
        let graph = self.graphs[0];
        let made: FxHashMap<u32, u32> = made.iter().copied().collect();
        let mut doubted: Vec<u32> = made.keys().copied().collect();
        doubted.sort_unstable();
        while let Some(a) = doubted.pop() {
            let Some(&b) = made.get(&a).filter(|_| self.is_paired(0, a)) else {
                continue;
            };
            if self.is_supported(a, b) {
                continue;
            }
            self.m.to_b[a as usize] = NONE;
            self.m.to_a[b as usize] = NONE;
            let defs = graph.operands(a).filter_map(|value| graph.place(value));
            doubted.extend(defs.map(|(def, _)| def));
            for value in graph.values(a) {
                doubted.extend(graph.users(value).map(|(user, _)| user));
            }
        }
    }

    /// Whether two paired nodes share more than what they say: a name, an operand, a user.
    fn is_supported(&self, a: u32, b: u32) -> bool {
        if self.called(0, a).is_some() && self.called(0, a) == self.called(1, b) {
            return true;
        }
        let (from, to) = (self.share_operands(a, b), self.share_users(a, b));
        from.or(to).is_none() || from == Some(true) || to == Some(true)
    }

    /// Whether two paired nodes have an operand in common; `None`: they have no operands. A small
    /// constant is nobody's own, so it doesn't count.
    fn share_operands(&self, a: u32, b: u32) -> Option<bool> {
        let [of_a, of_b] = self.graphs;
        let mut none = true;
        for (old, new) in self.slots(a, b) {
            if let [Some((from, i)), Some((to, j))] = [of_a.place(old), of_b.place(new)]
                && (of_a.constant(from).is_none() || self.is_telling(0, from))
            {
                none = false;
                if i == j && self.m.to_b[from as usize] == to {
                    return Some(true);
                }
            }
        }
        (!none).then_some(false)
    }

    /// Whether two paired nodes have a user in common; `None`: they have no users, or none that can
    /// be told by now.
    fn share_users(&self, a: u32, b: u32) -> Option<bool> {
        let [of_a, of_b] = self.graphs;
        let mut none = true;
        for (old, new) in of_a.values(a).zip(of_b.values(b)) {
            for (user, slot) in of_a.users(old).take(USERS) {
                let partner = self.m.to_b[user as usize];
                if of_a.node(user).area != of_a.node(a).area {
                    continue;
                }
                none = false;
                if partner != NONE && self.opposite(0, user, slot) == Some(new) {
                    return Some(true);
                }
            }
        }
        (!none).then_some(false)
    }

    /// What the counterpart of a user of a value has in the same slot; of the bodies' terminators in
    /// the slot of the same result.
    fn opposite(&self, side: usize, user: u32, slot: u32) -> Option<ValueId> {
        let partner = self.counterpart(side, user);
        let ends = self.area == (0, 0) && self.graphs[side].terminator(0) == Some(user);
        let slot = match ends {
            false => slot as usize,
            true => self.interface.opposite(side, slot as usize)?,
        };
        let op = self.graphs[1 - side].op(partner)?;
        self.graphs[1 - side].f.operand(op, slot).option()
    }

    /// Takes ops apart that were paired under different names, where telling that one went and another
    /// came is shorter than telling of all the operands that became others.
    pub(super) fn part_renamed(&mut self) {
        let nodes = self.graphs[0].areas[self.area.0 as usize].nodes.clone();
        for a in nodes {
            let b = self.m.to_b[a as usize];
            if b == NONE || self.graphs[0].node(a).kind == ARG {
                continue;
            }
            let names = [self.called(0, a), self.called(1, b)];
            let [Some(old), Some(new)] = names else {
                continue;
            };
            if old == new {
                continue;
            }
            let strange =
                self.share_operands(a, b) == Some(false) || self.share_users(a, b) == Some(false);
            let told = self.operands_told(0, a, b);
            if told > 1 || told == 1 && strange {
                self.m.to_b[a as usize] = NONE;
                self.m.to_a[b as usize] = NONE;
            }
        }
    }

    /// Gives a node that is left the counterpart of a neighbour of its kind, where less has to be told
    /// of then. Of equal ops in a row any could be the one that was added or
    /// removed; where they have other operands too, one of them is the right one.
    pub(super) fn improve(&mut self) {
        if self.is_done() && self.left.iter().all(Vec::is_empty) {
            return;
        }
        for side in 0..2 {
            let mut open = self.left[side].clone();
            while let Some(node) = open.pop() {
                if !self.is_paired(side, node) {
                    open.extend(self.displace(side, node));
                }
            }
        }
    }

    /// Takes the counterpart of a neighbour; answers the neighbour.
    fn displace(&mut self, side: usize, node: u32) -> Option<u32> {
        let graph = self.graphs[side];
        let defs = graph.operands(node).filter_map(|value| graph.place(value));
        let mut near: Vec<u32> = defs.take(USERS).map(|(def, _)| def).collect();
        for value in graph.values(node) {
            near.extend(graph.users(value).take(USERS).map(|(user, _)| user));
        }
        for other in near {
            let same_area = graph.node(other).area == graph.node(node).area;
            let same_kind = graph.node(other).kind == graph.node(node).kind;
            let partner = self.counterpart(side, other);
            let wide = graph.operands(other).len() > WIDE;
            if !same_area || !same_kind || partner == NONE || wide {
                continue;
            }
            let name = self.called(1 - side, partner);
            if name.is_some() && name == self.called(side, other) {
                continue;
            }
            let before = self.cost(side, other, partner);
            self.exchange(side, other, node, partner);
            if self.cost(side, node, partner) < before {
                return Some(other);
            }
            self.exchange(side, node, other, partner);
        }
        None
    }

    /// Gives the counterpart of `from` to `to`.
    fn exchange(&mut self, side: usize, from: u32, to: u32, partner: u32) {
        let maps = [&mut self.m.to_b, &mut self.m.to_a];
        let [own, other] = if side == 0 {
            maps
        } else {
            let [to_b, to_a] = maps;
            [to_a, to_b]
        };
        own[from as usize] = NONE;
        own[to as usize] = partner;
        other[partner as usize] = to;
    }

    /// How much a pair makes one tell of: what it says, its operands, and where it is used.
    fn cost(&self, side: usize, node: u32, partner: u32) -> usize {
        let differs = self.label(side, node) != self.label(1 - side, partner);
        usize::from(differs) + self.operands_told(side, node, partner)
    }

    /// How many operands a pair makes one tell of: its own, and where it is used.
    fn operands_told(&self, side: usize, node: u32, partner: u32) -> usize {
        let (a, b) = if side == 0 {
            (node, partner)
        } else {
            (partner, node)
        };
        let own = self.slots(a, b).into_iter();
        let mut cost = own.filter(|&(old, new)| self.is_told(old, new)).count();
        for (side, node) in [(0, a), (1, b)] {
            for value in self.graphs[side].values(node) {
                for (user, slot) in self.graphs[side].users(value).take(USERS) {
                    if !self.is_paired(side, user) {
                        continue;
                    }
                    let theirs = self.opposite(side, user, slot).unwrap_or(ValueId::NONE);
                    let pair = if side == 0 {
                        (value, theirs)
                    } else {
                        (theirs, value)
                    };
                    cost += usize::from(self.is_told(pair.0, pair.1));
                }
            }
        }
        cost
    }

    /// Whether two operands in the same slot are a difference that nothing else tells of.
    fn is_told(&self, old: ValueId, new: ValueId) -> bool {
        match [self.graphs[0].place(old), self.graphs[1].place(new)] {
            [Some((from, i)), Some((to, j))] => {
                let partner = self.m.to_b[from as usize];
                let known = partner != NONE && self.is_paired(1, to);
                known && (i != j || partner != to)
            }
            [None, None] => false,
            [Some((from, _)), None] => self.is_paired(0, from),
            [None, Some((to, _))] => self.is_paired(1, to),
        }
    }
}
