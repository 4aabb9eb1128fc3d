//! The ops after combined ops: where each branch continues with the same op, one op continues all branches.

use passdock_plugin_api::prelude::*;

use super::concatenated::Concatenated;
use super::{Branch, attrs_of, own_constant};
use crate::shared::read::{only_use, operator, unless_no_match};

const SUM: &str = "onnx.Add";

/// The op that continues all branches.
pub(super) struct Step {
    /// The op of the first branch.
    pub(super) op: OpId,
    operands: Vec<Operand>,
}

/// An operand of the op that continues all branches.
enum Operand {
    /// The branch's result so far.
    Value,
    /// A value that all branches share, or an operand left out.
    Same(ValueId),
    /// The constants of all branches, with one number per channel.
    Constants(Concatenated),
}

impl Step {
    /// Returns its operands, with `value` as the branches' result.
    pub(super) fn operands(
        self,
        f: &mut Function,
        value: ValueId,
    ) -> Result<Vec<ValueId>, EditError> {
        let operands = self.operands.into_iter().map(|operand| match operand {
            Operand::Value => Ok(value),
            Operand::Same(same) => Ok(same),
            Operand::Constants(constants) => constants.make(f),
        });
        operands.collect()
    }
}

/// The search for the ops that continue branches.
pub(super) struct Continuation<'b> {
    pub(super) f: &'b Function,
    /// The axis of the channels.
    pub(super) axis: usize,
}

impl Continuation<'_> {
    /// Returns the ops that continue all branches.
    pub(super) fn follow(&self, branches: &mut [Branch]) -> Result<Vec<Step>, EditError> {
        let mut steps = Vec::new();
        loop {
            let ops: Option<Vec<OpId>> = branches.iter().map(|branch| self.next(branch)).collect();
            let Some(ops) = ops else {
                break;
            };
            let Some(step) = unless_no_match(self.step(branches, &ops))? else {
                break;
            };
            for (branch, op) in branches.iter_mut().zip(ops) {
                branch.following.push(op);
            }
            steps.push(step);
        }
        Ok(steps)
    }

    /// Returns the only user of a branch's result, if it is elementwise and its result has the branch's channels.
    fn next(&self, branch: &Branch) -> Option<OpId> {
        let f = self.f;
        let value = f.result(branch.last(), 0);
        let op = only_use(f, value)?.op;
        let traits = f.traits(op);
        let fits = traits.is_elementwise()
            && traits.is_deterministic()
            && f.result_count(op) == 1
            && f.regions(op).is_empty()
            && f.parent_region(op) == f.parent_region(branch.product)
            && self.has_channels(branch, f.result(op, 0), value);
        fits.then_some(op)
    }

    /// Whether a result can be split like a branch's result: some ops use only a value's type.
    fn has_channels(&self, branch: &Branch, result: ValueId, value: ValueId) -> bool {
        let rank = self.f.rank(result);
        let dims = self.f.dims(result);
        let channels = dims.and_then(|dims| dims.get(self.axis));
        rank.is_some()
            && rank == self.f.rank(value)
            && channels == Some(Dim::constant(branch.channels))
    }

    /// Returns these ops as one, if they differ only in constants per channel.
    fn step(&self, branches: &[Branch], ops: &[OpId]) -> Result<Step, EditError> {
        let f = self.f;
        let op = ops[0];
        let attrs = attrs_of(f, op);
        let same = |&other: &OpId| {
            f.symbol(other) == f.symbol(op)
                && f.operand_count(other) == f.operand_count(op)
                && attrs_of(f, other) == attrs
        };
        NoMatch::unless(attrs.is_some() && ops.iter().all(same))?;
        let is_sum = operator(f, op) == SUM;
        let mut all: Vec<Vec<ValueId>> = Vec::with_capacity(ops.len());
        for (branch, &op) in branches.iter().zip(ops) {
            let value = f.result(branch.last(), 0);
            let mut own: Vec<ValueId> = f.operands(op).collect();
            NoMatch::unless(own.iter().filter(|&&one| one == value).count() == 1)?;
            // The operands of a sum may be in either order.
            if is_sum && own[0] != value {
                own.reverse();
            }
            all.push(own);
        }
        let operand = |at: usize| {
            let values: Vec<ValueId> = all.iter().map(|own| own[at]).collect();
            self.operand(branches, &values)
        };
        let operands: Result<Vec<Operand>, EditError> = (0..all[0].len()).map(operand).collect();
        Ok(Step {
            op,
            operands: operands?,
        })
    }

    /// Returns an operand of all branches.
    fn operand(&self, branches: &[Branch], values: &[ValueId]) -> Result<Operand, EditError> {
        let f = self.f;
        let is_own_result =
            |(branch, &value): (&Branch, &ValueId)| value == f.result(branch.last(), 0);
        let mut pairs = branches.iter().zip(values);
        if pairs.clone().all(is_own_result) {
            return Ok(Operand::Value);
        }
        NoMatch::unless(!pairs.clone().any(is_own_result))?;
        if values.iter().all(|value| value.is_none()) || self.are_one_number(values)? {
            return Ok(Operand::Same(values[0]));
        }
        let axis = self.channels_at(&branches[0], values[0]).ok_or(NoMatch)?;
        let has_axis =
            |(branch, &value): (&Branch, &ValueId)| self.channels_at(branch, value) == Some(axis);
        NoMatch::unless(pairs.all(has_axis))?;
        Ok(Operand::Constants(Concatenated::new(f, values, axis)?))
    }

    /// Whether constants are the same single number.
    fn are_one_number(&self, values: &[ValueId]) -> Result<bool, EditError> {
        let f = self.f;
        let first = values[0];
        for &value in values {
            let is_one = f.constant(value).is_some() && f.type_of(value).element_count() == Some(1);
            let fits = f.rank(value).is_some_and(|rank| rank <= 1);
            if !is_one || !fits || f.type_id(value) != f.type_id(first) {
                return Ok(false);
            }
            let (one, other) = (f.constant_data(first)?, f.constant_data(value)?);
            if value != first && (one.is_none() || one != other) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the axis of a constant that has one number per channel of a branch.
    fn channels_at(&self, branch: &Branch, value: ValueId) -> Option<usize> {
        let f = self.f;
        let shape = own_constant(f, value)?;
        let rank = f.rank(f.result(branch.product, 0))?;
        let at = (self.axis + shape.len()).checked_sub(rank)?;
        let fits = |(index, &dim): (usize, &i64)| match index == at {
            true => dim == branch.channels,
            false => dim == 1,
        };
        let fits = shape.len() <= rank && shape.iter().enumerate().all(fits);
        fits.then_some(at)
    }
}
