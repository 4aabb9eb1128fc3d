//! Softmax: exponentials divided by their sum.

use passdock_plugin_api::prelude::*;

use crate::shared::read::{axis_from_last, int_or, one_axis};

/// Along the last axis, where the operator is as fast as the ops.
pub(super) static SOFTMAX: Rules = rules! {
    rule softmax {
        %e = onnx.Exp(%x)
        %s = onnx.ReduceSum(%e, %axes...) {keepdims = 1}
        %y = onnx.Div(%e, %s) where opset >= 13, float(%x), uses(%e) == 2, uses(%s) == 1
    } => |r, m| over_sum(r, m, "onnx.Softmax", true);
    rule softmax_of_difference {
        %m = onnx.ReduceMax(%x, %axes...) {keepdims = 1}
        %d = onnx.Sub(%x, %m)
        %y = onnx.Softmax(%d) where opset >= 13, uses(%m) == 1, uses(%d) == 1
    } => |r, m| shifted(r, m, "onnx.Softmax");
};

/// Along any other axis.
pub(super) static SOFTMAX_INNER_AXIS: Rules = rules! {
    rule softmax_inner_axis {
        %e = onnx.Exp(%x)
        %s = onnx.ReduceSum(%e, %axes...) {keepdims = 1}
        %y = onnx.Div(%e, %s) where opset >= 13, float(%x), uses(%e) == 2, uses(%s) == 1
    } => |r, m| over_sum(r, m, "onnx.Softmax", false);
};

/// The logarithm of a softmax, exact even where the softmax underflows.
pub(super) static LOG_SOFTMAX: Rules = rules! {
    rule log_softmax {
        %s = onnx.Softmax(%x) {axis = $axis}
        onnx.Log(%s) => onnx.LogSoftmax(%x) {axis = $axis} where uses(%s) == 1, float(%x)
    }
    rule log_softmax_of_sum {
        %e = onnx.Exp(%x)
        %s = onnx.ReduceSum(%e, %axes...) {keepdims = 1}
        %l = onnx.Log(%s)
        %y = onnx.Sub(%x, %l) where opset >= 13, float(%x), uses(%e) == 1, uses(%s) == 1, uses(%l) == 1
    } => |r, m| over_sum(r, m, "onnx.LogSoftmax", true);
    rule log_softmax_of_difference {
        %m = onnx.ReduceMax(%x, %axes...) {keepdims = 1}
        %d = onnx.Sub(%x, %m)
        %y = onnx.LogSoftmax(%d) where opset >= 13, uses(%m) == 1, uses(%d) == 1
    } => |r, m| shifted(r, m, "onnx.LogSoftmax");
};

/// Builds a softmax from exponentials divided by their sum.
fn over_sum(r: &mut Rewriter<'_>, m: &Match<'_>, name: &'static str, is_last: bool) -> Rewritten {
    let f = r.function();
    let x = m.value(f, "x");
    let axis = axis_from_last(f, x, one_axis(f, m.op("s"))?)?;
    NoMatch::unless((axis == -1) == is_last)?;
    let new_op = OpBuilder::new(name).operand(x).attr("axis", axis);
    Ok(Some(vec![r.op(new_op)?]))
}

/// Removes the subtraction of the maximum: a softmax subtracts it itself.
fn shifted(r: &mut Rewriter<'_>, m: &Match<'_>, name: &'static str) -> Rewritten {
    let f = r.function();
    let x = m.value(f, "x");
    let own = int_or(f, m.op("y"), "axis", -1).ok_or(NoMatch)?;
    let axis = axis_from_last(f, x, one_axis(f, m.op("m"))?)?;
    NoMatch::unless(axis == axis_from_last(f, x, own)?)?;
    let new_op = OpBuilder::new(name).operand(x).attr("axis", axis);
    Ok(Some(vec![r.op(new_op)?]))
}
