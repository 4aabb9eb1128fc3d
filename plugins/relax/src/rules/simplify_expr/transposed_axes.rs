//! Ops that work along axes, on what is transposed: their axes are where they were moved from.

use passdock_plugin_api::prelude::*;

use super::slices::{self, Range};
use super::transposes::twin;
use crate::rules::shared::pads::pads;
use crate::rules::shared::read::{axes_in, axis_in, int_or, ints_of, is, like};

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

fn is_any(f: &Function, op: OpId, names: &[&str]) -> bool {
    names.iter().any(|name| is(f, op, name))
}

pub(super) fn is_reduction(f: &Function, op: OpId) -> bool {
    is_any(f, op, &REDUCTIONS) || is_arg(f, op)
}

fn is_arg(f: &Function, op: OpId) -> bool {
    is_any(f, op, &["onnx.ArgMax", "onnx.ArgMin"])
}

/// Whether an op is a softmax along one axis. Before opset 13 it is one of all axes from there on.
fn is_softmax(f: &Function, op: OpId) -> bool {
    let names = ["onnx.Softmax", "onnx.LogSoftmax", "onnx.Hardmax"];
    f.opset("") >= Some(13) && is_any(f, op, &names)
}

/// Whether an op's numbers are along no axis, or along one that its attribute says.
fn is_quantization(f: &Function, op: OpId) -> bool {
    let is_plain = |name| matches!(f.attr(op, name), None | Some(Attr::Unset | Attr::Int(0)));
    is_any(f, op, &["onnx.QuantizeLinear", "onnx.DequantizeLinear"]) && is_plain("block_size")
}

/// Whether an op works along axes that `moved` can move.
pub(super) fn may_move(f: &Function, op: OpId) -> bool {
    is_any(f, op, &["onnx.Slice", "onnx.Pad", "onnx.Split"])
        || is_softmax(f, op)
        || is_quantization(f, op)
        || is_reduction(f, op) && int_or(f, op, "keepdims", 1) == Some(1)
}

/// The axes that a reduction of a tensor of this rank reduces.
pub(super) fn reduced(
    f: &Function,
    op: OpId,
    rank: usize,
) -> Result<Option<Vec<usize>>, EditError> {
    if is_arg(f, op) {
        let axis = int_or(f, op, "axis", 0).and_then(|axis| axis_in(axis, rank));
        return Ok(axis.map(|axis| vec![axis]));
    }
    let Some(given) = ints_of(f, op, 1, "axes")? else {
        return Ok(None);
    };
    let given = given.unwrap_or_default();
    if !given.is_empty() {
        return Ok(axes_in(&given, rank));
    }
    let does_nothing = int_or(f, op, "noop_with_empty_axes", 0) != Some(0);
    Ok((!does_nothing).then(|| (0..rank).collect()))
}

/// An op like a reduction, of other axes of another value.
pub(super) fn reduce(
    r: &mut Rewriter<'_>,
    op: OpId,
    value: ValueId,
    axes: &[i64],
) -> Result<Option<ValueId>, EditError> {
    let f = r.function();
    let name = if is_arg(f, op) { "axis" } else { "axes" };
    let Some(made) = like(f, op, &[name]) else {
        return Ok(None);
    };
    let made = made.operand(value);
    if is_arg(f, op) {
        return r.op(made.attr("axis", axes[0])).map(Some);
    }
    let takes_operand = match is(f, op, "onnx.ReduceSum") {
        true => f.opset("") >= Some(13),
        false => f.opset("") >= Some(18),
    };
    let made = match takes_operand {
        true => made.operand(r.ints(axes)?),
        false => made.attr("axes", axes),
    };
    r.op(made).map(Some)
}

/// What an op that makes a result makes of a value instead, whose axes are where `last` puts them.
pub(super) fn moved(
    r: &mut Rewriter<'_>,
    root: OpId,
    result: ValueId,
    value: ValueId,
    last: &[i64],
) -> Result<Option<ValueId>, EditError> {
    let f = r.function();
    let Some(op) = f.defining_op(result) else {
        return Ok(None);
    };
    let index = f.index(result);
    let rank = last.len();
    let moved = |axis: usize| last.iter().position(|from| *from == axis as i64);
    let axis = |default: i64| {
        let axis = int_or(f, op, "axis", default).and_then(|axis| moved(axis_in(axis, rank)?));
        axis.map(|axis| axis as i64)
    };
    if is(f, op, "onnx.Slice") {
        let ranges = slices::ranges(f, op)?.and_then(|ranges| {
            let range = |range: Range| {
                let axis = moved(range.axis)?;
                Some(Range { axis, ..range })
            };
            ranges.into_iter().map(range).collect::<Option<Vec<_>>>()
        });
        return match ranges {
            Some(ranges) => slices::make(r, value, &ranges),
            None => Ok(None),
        };
    }
    if is(f, op, "onnx.Pad") {
        let Some(old) = pads(f, op)?.filter(|pads| pads.len() == 2 * rank) else {
            return Ok(None);
        };
        let from =
            |at: &usize| usize::try_from(last[*at % rank]).map(|axis| old[at / rank * rank + axis]);
        let Ok(pads) = (0..2 * rank)
            .map(|at| from(&at))
            .collect::<Result<Vec<i64>, _>>()
        else {
            return Ok(None);
        };
        return super::pads::make(r, value, &pads, op);
    }
    if is(f, op, "onnx.Split") {
        let Some(axis) = axis(0) else {
            return Ok(None);
        };
        let mut operands: Vec<ValueId> = f.operands(op).collect();
        operands[0] = value;
        if let Some(twin) = twin(f, root, op, &operands, Some(axis)) {
            return Ok(r.function().results(twin).get(index).copied());
        }
        let Some(made) = like(f, op, &["axis"]) else {
            return Ok(None);
        };
        let made = made.operands(operands).attr("axis", axis);
        let first = r.op(made.untyped_results(f.result_count(op)))?;
        return Ok(crate::rules::shared::read::results(r.function(), first)
            .get(index)
            .copied());
    }
    if is_quantization(f, op) {
        let scale = f.operand(op, 1).and_then(|scale| f.rank(scale));
        let rest: Vec<ValueId> = f.operands(op).skip(1).collect();
        let (Some(made), Some(scale)) = (like(f, op, &["axis"]), scale) else {
            return Ok(None);
        };
        let made = made.operand(value).operands(rest);
        let made = match (scale, axis(1)) {
            (0, _) => made,
            (1, Some(axis)) if f.opset("") >= Some(13) => made.attr("axis", axis),
            _ => return Ok(None),
        };
        return r.op(made).map(Some);
    }
    if is_softmax(f, op) {
        let made = axis(-1).zip(like(f, op, &["axis"]));
        let made = made.map(|(axis, made)| made.operand(value).attr("axis", axis));
        return made.map(|made| r.op(made)).transpose();
    }
    let axes = reduced(f, op, rank)?.and_then(|axes| {
        let axes = axes.into_iter();
        axes.map(|axis| moved(axis).map(|axis| axis as i64))
            .collect::<Option<Vec<i64>>>()
    });
    match axes {
        Some(axes) => reduce(r, op, value, &axes),
        None => Ok(None),
    }
}
