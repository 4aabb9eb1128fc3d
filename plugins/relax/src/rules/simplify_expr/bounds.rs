//! Nested `Clip`, `Relu`, `Min` and `Max`, and bounds that their operand satisfies already.

use passdock_plugin_api::prelude::*;

use crate::rules::shared::bounds::{Bounds, all, bounds};
use crate::shared::read::{defined_by, is_any, is_float, operator};

pub(super) static RULES: Rules = rules! {
    rule bounds_of_chain { %y = onnx.Clip|onnx.Relu|onnx.Min|onnx.Max(%xs...) } => merge_bounds;
    rule min_of_mins { %y = onnx.Min|onnx.Max(%xs...) } => flatten;
    rule relu_of_positive {
        %y = onnx.Abs|onnx.Exp|onnx.Sqrt|onnx.Softplus|onnx.ReduceL1|onnx.ReduceL2|onnx.ReduceSumSquare(%x, %rest...)
        onnx.Relu(%y) => %y where float(%y)
    }
    rule abs_of_positive {
        %y = onnx.Exp|onnx.Sigmoid|onnx.Softmax|onnx.Softplus(%x)
        onnx.Abs(%y) => %y
    }
};

/// The maximum number of operands of a flattened `Min` or `Max`.
const MAX_OPERANDS: usize = 32;

/// The ops whose bounds come from operands or attributes.
const BOUNDED: &[&str] = &["onnx.Clip", "onnx.Relu", "onnx.Min", "onnx.Max"];

/// Whether the bounds of an integer value are within the range of another integer dtype.
pub(super) fn fits(r: &Rewriter<'_>, value: ValueId, dtype: DType) -> Result<bool, EditError> {
    let f = r.function();
    let op = f.defining_op(value).ok_or(NoMatch)?;
    let room = all(dtype).ok_or(NoMatch)?;
    NoMatch::unless(!is_float(dtype) && !f.dtype(value).is_some_and(is_float))?;
    NoMatch::unless(is_any(f, op, &["onnx.Clip", "onnx.Min", "onnx.Max"]))?;
    let (_, own) = bounds(r, op)?;
    // An infinite bound is the end of a 64-bit range, signed or unsigned.
    let is_finite = own.low.is_finite() && own.high.is_finite();
    Ok(is_finite && room.low <= own.low && own.high <= room.high)
}

/// Returns the range of an op's results for any operands.
fn range(f: &Function, op: OpId) -> Option<Bounds> {
    let (low, high) = match operator(f, op) {
        "onnx.Sigmoid" | "onnx.Softmax" | "onnx.HardSigmoid" => (0.0, 1.0),
        "onnx.Tanh" | "onnx.Sin" | "onnx.Cos" | "onnx.Erf" | "onnx.Softsign" => (-1.0, 1.0),
        "onnx.Exp" | "onnx.Abs" | "onnx.Softplus" => (0.0, f64::INFINITY),
        _ => return None,
    };
    Bounds::new(low, high)
}

/// Merges two bounds into one op, or removes the outer bounds if the operand satisfies them.
fn merge_bounds(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let y = m.root();
    let (value, outer) = bounds(r, y)?;
    let f = r.function();
    let dtype = f.dtype(f.result(y, 0)).ok_or(NoMatch)?;
    let all = all(dtype).ok_or(NoMatch)?;
    if !is_float(dtype) && outer.low <= all.low && outer.high >= all.high {
        return Ok(Some(vec![value]));
    }
    let inner = f.defining_op(value).ok_or(NoMatch)?;
    if let Some(range) = range(f, inner).filter(|_| is_float(dtype)) {
        let is_within = outer.low <= range.low && range.high <= outer.high;
        return Ok(is_within.then(|| vec![value]));
    }
    NoMatch::unless(is_any(f, inner, BOUNDED) && f.use_count(value) == 1)?;
    let (x, first) = bounds(r, inner)?;
    let both = first.then(outer);
    Ok(Some(vec![keep_within(r, x, dtype, both, all)?]))
}

/// Builds the op that limits a value to bounds.
fn keep_within(
    r: &mut Rewriter<'_>,
    x: ValueId,
    dtype: DType,
    Bounds { low, high }: Bounds,
    all: Bounds,
) -> Result<ValueId, EditError> {
    let opset = r.function().opset("").unwrap_or(0);
    let (is_float, is_bf16) = (is_float(dtype), dtype == DType::BF16);
    // An integer bound at the end of the dtype's range is redundant.
    let (keeps_low, keeps_high) = (is_float || low > all.low, is_float || high < all.high);
    let low = if keeps_low { low } else { f64::NEG_INFINITY };
    let high = if keeps_high { high } else { f64::INFINITY };
    NoMatch::unless((!is_bf16 || opset >= 13) && (is_float || opset >= 12))?;
    if is_float && (low, high) == (0.0, f64::INFINITY) {
        return r.op(OpBuilder::new("onnx.Relu").operand(x));
    }
    let one_side = match (low == f64::NEG_INFINITY, high == f64::INFINITY) {
        (true, true) => return Ok(x),
        (true, false) => Some(("onnx.Min", high)),
        (false, true) => Some(("onnx.Max", low)),
        (false, false) => None,
    };
    if let Some((name, end)) = one_side {
        NoMatch::unless(opset >= 8)?;
        let end = r.scalar(dtype, end)?.ok_or(NoMatch)?;
        return r.op(OpBuilder::new(name).operands([x, end]));
    }
    let clip = OpBuilder::new("onnx.Clip").operand(x);
    if opset < 11 {
        let (from, to) = (low as f32, high as f32);
        let is_same = f64::from(from) == low && f64::from(to) == high;
        NoMatch::unless(opset >= 6 && is_same)?;
        return r.op(clip.attr("min", from).attr("max", to));
    }
    let mut operands = Vec::new();
    for (end, left_out) in [(low, all.low), (high, all.high)] {
        operands.push(match end == left_out {
            true => ValueId::NONE,
            false => r.scalar(dtype, end)?.ok_or(NoMatch)?,
        });
    }
    while operands.last().is_some_and(|last| last.is_none()) {
        operands.pop();
    }
    r.op(clip.operands(operands))
}

/// Flattens nested `Min`s or `Max`s with one use, and removes duplicate operands.
fn flatten(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (y, xs) = (m.root(), m.values("xs"));
    let name = f.name(y);
    NoMatch::unless(f.opset("") >= Some(8))?;
    let mut all = Vec::new();
    for &x in xs {
        match defined_by(f, x, name).filter(|_| f.use_count(x) == 1) {
            Some(op) => all.extend(f.operands(op)),
            None => all.push(x),
        }
    }
    let mut seen = Vec::new();
    for &value in &all {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    NoMatch::unless(seen != xs && all.len() <= MAX_OPERANDS)?;
    let new_op = OpBuilder::new(f.symbol(y)).operands(seen);
    Ok(Some(vec![r.op(new_op)?]))
}
