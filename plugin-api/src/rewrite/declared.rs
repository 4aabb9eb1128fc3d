//! Replaces declared types of region results with inferred ones while rules match.
//!
//! Runtimes don't enforce the dims that a model declares for its outputs: they warn, and return the actual tensor. So a
//! rule that compares shapes must see the types that op definitions infer.

use passdock_abi::{OpId, Position, TypeId, ValueId};

use super::matching::Match;
use super::region_results::is_region_result;
use crate::data::EditError;
use crate::ir::{Function, OpBuilder, TypeSpec};
use crate::pass::PassContext;

/// The original types of values that temporarily have others.
pub(super) struct Declared(Vec<(ValueId, TypeId)>);

impl Declared {
    /// Sets the types of region results, of the matched ops and of their operands, to the inferred ones.
    pub(super) fn put_aside(
        f: &mut Function,
        cx: &PassContext,
        matched: &Match<'_>,
    ) -> Result<Declared, EditError> {
        let mut aside = Vec::new();
        let mut ops = matched.ops().to_vec();
        for &op in matched.ops() {
            let outputs = f.operands(op).filter(|value| is_region_result(f, *value));
            ops.extend(outputs.filter_map(|value| f.defining_op(value)));
        }
        ops.sort();
        ops.dedup();
        for op in ops {
            let results = f.results(op).to_vec();
            if !results.iter().any(|result| is_region_result(f, *result)) {
                continue;
            }
            let inferred = match inferred(f, cx, op)? {
                Some(inferred) => inferred,
                None => continue,
            };
            for (result, ty) in results.into_iter().zip(inferred) {
                let own = f.type_id(result);
                if own != ty && is_region_result(f, result) {
                    retype(f, result, ty)?;
                    aside.push((result, own));
                }
            }
        }
        Ok(Declared(aside))
    }

    /// Restores the types of the values that are still live.
    pub(super) fn put_back(self, f: &mut Function) -> Result<(), EditError> {
        for (value, ty) in self.0 {
            if f.is_live_value(value) {
                retype(f, value, ty)?;
            }
        }
        Ok(())
    }
}

/// Returns the types that the definition of an op infers. `None` if it infers nothing, and for ops with regions.
fn inferred(
    f: &mut Function,
    cx: &PassContext,
    op: OpId,
) -> Result<Option<Vec<TypeId>>, EditError> {
    if !f.regions(op).is_empty() || !f.traits(op).is_defined() {
        return Ok(None);
    }
    let operands: Vec<ValueId> = f.operands(op).collect();
    let count = f.result_count(op);
    let mut copy = OpBuilder::new(f.symbol(op))
        .operands(operands)
        .untyped_results(count);
    for (name, attr) in f.attrs(op) {
        match attr.to_value() {
            Some(value) => copy = copy.attr(name, value),
            None => return Ok(None),
        }
    }
    let copy = f.create_op_of(copy, Position::before(op), count)?;
    let is_known = cx.infer(f, copy).is_ok();
    let types = f.results(copy).iter().map(|result| f.type_id(*result));
    let types = types.collect();
    f.erase_op(copy)?;
    Ok(if is_known { Some(types) } else { None })
}

/// Replaces the type of a value, even if the new type is less specific.
fn retype(f: &mut Function, value: ValueId, ty: TypeId) -> Result<(), EditError> {
    let unknown = f.add_type(&TypeSpec::unknown())?;
    f.set_type(value, unknown)?;
    f.set_type(value, ty)
}
