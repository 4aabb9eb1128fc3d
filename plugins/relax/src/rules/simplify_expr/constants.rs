//! Chains of ops with constants, and explicit broadcasts of operands that the op broadcasts itself.

use passdock_plugin_api::prelude::*;

use crate::rules::shared::kernels::ends_gelu;
use crate::shared::read::{defined_by, int_or, is, is_any, known_dims, like, with_constant};

pub(super) static RULES: Rules = rules! {
    rule constants_of_chain { %y = onnx.Add|onnx.Mul(%a, %b) } => reassociate;
    rule redundant_expand {
        %y = onnx.Add|onnx.Sub|onnx.Mul|onnx.Div|onnx.Pow|onnx.Mod|onnx.Equal|onnx.Less|onnx.LessOrEqual|onnx.Greater
            |onnx.GreaterOrEqual|onnx.And|onnx.Or|onnx.Xor|onnx.Where|onnx.Min|onnx.Max|onnx.Sum|onnx.Mean(%xs...)
    } => without_expand;
};

/// Reassociates constants: `(x + 1) + 2` is `x + 3`, likewise for products. It saves one rounding.
fn reassociate(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let outer = m.op("y");
    let is_old = int_or(f, outer, "broadcast", 0) != Some(0) || f.opset("") < Some(7);
    let (inner, c) = with_constant(f, outer).filter(|_| !is_old).ok_or(NoMatch)?;
    let op = defined_by(f, inner, f.name(outer))
        .filter(|_| f.use_count(inner) == 1)
        .ok_or(NoMatch)?;
    let (x, d) = with_constant(f, op).ok_or(NoMatch)?;
    let name = f.symbol(outer);
    let is_sum = f.name(outer) == "onnx.Add";
    NoMatch::unless(stays_exact(f, c, d, is_sum)?)?;
    // The factor 1/2 of a GELU belongs to a fused kernel in runtimes.
    NoMatch::unless(!ends_gelu(f, op)?)?;
    let both = r.op(OpBuilder::new(name).operands([d, c]))?;
    NoMatch::unless(r.function().constant(both).is_some())?;
    Ok(Some(vec![r.op(OpBuilder::new(name).operands([x, both]))?]))
}

/// Whether the sum or product of two constants is exact enough to reassociate. All magnitudes must be in a range
/// without overflow or underflow. In a sum, all elements must have one sign, so that nothing cancels. Integers are
/// always exact.
fn stays_exact(f: &Function, a: ValueId, b: ValueId, is_sum: bool) -> Result<bool, EditError> {
    let (least, most) = match f.dtype(a) {
        Some(DType::F16) => (1e-3, 1e3),
        _ => (1e-18, 1e18),
    };
    let (Some(a), Some(b)) = (f.constant_floats(a)?, f.constant_floats(b)?) else {
        return Ok(true);
    };
    let mut both = a.iter().chain(&b);
    let has_one_sign = both.clone().all(|x| *x >= 0.0) || both.all(|x| *x <= 0.0);
    // The smallest magnitude other than 0, and the largest.
    let range = |floats: &[f64]| {
        let sizes = floats.iter().map(|x| x.abs()).filter(|size| *size != 0.0);
        sizes.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), size| {
            (low.min(size), high.max(size))
        })
    };
    let (a, b) = (range(&a), range(&b));
    let (low, high) = match is_sum {
        true => (a.0.min(b.0), a.1 + b.1),
        false => (a.0 * b.0, a.1 * b.1),
    };
    Ok(low >= least && high < most && (has_one_sign || !is_sum))
}

/// Removes the `Expand` of an operand if the other operands have the expanded dims.
fn without_expand(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let y = m.op("y");
    NoMatch::unless(f.opset("") >= Some(8))?;
    let dims = known_dims(f, f.result(y, 0)).ok_or(NoMatch)?;
    let mut operands: Vec<ValueId> = f.operands(y).collect();
    for at in 0..operands.len() {
        let broadcast = operands[at];
        let Some(source) = repeated(f, broadcast) else {
            continue;
        };
        // Axes count from the last one.
        let has = |value: ValueId, axis: usize, dim: Dim| {
            let own = f.dims(value).and_then(|mut own| {
                let at = own.len().checked_sub(axis + 1)?;
                own.nth(at)
            });
            own == Some(dim)
        };
        let others_have = |axis: usize, dim: Dim| {
            let mut others = operands.iter().filter(|other| **other != broadcast);
            others.any(|other| has(*other, axis, dim))
        };
        let rank = f.rank(source).unwrap_or(usize::MAX);
        let is_free = |(axis, dim): (usize, &Dim)| {
            let is_unit = axis >= rank || has(source, axis, Dim::constant(1));
            has(source, axis, *dim) || is_unit && others_have(axis, *dim)
        };
        // Leading dims of 1 are dims of the result, too.
        if rank <= dims.len() && dims.iter().rev().enumerate().all(is_free) {
            let new_op = like(f, y, &[])?;
            operands[at] = source;
            return Ok(Some(vec![r.op(new_op.operands(operands))?]));
        }
    }
    Ok(None)
}

/// Returns the operand of an op that repeats elements along axes. Along an axis of size 1, this is broadcasting.
fn repeated(f: &Function, value: ValueId) -> Option<ValueId> {
    let op = value.option().and_then(|value| f.defining_op(value))?;
    let first = f.operand(op, 0)?;
    let repeats = is_any(f, op, &["onnx.Expand", "onnx.Tile"])
        || is(f, op, "onnx.Concat") && f.operands(op).all(|operand| operand == first);
    repeats.then_some(first)
}
