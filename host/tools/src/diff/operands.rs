//! Which operands of two ops differ, and whether another difference tells of them.

use passdock_abi::{OpId, ValueId};

use super::compare::Comparison;
use super::graph::What;
use super::hash::mix;
use super::report::{OpChange, Rewired};
use super::{NONE, align};

impl Comparison<'_, '_, '_> {
    /// Compares the operands of two ops.
    pub(super) fn operands(
        &mut self,
        nodes: [u32; 2],
        ops: [OpId; 2],
        changes: &mut Vec<OpChange>,
    ) {
        for (index, old, new) in self.differing(nodes) {
            let texts = [self.lines[0].operand(old), self.lines[1].operand(new)];
            let user = || None;
            if !self.rewire(old, new, index, ops[1], user, &texts) {
                let [old, new] = texts;
                changes.push(OpChange::Operand { index, old, new });
            }
        }
    }

    /// The operands that differ: slot by slot, or, where one op has more than the other and none is
    /// left out, beside what they have in common. So an operand less isn't told of all slots behind it.
    fn differing(&self, nodes: [u32; 2]) -> Vec<(usize, ValueId, ValueId)> {
        let [a, b] = &self.graphs;
        let values: [Vec<ValueId>; 2] = [
            a.operands(nodes[0]).collect(),
            b.operands(nodes[1]).collect(),
        ];
        let (olds, news) = (values[0].len(), values[1].len());
        if olds == news || values.iter().flatten().any(|value| value.is_none()) {
            let at = |side: usize, slot| values[side].get(slot).copied().unwrap_or(ValueId::NONE);
            let slots = (0..olds.max(news)).map(|slot| (slot, at(0, slot), at(1, slot)));
            return slots
                .filter(|&(_, old, new)| !self.is_same(old, new))
                .collect();
        }
        let numbers = [0, 1].map(|side: usize| -> Vec<u64> {
            let number = |&value: &ValueId| {
                let Some((node, index)) = self.graphs[side].place(value) else {
                    return 0;
                };
                let (node, own) = match side {
                    0 if self.m.to_b[node as usize] != NONE => (node, 1),
                    1 if self.m.to_a[node as usize] != NONE => (self.m.to_a[node as usize], 1),
                    _ => (node, 2 + side as u64),
                };
                mix(mix(node.into(), own), index.into())
            };
            values[side].iter().map(number).collect()
        });
        let common = align::common(&numbers[0], &numbers[1]);
        let places: Vec<u32> = common.iter().map(|pair| pair.1 as u32).collect();
        let kept = align::longest_increasing(&places);
        let ends = [(values[0].len(), values[1].len())];
        let common = kept.into_iter().map(|at| common[at]).chain(ends);
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
            [Some((from, i)), Some((to, j))] => i == j && self.m.to_b[from as usize] == to,
            _ => false,
        }
    }

    /// Tells of another operand with what came or went with it: an op or a constant. `false`: with
    /// nothing. `user` names who has the slot, or else it is the op.
    pub(super) fn rewire(
        &mut self,
        old: ValueId,
        new: ValueId,
        operand: usize,
        op: OpId,
        user: impl FnOnce() -> Option<String>,
        [old_text, new_text]: &[Option<String>; 2],
    ) -> bool {
        let lonely = |side: usize, value: ValueId| {
            let (node, _) = self.graphs[side].place(value)?;
            let to = [&self.m.to_b, &self.m.to_a][side];
            let is_arg = matches!(self.graphs[side].node(node).what, What::Arg(_));
            (to[node as usize] == NONE && !is_arg).then_some((side, node))
        };
        let lonely = [lonely(0, old), lonely(1, new)];
        let Some((side, node)) = lonely[1].or(lonely[0]) else {
            return false;
        };
        if let [Some((_, from)), Some((_, to))] = lonely
            && self.graphs[0].constant(from).is_none()
            && self.graphs[1].constant(to).is_some()
        {
            self.folded[0].entry(from).or_insert(to);
            self.folded[1].entry(to).or_insert(from);
        }
        let user = user().unwrap_or_else(|| self.lines[1].short_op(op));
        let rewired = Rewired {
            user,
            operand,
            old: old_text.clone(),
            new: new_text.clone(),
        };
        self.rewired[side].entry(node).or_default().push(rewired);
        true
    }
}
