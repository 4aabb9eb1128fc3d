//! Reductions of elementwise results, and elementwise functions of reductions.

use passdock_plugin_api::prelude::*;

use crate::shared::read::{int_or, ints_of, with_axes};

pub(super) static SUM_SQUARE: Rules = rules! {
    rule reduce_sum_square {
        %p = onnx.Pow(%x, 2)
        %q = (onnx.Mul(%x, %x) | %p)
        %s = onnx.ReduceSum(%q, %axes...) where float(%x), uses(%q) == 1, broadcasts_to(%p, %x)
    } => |r, m| reduce(r, m, "onnx.ReduceSumSquare");
};

pub(super) static L2: Rules = rules! {
    rule reduce_l2 {
        %s = onnx.ReduceSumSquare(%x, %axes...)
        onnx.Sqrt(%s) where float(%x), uses(%s) == 1
    } => |r, m| reduce(r, m, "onnx.ReduceL2");
    rule reduce_l2_of_square {
        %p = onnx.Pow(%x, 2)
        %q = (onnx.Mul(%x, %x) | %p)
        %s = onnx.ReduceSum(%q, %axes...)
        onnx.Sqrt(%s) where float(%x), uses(%q) == 1, uses(%s) == 1, broadcasts_to(%p, %x)
    } => |r, m| reduce(r, m, "onnx.ReduceL2");
};

pub(super) static L1: Rules = rules! {
    rule reduce_l1 {
        %q = onnx.Abs(%x)
        %s = onnx.ReduceSum(%q, %axes...) where float(%x), uses(%q) == 1
    } => |r, m| reduce(r, m, "onnx.ReduceL1");
};

pub(super) static LOG_SUM_EXP: Rules = rules! {
    rule reduce_log_sum_exp {
        %e = onnx.Exp(%x)
        %s = onnx.ReduceSum(%e, %axes...)
        onnx.Log(%s) where float(%x), uses(%e) == 1, uses(%s) == 1
    } => |r, m| reduce(r, m, "onnx.ReduceLogSumExp");
};

pub(super) static LOG_SUM: Rules = rules! {
    rule reduce_log_sum {
        %s = onnx.ReduceSum(%x, %axes...)
        onnx.Log(%s) where float(%x), uses(%s) == 1
    } => |r, m| reduce(r, m, "onnx.ReduceLogSum");
};

/// Builds another reduction along the same axes. The axes are an operand of `ReduceSum` since opset 13, and of the
/// other reductions since 18.
fn reduce(r: &mut Rewriter<'_>, m: &Match<'_>, name: &'static str) -> Rewritten {
    let f = r.function();
    let (x, sum, opset) = (m.value(f, "x"), m.op("s"), f.opset("").unwrap_or(0));
    let keeps = int_or(f, sum, "keepdims", 1).ok_or(NoMatch)?;
    NoMatch::unless(int_or(f, sum, "noop_with_empty_axes", 0) == Some(0))?;
    let new_op = OpBuilder::new(name).operand(x).attr("keepdims", keeps);
    let new_op = match ints_of(f, sum, 1, "axes")? {
        // Unknown axes are an operand.
        None if opset >= 18 => new_op.operands(m.values("axes").to_vec()),
        None => return Ok(None),
        Some(None) => new_op,
        // An empty list means all axes.
        Some(Some(axes)) if axes.is_empty() => new_op,
        Some(Some(axes)) => return Ok(Some(vec![with_axes(r, new_op, &axes, 18)?])),
    };
    Ok(Some(vec![r.op(new_op)?]))
}
