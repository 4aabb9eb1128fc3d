//! What needs no evaluation: a constant `onnx.If` or `if`, an `onnx.Loop` that runs no times, the field of a
//! tuple at hand, a copy of a constant.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{Status, abi};

use super::forward::Forward;
use crate::operators::is_operator;

impl Forward {
    /// Replaces an op that is decided by what it comes to; whether it did.
    pub(super) fn decide(
        &mut self,
        f: &mut Function,
        op: OpId,
        cx: &PassContext,
    ) -> Result<Decided, EditError> {
        let constants: Vec<ConstId> = f.operands(op).filter_map(|v| f.constant(v)).collect();
        let decided = self.try_decide(f, op, cx)?;
        if matches!(decided, Decided::Gone(_)) {
            self.left.extend(constants);
        }
        Ok(decided)
    }

    fn try_decide(
        &self,
        f: &mut Function,
        op: OpId,
        cx: &PassContext,
    ) -> Result<Decided, EditError> {
        if f.symbol(op) == abi::symbol::TUPLE_GET {
            return field(f, op);
        }
        match f.name(op) {
            "onnx.If" | "onnx.Loop" if !is_operator(cx, f.name(op)) => Ok(Decided::No),
            // The IR's own means the same.
            "onnx.If" | "if" => match self.flag(f, op, 0)? {
                Some(taken) => inline(f, op, taken),
                None => Ok(Decided::No),
            },
            "onnx.Loop" if self.runs_never(f, op)? => skip(f, op),
            _ if f.traits(op).is_identity() => copy(f, op),
            _ => Ok(Decided::No),
        }
    }

    /// Whether a loop's trip count is 0, or its condition is false from the start.
    fn runs_never(&self, f: &Function, op: OpId) -> Result<bool, EditError> {
        if self.flag(f, op, 1)? == Some(false) {
            return Ok(true);
        }
        let Some(trips) = f.operand(op, 0).and_then(|trips| self.constant(f, trips)) else {
            return Ok(false);
        };
        let trips = f.constant_ints(trips)?;
        Ok(matches!(trips.as_deref(), Some(&[trips]) if trips <= 0))
    }

    /// An operand that is one constant bool.
    fn flag(&self, f: &Function, op: OpId, index: usize) -> Result<Option<bool>, EditError> {
        let Some(value) = f.operand(op, index).and_then(|v| self.constant(f, v)) else {
            return Ok(None);
        };
        Ok(match f.constant_data(value)? {
            Some(&[byte]) => Some(byte != 0),
            _ => None,
        })
    }
}

/// What became of an op.
pub(super) enum Decided {
    /// It isn't decided.
    No,
    /// It is gone, and this comes next in its region.
    Gone(Option<OpId>),
}

fn field(f: &mut Function, op: OpId) -> Result<Decided, EditError> {
    let tuple = f.operand(op, 0).and_then(|value| f.defining_op(value));
    let index = f.int(op, "index").and_then(|at| usize::try_from(at).ok());
    let (Some(tuple), Some(index)) = (tuple, index) else {
        return Ok(Decided::No);
    };
    if f.symbol(tuple) != abi::symbol::TUPLE {
        return Ok(Decided::No);
    }
    let Some(field) = f.operand(tuple, index) else {
        return Ok(Decided::No);
    };
    let next = f.next_op(op);
    f.replace_op_with(op, &[field])?;
    let unused = f
        .results(tuple)
        .iter()
        .all(|&value| f.use_count(value) == 0);
    if unused {
        f.erase_op(tuple)?;
    }
    Ok(Decided::Gone(next))
}

/// Whether an op's result goes out of its region, which may take an op of its own to say.
pub(super) fn is_given_out(f: &Function, op: OpId) -> bool {
    let terminator = f.terminator(f.parent_region(op));
    let mut uses = f.iter_uses(f.result(op, 0));
    terminator.is_some() && uses.any(|used| Some(used.op) == terminator)
}

fn copy(f: &mut Function, op: OpId) -> Result<Decided, EditError> {
    let original = f
        .operand(op, 0)
        .filter(|&value| f.constant(value).is_some());
    let (Some(original), 1) = (original, f.result_count(op)) else {
        return Ok(Decided::No);
    };
    if is_given_out(f, op) {
        return Ok(Decided::No);
    }
    stand_for(f, op, &[original])
}

/// Lets values stand for an op's results, unless a result was declared as something else.
fn stand_for(f: &mut Function, op: OpId, values: &[ValueId]) -> Result<Decided, EditError> {
    let next = f.next_op(op);
    match f.replace_op_with(op, values) {
        Ok(()) => Ok(Decided::Gone(next)),
        Err(error) if error.status == Status::REFUSED => Ok(Decided::No),
        Err(error) => Err(error),
    }
}

/// Puts a branch's ops in the place of the op that holds it.
fn inline(f: &mut Function, op: OpId, taken: bool) -> Result<Decided, EditError> {
    let name = if taken { "then_branch" } else { "else_branch" };
    let Some(branch) = f.region(op, name) else {
        return Ok(Decided::No);
    };
    let first = f.first_op(branch);
    let is_empty = first == f.terminator(branch);
    let next = f.next_op(op);
    let values = f.inline_region(branch, &[])?;
    f.replace_op_with(op, &values)?;
    Ok(Decided::Gone(if is_empty { next } else { first }))
}

/// Lets a loop's initial values stand for its results. What it would gather from each turn has to be
/// unused: how large an empty gathering is, nobody says.
fn skip(f: &mut Function, op: OpId) -> Result<Decided, EditError> {
    let initial: Vec<ValueId> = f.operands(op).skip(2).collect();
    let results = f.results(op);
    let stands_for = |(at, &result): (usize, &ValueId)| match initial.get(at) {
        Some(&value) if value.is_some() => Some(value),
        _ if f.use_count(result) == 0 => Some(ValueId::NONE),
        _ => None,
    };
    let values: Option<Vec<ValueId>> = results.iter().enumerate().map(stands_for).collect();
    let Some(values) = values else {
        return Ok(Decided::No);
    };
    stand_for(f, op, &values)
}
