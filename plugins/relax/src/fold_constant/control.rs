//! What needs no evaluation: a constant `onnx.If` or `if`, an `onnx.Loop` that runs no times, the field of a
//! tuple at hand, a copy of a constant.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::symbol;

use super::forward::Forward;
use crate::shared::accept::{self, Answers};
use crate::shared::operators::is_operator;
use crate::shared::read::optional;

impl Forward<'_> {
    /// Replaces an op that is decided by what it comes to; whether it did.
    pub(super) fn decide(&mut self, f: &mut Function, op: OpId) -> Result<Decided, EditError> {
        let constants: Vec<ConstId> = f.operands(op).filter_map(|v| f.constant(v)).collect();
        let decided = self.try_decide(f, op)?;
        if matches!(decided, Decided::Gone(_)) {
            self.left.extend(constants);
        }
        Ok(decided)
    }

    fn try_decide(&mut self, f: &mut Function, op: OpId) -> Result<Decided, EditError> {
        if f.symbol(op) == symbol::TUPLE_GET {
            return match field(f, op) {
                Some(field) if !self.is_refused(f, op, &[field]) => take_field(f, op, field),
                _ => Ok(Decided::No),
            };
        }
        match f.name(op) {
            "onnx.If" | "onnx.Loop" if !is_operator(self.cx, f.name(op)) => {}
            // The IR's own means the same.
            "onnx.If" | "if" => {
                let taken = self.flag(f, op, 0)?.or(self.only.get(&op).copied());
                if let Some((branch, given)) = taken.and_then(|taken| branch(f, op, taken))
                    && !self.is_refused(f, op, &given)
                {
                    return inline(f, op, branch);
                }
            }
            "onnx.Loop" if self.runs_never(f, op)? => {
                if let Some(values) = initial(f, op)
                    && !self.is_refused(f, op, &values)
                {
                    return replace(f, op, &values);
                }
            }
            _ => {
                if let Some(original) = original(f, op)
                    && !is_given_out(f, op)
                    && !self.is_copy_refused(f, op, original)
                {
                    return replace(f, op, &[original]);
                }
            }
        }
        Ok(Decided::No)
    }

    /// Whether a user of the op couldn't take one of the values that would stand for its results.
    fn is_refused(&mut self, f: &mut Function, op: OpId, values: &[ValueId]) -> bool {
        let results = f.results(op).to_vec();
        let constant = |f: &Function, value| self.constant(f, value);
        let why =
            accept::refusal_of_users(f, self.cx, &results, values, constant, &mut Answers::new());
        why.inspect(|why| self.refuse(f, op, why)).is_some()
    }

    /// As [`Forward::is_refused`], for a copy of a constant. A user is asked about all copies at once.
    fn is_copy_refused(&mut self, f: &mut Function, op: OpId, of: ValueId) -> bool {
        let mut asked = std::mem::take(&mut self.asked);
        let constant = |f: &Function, value| {
            let copied = || original(f, f.defining_op(value)?);
            self.constant(f, value).or_else(copied)
        };
        let copy = [f.result(op, 0)];
        let why = accept::refusal_of_users(f, self.cx, &copy, &[of], constant, &mut asked);
        self.asked = asked;
        why.inspect(|why| self.refuse(f, op, why)).is_some()
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

/// The fate of an op.
pub(super) enum Decided {
    /// The op isn't decided.
    No,
    /// The op is gone, and this comes next in its region.
    Gone(Option<OpId>),
}

/// The field that a `tuple_get` takes out of a `tuple` at hand.
fn field(f: &Function, op: OpId) -> Option<ValueId> {
    let tuple = f.operand(op, 0).and_then(|value| f.defining_op(value))?;
    let index = usize::try_from(f.int(op, "index")?).ok()?;
    (f.symbol(tuple) == symbol::TUPLE).then(|| f.operand(tuple, index))?
}

fn take_field(f: &mut Function, op: OpId, field: ValueId) -> Result<Decided, EditError> {
    let tuple = f.operand(op, 0).and_then(|value| f.defining_op(value));
    let next = f.next_op(op);
    f.replace_op_with(op, &[field])?;
    let is_used = |&value: &ValueId| f.use_count(value) > 0;
    if let Some(tuple) = tuple.filter(|&tuple| !f.results(tuple).iter().any(is_used)) {
        f.erase_op(tuple)?;
    }
    Ok(Decided::Gone(next))
}

/// Whether a result of an op goes out of its region, which may take an op of its own to say.
fn is_given_out(f: &Function, op: OpId) -> bool {
    let terminator = f.terminator(f.parent_region(op));
    let mut uses = f.results(op).iter().flat_map(|&value| f.iter_uses(value));
    terminator.is_some() && uses.any(|used| Some(used.op) == terminator)
}

/// The constant that an op copies.
fn original(f: &Function, op: OpId) -> Option<ValueId> {
    let original = f.operand(op, 0)?;
    let is_copy =
        f.traits(op).is_identity() && f.constant(original).is_some() && f.result_count(op) == 1;
    is_copy.then_some(original)
}

/// Replaces an op by values, unless a result was declared as something else.
fn replace(f: &mut Function, op: OpId, values: &[ValueId]) -> Result<Decided, EditError> {
    let next = f.next_op(op);
    if values.len() != f.result_count(op) {
        return Ok(Decided::No);
    }
    match optional(f.replace_op_with(op, values))? {
        Some(()) => Ok(Decided::Gone(next)),
        None => Ok(Decided::No),
    }
}

/// The branch that is taken, and what it gives; `None` if that isn't one value for each result.
fn branch(f: &Function, op: OpId, taken: bool) -> Option<(RegionId, Vec<ValueId>)> {
    let name = if taken { "then_branch" } else { "else_branch" };
    let branch = f.region(op, name)?;
    let given: Vec<ValueId> = f.operands(f.terminator(branch)?).collect();
    (given.len() == f.result_count(op)).then_some((branch, given))
}

/// Puts a branch's ops in the place of the op that holds it.
fn inline(f: &mut Function, op: OpId, branch: RegionId) -> Result<Decided, EditError> {
    let first = f.first_op(branch);
    let is_empty = first == f.terminator(branch);
    let next = f.next_op(op);
    let mut values = f.inline_region(branch, &[])?;
    let mut first = if is_empty { next } else { first };
    let mut copies = Vec::new();
    if !is_given_out(f, op) {
        // A branch that only says which value it is needs no op.
        for value in &mut values {
            while let Some((copy, original)) = copied(f, *value) {
                copies.push(copy);
                *value = original;
            }
        }
    }
    f.replace_op_with(op, &values)?;
    for copy in copies {
        if f.is_live(copy) && f.use_count(f.result(copy, 0)) == 0 {
            if first == Some(copy) {
                first = f.next_op(copy);
            }
            f.erase_op(copy)?;
        }
    }
    Ok(Decided::Gone(first))
}

/// The op that copies a value which isn't constant, and that value.
fn copied(f: &Function, value: ValueId) -> Option<(OpId, ValueId)> {
    let copy = f.defining_op(value)?;
    let original = f.operand(copy, 0)?;
    let is_copy = f.traits(copy).is_identity()
        && f.result_count(copy) == 1
        && f.operand_count(copy) == 1
        && f.constant(original).is_none();
    is_copy.then_some((copy, original))
}

/// The initial values of a loop, to stand for its results. What it would gather from each turn has to be
/// unused: how large an empty gathering is, nobody says.
fn initial(f: &Function, op: OpId) -> Option<Vec<ValueId>> {
    let initial: Vec<ValueId> = f.operands(op).skip(2).collect();
    let stands_for = |(at, &result): (usize, &ValueId)| match initial.get(at) {
        Some(&value) if value.is_some() => Some(value),
        _ if f.use_count(result) == 0 => Some(ValueId::NONE),
        _ => None,
    };
    f.results(op).iter().enumerate().map(stands_for).collect()
}
