//! The last step of matching: of equal ops in a row any could be the one that was added or removed,
//! so a pair gives way to the neighbour that leaves fewer operands to tell of.

use super::NONE;
use super::matching::Matcher;
use passdock_abi::ValueId;

/// The most users of a value that are looked at: a few tell enough.
const USERS: usize = 16;
/// Ops with more operands aren't reconsidered.
const WIDE: usize = 256;

impl Matcher<'_, '_> {
    /// The operand that the counterpart of a user of a value has in the same slot; of the bodies' terminators in
    /// the slot of the same result.
    fn opposite(&self, side: usize, user: u32, slot: u32) -> Option<ValueId> {
        let partner = self.m.counterpart(side, user);
        let ends = self.area == (0, 0) && self.graphs[side].terminator(0) == Some(user);
        let slot = match ends {
            false => slot as usize,
            true => self.interface.opposite(side, slot as usize)?,
        };
        let op = self.graphs[1 - side].op(partner)?;
        self.graphs[1 - side].f.operand(op, slot).option()
    }

    /// Gives a node that is left the counterpart of a neighbour of its kind, where less has to be told
    /// of then.
    pub(super) fn improve(&mut self) {
        if self.is_done() && self.left.iter().all(Vec::is_empty) {
            return;
        }
        for side in 0..2 {
            let mut open = self.left[side].clone();
            while let Some(node) = open.pop() {
                if !self.m.is_paired(side, node) {
                    open.extend(self.displace(side, node));
                }
            }
        }
    }

    /// Takes the counterpart of a neighbour; answers the neighbour.
    fn displace(&mut self, side: usize, node: u32) -> Option<u32> {
        let graph = self.graphs[side];
        let defs = graph.operands(node).filter_map(|value| graph.place(value));
        let values = graph.values(node);
        let users = values.flat_map(|value| graph.users(value).take(USERS));
        for (other, _) in defs.take(USERS).chain(users) {
            let place = |node: u32| (graph.node(node).area, graph.node(node).kind);
            let partner = self.m.counterpart(side, other);
            let wide = graph.operands(other).len() > WIDE;
            if place(other) != place(node) || partner == NONE || wide {
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
        self.m.to[side][from as usize] = NONE;
        self.m.to[side][to as usize] = partner;
        self.m.to[1 - side][partner as usize] = to;
    }

    /// The cost of a pair: what it makes one tell of what it says, of its operands, and of where it is used.
    fn cost(&self, side: usize, node: u32, partner: u32) -> usize {
        let differs = self.label(side, node) != self.label(1 - side, partner);
        usize::from(differs) + self.operands_told(side, node, partner)
    }

    /// The number of operands that a pair makes one tell of: its own, and where it is used.
    fn operands_told(&self, side: usize, node: u32, partner: u32) -> usize {
        let [a, b] = in_order(side, node, partner);
        let own = self.slots(a, b).into_iter();
        let mut cost = own.filter(|&(old, new)| self.is_told(old, new)).count();
        for (side, node) in [(0, a), (1, b)] {
            for value in self.graphs[side].values(node) {
                for (user, slot) in self.graphs[side].users(value).take(USERS) {
                    if self.m.is_paired(side, user) {
                        let theirs = self.opposite(side, user, slot).unwrap_or(ValueId::NONE);
                        let [old, new] = in_order(side, value, theirs);
                        cost += usize::from(self.is_told(old, new));
                    }
                }
            }
        }
        cost
    }

    /// Whether two operands in the same slot are a difference that nothing else tells of.
    fn is_told(&self, old: ValueId, new: ValueId) -> bool {
        match [self.graphs[0].place(old), self.graphs[1].place(new)] {
            [Some((from, i)), Some((to, j))] => {
                let known = self.m.is_paired(0, from) && self.m.is_paired(1, to);
                known && (i != j || self.m.counterpart(0, from) != to)
            }
            [None, None] => false,
            [Some((from, _)), None] => self.m.is_paired(0, from),
            [None, Some((to, _))] => self.m.is_paired(1, to),
        }
    }
}

/// What is a side's and what is the other's, the first function's first.
fn in_order<T>(side: usize, own: T, other: T) -> [T; 2] {
    match side {
        0 => [own, other],
        _ => [other, own],
    }
}
