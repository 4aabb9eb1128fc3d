//! The paired ops of one function in two modules.

use std::sync::Arc;

use passdock_abi::{OpId, ValueId};
use passdock_core::PassError;
use passdock_ir::{Function, Module};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{BlameStep, Makers, find};
use crate::diff::{self, PairedOp};

/// A function in two modules, with its paired ops.
pub(super) struct PairedFunction<'m> {
    pub(super) old: &'m Function,
    pub(super) new: &'m Function,
    /// The pairs of ops of one kind.
    pub(super) pairs: Vec<PairedOp>,
    /// The op after, by the one before.
    after: FxHashMap<OpId, OpId>,
    /// The pairs of ops of different kinds.
    others: Vec<PairedOp>,
}

/// The producer of a value, comparable between both functions.
#[derive(PartialEq)]
enum Source {
    /// A result of an op of the second function.
    Result(OpId, u32),
    /// An op that the second function doesn't have.
    Gone,
    Argument(u32),
    Constant,
    None,
}

impl<'m> PairedFunction<'m> {
    /// Pairs a function of two modules; `None` if only one has it, or if they share it.
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
        let ops = diff::pairs(before, after)?.into_iter();
        let (pairs, others): (Vec<PairedOp>, _) = ops.partition(|pair| pair.same_kind);
        Ok(Some(PairedFunction {
            old: before,
            new: after,
            after: pairs.iter().map(|p| (p.before, p.after)).collect(),
            pairs,
            others,
        }))
    }

    /// Returns the pair of an op of the second function.
    pub(super) fn pair_of(&self, after: OpId) -> Option<&PairedOp> {
        self.pairs.iter().find(|pair| pair.after == after)
    }

    /// Whether an op or the producers of its operands changed.
    pub(super) fn is_changed(&self, pair: &PairedOp) -> bool {
        let old = self.old.operands(pair.before).iter();
        let old = old.map(|slot| self.old_source(slot.value));
        let new = self.new.operands(pair.after).iter();
        pair.changed || !old.eq(new.map(|slot| source(self.new, slot.value)))
    }

    /// Returns the producers of the operands that have another one now, for a step that leaves the op's line the same.
    pub(super) fn makers(&self, pair: &PairedOp, step: &BlameStep) -> Vec<Makers> {
        if step.before != step.after {
            return Vec::new();
        }
        let old = self.old.operands(pair.before).iter();
        let slots = old.zip(self.new.operands(pair.after));
        let others =
            slots.filter(|(old, new)| self.old_source(old.value) != source(self.new, new.value));
        let makers = others.map(|(old, new)| Makers {
            before: find::maker(self.old, old.value),
            after: find::maker(self.new, new.value),
        });
        makers.collect()
    }

    fn old_source(&self, value: ValueId) -> Source {
        match source(self.old, value) {
            Source::Result(op, index) => match self.after.get(&op) {
                Some(&after) => Source::Result(after, index),
                None => Source::Gone,
            },
            source => source,
        }
    }

    /// Returns the ops that `made` was made of.
    pub(super) fn sources(&self, made: OpId) -> Vec<OpId> {
        let ops = self.old.walk(self.old.body());
        ops.filter(|&op| self.is_source(op, made)).collect()
    }

    /// Returns the ops that were made of `gone`.
    pub(super) fn heirs(&self, gone: OpId) -> Vec<OpId> {
        let stayed: FxHashSet<OpId> = self.pairs.iter().map(|pair| pair.after).collect();
        let ops = self.new.walk(self.new.body());
        let made = ops.filter(|op| !stayed.contains(op));
        made.filter(|&made| self.is_source(gone, made)).collect()
    }

    /// Whether an op had a result of the name of one of `made`, or went and became it or shares a node with it.
    fn is_source(&self, op: OpId, made: OpId) -> bool {
        let mut results = find::result_names(self.old, op);
        if results.any(|name| find::result_names(self.new, made).any(|other| other == name)) {
            return true;
        }
        let mut others = self.others.iter();
        !self.after.contains_key(&op)
            && (others.any(|pair| pair.before == op && pair.after == made) || {
                let names = find::names(self.new, made);
                let nodes = find::names(self.old, op);
                nodes.iter().any(|node| find::is_from(&names, node))
            })
    }
}

fn source(f: &Function, value: ValueId) -> Source {
    if value.is_none() {
        return Source::None;
    }
    let index = f.value(value).index;
    match f.defining_op(value) {
        Some(op) => Source::Result(op, index),
        None if f.as_constant(value).is_some() => Source::Constant,
        None => Source::Argument(index),
    }
}
