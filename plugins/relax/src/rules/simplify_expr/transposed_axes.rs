//! Moves Transposes past ops that have axes, and renumbers the axes.

use passdock_plugin_api::prelude::*;

use super::slices;
use super::transposes::find_equal_op;
use crate::rules::shared::pads::pads;
use crate::shared::read::{
    self, axes_in, axis, int_or, ints_of, is, is_any, like, operand, with_axes,
};

const REDUCTIONS: [&str; 10] = [
    "onnx.ReduceMean",
    "onnx.ReduceSum",
    "onnx.ReduceMax",
    "onnx.ReduceMin",
    "onnx.ReduceProd",
    "onnx.ReduceL1",
    "onnx.ReduceL2",
    "onnx.ReduceSumSquare",
    "onnx.ReduceLogSum",
    "onnx.ReduceLogSumExp",
];

pub(super) fn is_reduction(f: &Function, op: OpId) -> bool {
    is_any(f, op, &REDUCTIONS) || is_arg(f, op)
}

fn is_arg(f: &Function, op: OpId) -> bool {
    is_any(f, op, &["onnx.ArgMax", "onnx.ArgMin"])
}

/// Whether an op is a softmax along one axis. Before opset 13, it normalizes over all axes from `axis` on.
fn is_softmax(f: &Function, op: OpId) -> bool {
    let names = ["onnx.Softmax", "onnx.LogSoftmax", "onnx.Hardmax"];
    f.opset("") >= Some(13) && is_any(f, op, &names)
}

/// Whether an op quantizes per tensor or per axis, without blocks.
fn is_quantization(f: &Function, op: OpId) -> bool {
    let is_plain = |name| matches!(f.attr(op, name), None | Some(Attr::Unset | Attr::Int(0)));
    is_any(f, op, &["onnx.QuantizeLinear", "onnx.DequantizeLinear"]) && is_plain("block_size")
}

/// Whether [`moved`] supports an op.
pub(super) fn may_move(f: &Function, op: OpId) -> bool {
    is_any(f, op, &["onnx.Slice", "onnx.Pad", "onnx.Split"])
        || is_softmax(f, op)
        || is_quantization(f, op)
        || is_reduction(f, op) && int_or(f, op, "keepdims", 1) == Some(1)
}

/// Returns the axes that a reduction reduces, for an operand of this rank.
pub(super) fn reduced(f: &Function, op: OpId, rank: usize) -> Result<Vec<usize>, EditError> {
    if is_arg(f, op) {
        return Ok(vec![axis(f, op, 0, rank)?]);
    }
    let given = ints_of(f, op, 1, "axes")?
        .ok_or(NoMatch)?
        .unwrap_or_default();
    if !given.is_empty() {
        return Ok(axes_in(&given, rank).ok_or(NoMatch)?);
    }
    NoMatch::unless(int_or(f, op, "noop_with_empty_axes", 0) == Some(0))?;
    Ok((0..rank).collect())
}

/// Builds a copy of a reduction with another operand and other axes.
pub(super) fn reduce(
    r: &mut Rewriter<'_>,
    op: OpId,
    value: ValueId,
    axes: &[i64],
) -> Result<ValueId, EditError> {
    let f = r.function();
    if is_arg(f, op) {
        let new_op = like(f, op, &["axis"])?.operand(value);
        return r.op(new_op.attr("axis", axes[0]));
    }
    let since = if is(f, op, "onnx.ReduceSum") { 13 } else { 18 };
    let new_op = like(f, op, &["axes"])?.operand(value);
    with_axes(r, new_op, axes, since)
}

/// Builds a copy of the op that defines `result` with the operand `value`. `last` is the permutation of its axes.
pub(super) fn moved(
    r: &mut Rewriter<'_>,
    root: OpId,
    result: ValueId,
    value: ValueId,
    last: &[i64],
) -> Result<ValueId, EditError> {
    let f = r.function();
    let op = f.defining_op(result).ok_or(NoMatch)?;
    let index = f.index(result);
    let rank = last.len();
    let moved = |axis: usize| {
        let at = last.iter().position(|from| *from == axis as i64);
        at.ok_or(NoMatch)
    };
    let axis = |default: i64| -> Result<i64, NoMatch> {
        Ok(moved(read::axis(f, op, default, rank)?)? as i64)
    };
    if is(f, op, "onnx.Slice") {
        let mut ranges = slices::ranges(f, op)?;
        for range in &mut ranges {
            range.axis = moved(range.axis)?;
        }
        return slices::make(r, value, &ranges);
    }
    if is(f, op, "onnx.Pad") {
        let old = pads(f, op)?;
        NoMatch::unless(old.len() == 2 * rank)?;
        let from = |at: usize| old[at / rank * rank + last[at % rank] as usize];
        let pads: Vec<i64> = (0..2 * rank).map(from).collect();
        return super::pads::make(r, value, &pads, op);
    }
    if is(f, op, "onnx.Split") {
        let axis = axis(0)?;
        let mut operands: Vec<ValueId> = f.operands(op).collect();
        operands[0] = value;
        if let Some(equal_op) = find_equal_op(f, root, op, &operands, Some(axis)) {
            return Ok(r.function().result(equal_op, index));
        }
        let new_op = like(f, op, &["axis"])?
            .operands(operands)
            .attr("axis", axis);
        let results = r.op_results(new_op.untyped_results(f.result_count(op)))?;
        return Ok(results[index]);
    }
    if is_quantization(f, op) {
        let rest: Vec<ValueId> = f.operands(op).skip(1).collect();
        let new_op = like(f, op, &["axis"])?.operand(value).operands(rest);
        let new_op = match f.rank(operand(f, op, 1)) {
            Some(0) => new_op,
            Some(1) if f.opset("") >= Some(13) => new_op.attr("axis", axis(1)?),
            _ => return Err(NoMatch.into()),
        };
        return r.op(new_op);
    }
    if is_softmax(f, op) {
        let new_op = like(f, op, &["axis"])?.operand(value);
        return r.op(new_op.attr("axis", axis(-1)?));
    }
    let axes = reduced(f, op, rank)?.into_iter();
    let axes: Result<Vec<i64>, NoMatch> = axes.map(|axis| Ok(moved(axis)? as i64)).collect();
    reduce(r, op, value, &axes?)
}
