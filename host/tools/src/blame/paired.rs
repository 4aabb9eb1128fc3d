//! The paired ops of a function in two modules.

use std::sync::Arc;

use passdock_abi::{OpId, ValueId};
use passdock_core::PassError;
use passdock_ir::{Function, Module};
use rustc_hash::FxHashSet;

use super::{BlameStep, OperandProducers, find};
use crate::diff::{Comparison, PairedOp};

/// A function in two modules, with its paired ops.
pub(super) struct PairedFunction<'m> {
    pub(super) old: &'m Function,
    pub(super) new: &'m Function,
    /// The pairs of ops of one kind.
    pub(super) pairs: Vec<PairedOp>,
    /// The ops of the first function that have a pair of the same kind.
    paired: FxHashSet<OpId>,
    /// The pairs of ops of different kinds.
    others: Vec<PairedOp>,
    comparison: Comparison<'m>,
}

impl<'m> PairedFunction<'m> {
    /// Pairs the ops of a function in two modules; `None` if only one module has it, or both share it.
    pub(super) fn new(
        old: &'m Module,
        new: &'m Module,
        function: &str,
    ) -> Result<Option<PairedFunction<'m>>, PassError> {
        let functions = (old.function_named(function), new.function_named(function));
        let (Some(before), Some(after)) = functions else {
            return Ok(None);
        };
        if Arc::ptr_eq(before, after) {
            return Ok(None);
        }
        let comparison = Comparison::from_pairs(before, after)?;
        let ops = comparison.paired_ops().into_iter();
        let (pairs, others): (Vec<PairedOp>, _) = ops.partition(|pair| pair.same_kind);
        Ok(Some(PairedFunction {
            old: before,
            new: after,
            paired: pairs.iter().map(|pair| pair.before).collect(),
            pairs,
            others,
            comparison,
        }))
    }

    /// Returns the pair of an op of the second function.
    pub(super) fn pair_of(&self, after: OpId) -> Option<&PairedOp> {
        self.pairs.iter().find(|pair| pair.after == after)
    }

    /// Whether an op of the first function has a pair of the same kind.
    pub(super) fn is_paired(&self, before: OpId) -> bool {
        self.paired.contains(&before)
    }

    /// Whether an op or the producers of its operands changed.
    pub(super) fn is_changed(&self, pair: &PairedOp) -> bool {
        let counts = [
            self.old.operands(pair.before).len(),
            self.new.operands(pair.after).len(),
        ];
        pair.changed || counts[0] != counts[1] || self.other_operands(pair).next().is_some()
    }

    /// Returns the operands with new producers, if the step leaves the op's line unchanged.
    pub(super) fn producers(&self, pair: &PairedOp, step: &BlameStep) -> Vec<OperandProducers> {
        if step.before != step.after {
            return Vec::new();
        }
        let producers = self
            .other_operands(pair)
            .map(|[old, new]| OperandProducers {
                before: find::producer(self.old, old),
                after: find::producer(self.new, new),
            });
        producers.collect()
    }

    /// Returns the operands of a pair of ops that have different producers.
    fn other_operands(&self, pair: &PairedOp) -> impl Iterator<Item = [ValueId; 2]> {
        let old = self.old.operands(pair.before).iter();
        let slots = old.zip(self.new.operands(pair.after));
        let values = slots.map(|(old, new)| [old.value, new.value]);
        values.filter(|&[old, new]| {
            let became_other = |op| self.others.iter().any(|pair| pair.before == op);
            !self.comparison.is_same(old, new)
                || self.old.defining_op(old).is_some_and(became_other)
        })
    }

    /// Returns the ops that `created` was created from.
    pub(super) fn sources(&self, created: OpId) -> Vec<OpId> {
        let ops = self.old.walk(self.old.body());
        ops.filter(|&op| self.is_source(op, created)).collect()
    }

    /// Returns the ops that were created from `removed`.
    pub(super) fn replacements(&self, removed: OpId) -> Vec<OpId> {
        let stayed: FxHashSet<OpId> = self.pairs.iter().map(|pair| pair.after).collect();
        let ops = self.new.walk(self.new.body());
        let created = ops.filter(|op| !stayed.contains(op));
        created.filter(|&op| self.is_source(removed, op)).collect()
    }

    /// Whether `op` had a result with the name of one of `created`'s, or was removed and is paired or shares a node
    /// with it.
    fn is_source(&self, op: OpId, created: OpId) -> bool {
        let mut results = find::result_names(self.old, op);
        if results.any(|name| find::result_names(self.new, created).any(|other| other == name)) {
            return true;
        }
        let mut others = self.others.iter();
        !self.is_paired(op)
            && (others.any(|pair| pair.before == op && pair.after == created) || {
                let names = find::names(self.new, created);
                let nodes = find::names(self.old, op);
                nodes.iter().any(|node| find::is_from(&names, node))
            })
    }
}
