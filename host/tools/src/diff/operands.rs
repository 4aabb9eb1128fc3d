//! Which operands of two ops differ, and whether another difference tells of them.

use passdock_abi::{OpId, ValueId};

use super::NONE;
use super::compare::Comparison;
use super::graph::ARG;
use super::lines::Lines;
use super::matching::common;
use super::report::{OpChange, Rewired};

impl Comparison<'_> {
    /// Compares the operands of two ops; `op` is the second one.
    pub(super) fn operands(&mut self, nodes: [u32; 2], op: OpId, changes: &mut Vec<OpChange>) {
        for (index, old, new) in self.differing(nodes) {
            let user = |lines: &mut Lines<'_>| lines.short_op(op);
            if let Some([old, new]) = self.not_rewired(old, new, index, user) {
                changes.push(OpChange::Operand { index, old, new });
            }
        }
    }

    /// The operands of two nodes.
    pub(super) fn values_of(&self, nodes: [u32; 2]) -> [Vec<ValueId>; 2] {
        [0, 1].map(|side: usize| self.graphs[side].operands(nodes[side]).collect())
    }

    /// The operands that differ: slot by slot, or, where one op has more than the other and none is
    /// left out, beside what they have in common. So an operand less isn't told of all slots behind it.
    fn differing(&self, nodes: [u32; 2]) -> Vec<(usize, ValueId, ValueId)> {
        let values = self.values_of(nodes);
        let (olds, news) = (values[0].len(), values[1].len());
        if olds == news || values.iter().flatten().any(|value| value.is_none()) {
            let at = |side: usize, slot| values[side].get(slot).copied().unwrap_or(ValueId::NONE);
            let slots = (0..olds.max(news)).map(|slot| (slot, at(0, slot), at(1, slot)));
            return slots
                .filter(|&(_, old, new)| !self.is_same(old, new))
                .collect();
        }
        // A paired node has the number of the second one, another one of the first function its own.
        let numbers = [0, 1].map(|side: usize| -> Vec<Option<(u32, u32, u32)>> {
            let number = |&value: &ValueId| {
                let (node, index) = self.graphs[side].place(value)?;
                let other = if side == 0 {
                    self.m.counterpart(0, node)
                } else {
                    node
                };
                Some((other, if other == NONE { node } else { NONE }, index))
            };
            values[side].iter().map(number).collect()
        });
        let ends = [(values[0].len(), values[1].len())];
        let common = common(&numbers[0], &numbers[1]).into_iter().chain(ends);
        let mut differing = Vec::new();
        let (mut from_a, mut from_b) = (0, 0);
        for (to_a, to_b) in common {
            let gaps = [&values[0][from_a..to_a], &values[1][from_b..to_b]];
            for at in 0..gaps[0].len().max(gaps[1].len()) {
                let [old, new] = gaps.map(|gap| gap.get(at).copied().unwrap_or(ValueId::NONE));
                if !self.is_same(old, new) {
                    let index = if new.is_some() { from_b } else { from_a } + at;
                    differing.push((index, old, new));
                }
            }
            (from_a, from_b) = (to_a + 1, to_b + 1);
        }
        differing
    }

    /// Whether two values are the same one.
    pub(super) fn is_same(&self, old: ValueId, new: ValueId) -> bool {
        match [self.graphs[0].place(old), self.graphs[1].place(new)] {
            [None, None] => true,
            [Some((from, i)), Some((to, j))] => i == j && self.m.counterpart(0, from) == to,
            _ => false,
        }
    }

    /// Tells of another operand with what came or went with it: an op or a constant. Answers the texts
    /// of both if nothing did. `user` names who has the slot.
    pub(super) fn not_rewired(
        &mut self,
        old: ValueId,
        new: ValueId,
        operand: usize,
        user: impl FnOnce(&mut Lines<'_>) -> String,
    ) -> Option<[Option<String>; 2]> {
        let texts = [self.lines[0].operand(old), self.lines[1].operand(new)];
        let lonely = |side: usize, value: ValueId| {
            let (node, _) = self.graphs[side].place(value)?;
            let is_arg = self.graphs[side].node(node).kind == ARG;
            (!self.m.is_paired(side, node) && !is_arg).then_some((side, node))
        };
        let lonely = [lonely(0, old), lonely(1, new)];
        let Some((side, node)) = lonely[1].or(lonely[0]) else {
            return Some(texts);
        };
        if let [Some((_, from)), Some((_, to))] = lonely
            && self.graphs[0].constant(from).is_none()
            && self.graphs[1].constant(to).is_some()
        {
            self.folded[0].entry(from).or_insert(to);
            self.folded[1].entry(to).or_insert(from);
        }
        let user = user(&mut self.lines[1]);
        let [old, new] = texts;
        let rewired = Rewired {
            user,
            operand,
            old,
            new,
        };
        self.rewired[side].entry(node).or_default().push(rewired);
        None
    }
}
