//! Ops with constants one after another, and operands that are stretched before they would be anyway.

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

use crate::shared::read::{int_or, known_dims, like, made_by};

pub(super) static RULES: Rules = rules! {
    rule constants_at_once { %y = onnx.Add|onnx.Mul(%a, %b) } => at_once;
    rule expand_that_stretches {
        %y = onnx.Add|onnx.Sub|onnx.Mul|onnx.Div|onnx.Pow|onnx.Equal|onnx.Less|onnx.Greater|onnx.And|onnx.Or|onnx.Where(%xs...)
    } => without_expand;
};

/// `(x + 1) + 2` is `x + 3`, and as much for products. Floats are rounded once less.
fn at_once(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let split = |op: OpId| {
        let (a, b) = (f.operand(op, 0)?.option()?, f.operand(op, 1)?.option()?);
        match (f.constant(a).is_some(), f.constant(b).is_some()) {
            (false, true) => Some((a, b)),
            (true, false) => Some((b, a)),
            _ => None,
        }
    };
    let outer = m.op("y");
    let is_old = int_or(f, outer, "broadcast", 0) != Some(0) || f.opset("") < Some(7);
    let Some((inner, c)) = split(outer).filter(|_| !is_old) else {
        return Ok(None);
    };
    let op = made_by(f, inner, f.name(outer)).filter(|_| f.use_count(inner) == 1);
    let Some((x, d)) = op.and_then(split) else {
        return Ok(None);
    };
    let name = f.symbol(outer);
    let is_sum = f.name(outer) == "onnx.Add";
    if is_sum && !has_one_sign(f, c, d)? {
        return Ok(None);
    }
    if !stays_normal(f, c, d, is_sum)? {
        return Ok(None);
    }
    let both = r.op(OpBuilder::new(name).operands([d, c]))?;
    if r.function().constant(both).is_none() {
        return Ok(None);
    }
    Ok(Some(vec![r.op(OpBuilder::new(name).operands([x, both]))?]))
}

/// Whether nothing of two constants cancels out: all elements of floats have one sign. Sums of integers are exact.
fn has_one_sign(f: &Function, a: ValueId, b: ValueId) -> Result<bool, EditError> {
    let (Some(a), Some(b)) = (floats(f, a)?, floats(f, b)?) else {
        return Ok(true);
    };
    let mut all = a.iter().chain(&b);
    Ok(all.clone().all(|x| *x >= 0.0) || all.all(|x| *x <= 0.0))
}

/// Whether the sum or the product of two constants of floats has no element that is too large or too small to be
/// exact, so that nothing overflows or vanishes that didn't.
fn stays_normal(f: &Function, a: ValueId, b: ValueId, is_sum: bool) -> Result<bool, EditError> {
    let (least, most) = match f.dtype(a) {
        DType::F16 => (1e-3, 1e3),
        _ => (1e-18, 1e18),
    };
    let (Some(a), Some(b)) = (floats(f, a)?, floats(f, b)?) else {
        return Ok(true);
    };
    // The least size but 0, and the largest.
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
    Ok(low >= least && high < most)
}

/// The elements of a constant of floats, none of them rounded.
fn floats(f: &Function, value: ValueId) -> Result<Option<Vec<f64>>, EditError> {
    if f.dtype(value) == DType::F64 {
        let bytes = f.constant_data(value)?;
        return Ok(bytes.map(|bytes| {
            let elements = bytes.as_chunks::<8>().0.iter();
            elements
                .map(|element| f64::from_le_bytes(*element))
                .collect()
        }));
    }
    let floats = f.constant_floats(value)?;
    Ok(floats.map(|floats| floats.into_iter().map(f64::from).collect()))
}

/// What is stretched to a shape that another operand has needn't be stretched before.
fn without_expand(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let y = m.op("y");
    if f.opset("") < Some(8) {
        return Ok(None);
    }
    let Some(dims) = known_dims(f, f.result(y, 0)) else {
        return Ok(None);
    };
    let mut operands: Vec<ValueId> = f.operands(y).collect();
    for at in 0..operands.len() {
        let expanded = operands[at];
        let Some(source) = made_by(f, expanded, "onnx.Expand").and_then(|op| f.operand(op, 0))
        else {
            continue;
        };
        let has_shape = |other: &ValueId| {
            *other != expanded && known_dims(f, *other).is_some_and(|other| other == dims)
        };
        let Some(own) = f.dims(source) else {
            continue;
        };
        let stretches = own.len() <= dims.len()
            && own
                .clone()
                .zip(&dims[dims.len() - own.len()..])
                .all(|(own, dim)| {
                    own == Dim::constant(1) || own.kind != DimKind::UNKNOWN && own == *dim
                });
        if stretches && operands.iter().any(has_shape) {
            let Some(made) = like(f, y, &[]) else {
                return Ok(None);
            };
            operands[at] = source;
            return Ok(Some(vec![r.op(made.operands(operands))?]));
        }
    }
    Ok(None)
}
