//! The operands that differ in two paired ops, unless another difference lists them.

use passdock_abi::{OpId, ValueId};

use super::compare::Comparison;
use super::matching::common;
use super::report::{OpChange, Rewired};
use super::side::{Node, Side};

impl Comparison<'_> {
    /// Compares the operands of two ops; `op` is the second one.
    pub(super) fn operands(&mut self, nodes: [Node; 2], op: OpId, changes: &mut Vec<OpChange>) {
        for (index, old, new) in self.differing(nodes) {
            if let Some([before, after]) =
                self.not_rewired(old, new, index, |side| side.short_op(op))
            {
                changes.push(OpChange::Operand {
                    index,
                    before,
                    after,
                });
            }
        }
    }

    /// Returns the operands of two nodes.
    pub(super) fn values_of(&self, nodes: [Node; 2]) -> [Vec<ValueId>; 2] {
        [0, 1].map(|side: usize| self.sides[side].operands(nodes[side]).collect())
    }

    /// Returns the operands that differ. Slots are compared by index. If the numbers of operands differ and no slot is
    /// omitted, the operands are aligned first, so that one removed operand doesn't change all slots after it.
    fn differing(&self, nodes: [Node; 2]) -> Vec<(usize, ValueId, ValueId)> {
        let values = self.values_of(nodes);
        let [old_items, new_items] = &values;
        let is_aligned = old_items.len() == new_items.len()
            || values.iter().flatten().any(|value| value.is_none());
        let mut common = match is_aligned {
            true => Vec::new(),
            false => {
                let keys = [0, 1].map(|side: usize| {
                    let key = |&value: &ValueId| {
                        let (node, index) = self.sides[side].definition(value)?;
                        // Nodes without a counterpart are never equal.
                        let pair = self.m.pair(side, node);
                        Some((pair, pair.is_none().then_some((side, node)), index))
                    };
                    values[side].iter().map(key).collect::<Vec<_>>()
                });
                common(&keys[0], &keys[1])
            }
        };
        common.push((old_items.len(), new_items.len()));
        let mut differing = Vec::new();
        let (mut from_a, mut from_b) = (0, 0);
        for (to_a, to_b) in common {
            let gaps = [&old_items[from_a..to_a], &new_items[from_b..to_b]];
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

    /// Whether two values are results of the same index of paired nodes.
    pub(crate) fn is_same(&self, old: ValueId, new: ValueId) -> bool {
        match [self.sides[0].definition(old), self.sides[1].definition(new)] {
            [None, None] => true,
            [Some((from, i)), Some((to, j))] => i == j && self.m.counterpart(0, from) == Some(to),
            _ => false,
        }
    }

    /// Lists a differing operand at the op or constant without a counterpart that causes the difference. If there is
    /// none, returns the texts of both values. `user` describes the op with the operand.
    pub(super) fn not_rewired(
        &mut self,
        old: ValueId,
        new: ValueId,
        operand: usize,
        user: impl FnOnce(&Side<'_>) -> String,
    ) -> Option<[Option<String>; 2]> {
        let values = [old, new];
        let [old, new] = [0, 1].map(|side: usize| {
            let value = values[side].option();
            value.map(|value| self.sides[side].value_text(value))
        });
        let [from, to] = [0, 1].map(|side: usize| {
            let (node, _) = self.sides[side].definition(values[side])?;
            let is_alone = !self.m.is_paired(side, node) && !matches!(node, Node::Arg(_));
            is_alone.then_some((side, node))
        });
        let Some((side, node)) = to.or(from) else {
            return Some([old, new]);
        };
        if let (Some((_, from @ Node::Op(_))), Some((_, to @ Node::Const(_)))) = (from, to) {
            self.folded[0].entry(from).or_insert(to);
            self.folded[1].entry(to).or_insert(from);
        }
        let rewired = Rewired {
            user: user(&self.sides[1]),
            operand,
            before: old,
            after: new,
        };
        self.rewired[side].entry(node).or_default().push(rewired);
        None
    }
}
