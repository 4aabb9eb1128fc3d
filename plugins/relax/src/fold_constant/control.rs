//! Folding without evaluation: an `onnx.If` or `if` with a constant condition, an `onnx.Loop` with zero iterations, a
//! field of a known tuple, and a copy of a constant.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::symbol;

use super::forward::Forward;
use crate::shared::accept::{self, Rejections};
use crate::shared::operators::is_operator;
use crate::shared::read::unless_no_match;

impl Forward<'_> {
    /// Replaces an op with its result if it can be decided without evaluation.
    pub(super) fn decide(&mut self, f: &mut Function, op: OpId) -> Result<Decided, EditError> {
        let constants: Vec<ConstId> = f.operands(op).filter_map(|v| f.constant(v)).collect();
        let decided = self.try_decide(f, op)?;
        if matches!(decided, Decided::Replaced(_)) {
            self.left.extend(constants);
        }
        Ok(decided)
    }

    fn try_decide(&mut self, f: &mut Function, op: OpId) -> Result<Decided, EditError> {
        if f.symbol(op) == symbol::TUPLE_GET {
            return match field(f, op) {
                Some(field) if !self.is_rejected(f, op, &[field]) => take_field(f, op, field),
                _ => Ok(Decided::No),
            };
        }
        match f.name(op) {
            "onnx.If" | "onnx.Loop" if !is_operator(self.cx, f.name(op)) => {}
            // `if` of the IR has the same semantics.
            "onnx.If" | "if" => {
                let taken = self.flag(f, op, 0)?.or(self.only.get(&op).copied());
                if let Some((branch, given)) = taken.and_then(|taken| branch(f, op, taken))
                    && !self.is_rejected(f, op, &given)
                {
                    return inline(f, op, branch);
                }
            }
            "onnx.Loop" if self.runs_never(f, op)? => {
                if let Some(values) = initial(f, op)
                    && !self.is_rejected(f, op, &values)
                {
                    return replace(f, op, &values);
                }
            }
            _ => {
                if let Some(original) = original(f, op)
                    && !is_yielded(f, op)
                    && !self.is_copy_rejected(f, op, original)
                {
                    return replace(f, op, &[original]);
                }
            }
        }
        Ok(Decided::No)
    }

    /// Whether a user of the op would be invalid with one of the replacement values. Records the reason.
    fn is_rejected(&mut self, f: &mut Function, op: OpId, values: &[ValueId]) -> bool {
        let results = f.results(op).to_vec();
        let constant = |f: &Function, value| self.constant(f, value);
        let known = &mut Rejections::new();
        let why = accept::user_rejection(f, self.cx, &results, values, constant, known);
        why.inspect(|why| self.reject(f, op, why)).is_some()
    }

    /// Like [`Forward::is_rejected`], for a copy of a constant. Each user is checked once for all its copies.
    fn is_copy_rejected(&mut self, f: &mut Function, op: OpId, of: ValueId) -> bool {
        let mut checked = std::mem::take(&mut self.checked);
        let constant = |f: &Function, value| {
            let copied = || original(f, f.defining_op(value)?);
            self.constant(f, value).or_else(copied)
        };
        let copy = [f.result(op, 0)];
        let why = accept::user_rejection(f, self.cx, &copy, &[of], constant, &mut checked);
        self.checked = checked;
        why.inspect(|why| self.reject(f, op, why)).is_some()
    }

    /// Whether a loop's trip count is 0, or its initial condition is false.
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

    /// Returns the value of an operand that is a constant bool.
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

/// The result of trying to decide an op.
pub(super) enum Decided {
    /// The op stays.
    No,
    /// The op was replaced. The next op to visit in its region.
    Replaced(Option<OpId>),
}

/// Returns the field that a `tuple_get` takes from a known `tuple`.
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
    Ok(Decided::Replaced(next))
}

/// Whether the region of an op yields one of its results. A constant instead of the result may need a copy.
fn is_yielded(f: &Function, op: OpId) -> bool {
    let terminator = f.terminator(f.parent_region(op));
    let mut uses = f.results(op).iter().flat_map(|&value| f.iter_uses(value));
    terminator.is_some() && uses.any(|used| Some(used.op) == terminator)
}

/// Returns the constant that an op copies.
fn original(f: &Function, op: OpId) -> Option<ValueId> {
    let original = f.operand(op, 0)?;
    let is_copy =
        f.traits(op).is_identity() && f.constant(original).is_some() && f.result_count(op) == 1;
    is_copy.then_some(original)
}

/// Replaces an op with values, unless they contradict the declared types of the results.
fn replace(f: &mut Function, op: OpId, values: &[ValueId]) -> Result<Decided, EditError> {
    let next = f.next_op(op);
    if values.len() != f.result_count(op) {
        return Ok(Decided::No);
    }
    match unless_no_match(f.replace_op_with(op, values))? {
        Some(()) => Ok(Decided::Replaced(next)),
        None => Ok(Decided::No),
    }
}

/// Returns the branch that runs and the values that it yields; `None` unless there is one per result.
fn branch(f: &Function, op: OpId, taken: bool) -> Option<(RegionId, Vec<ValueId>)> {
    let name = if taken { "then_branch" } else { "else_branch" };
    let branch = f.region(op, name)?;
    let given: Vec<ValueId> = f.operands(f.terminator(branch)?).collect();
    (given.len() == f.result_count(op)).then_some((branch, given))
}

/// Replaces an op with the ops of a branch.
fn inline(f: &mut Function, op: OpId, branch: RegionId) -> Result<Decided, EditError> {
    let first = f.first_op(branch);
    let is_empty = first == f.terminator(branch);
    let next = f.next_op(op);
    let mut values = f.inline_region(branch, &[])?;
    let mut first = if is_empty { next } else { first };
    let mut copies = Vec::new();
    if !is_yielded(f, op) {
        // Removes the copies at the end of the branch.
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
    Ok(Decided::Replaced(first))
}

/// Returns the op that copies a non-constant value, and that value.
fn copied(f: &Function, value: ValueId) -> Option<(OpId, ValueId)> {
    let copy = f.defining_op(value)?;
    let original = f.operand(copy, 0)?;
    let is_copy = f.traits(copy).is_identity()
        && f.result_count(copy) == 1
        && f.operand_count(copy) == 1
        && f.constant(original).is_none();
    is_copy.then_some((copy, original))
}

/// Returns the initial values of a loop, as replacements of its results. The scan outputs must be unused, because the
/// shape of an empty scan output is unknown.
fn initial(f: &Function, op: OpId) -> Option<Vec<ValueId>> {
    let initial: Vec<ValueId> = f.operands(op).skip(2).collect();
    let replacement = |(at, &result): (usize, &ValueId)| match initial.get(at) {
        Some(&value) if value.is_some() => Some(value),
        _ if f.use_count(result) == 0 => Some(ValueId::NONE),
        _ => None,
    };
    f.results(op).iter().enumerate().map(replacement).collect()
}
