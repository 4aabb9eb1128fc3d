//! Softmax: exponentials divided by their sum.

use passdock_plugin_api::prelude::*;

/// Along the last axis, where the operator is as fast as the ops.
pub(super) static SOFTMAX: Rules = rules! {
    rule softmax {
        %e = onnx.Exp(%x)
        %s = onnx.ReduceSum(%e, [$axis]) {keepdims = 1}
        onnx.Div(%e, %s) => onnx.Softmax(%x) {axis = -1}
            where opset >= 13, float(%x), uses(%e) == 2, uses(%s) == 1, axis($axis, %x) == -1
    }
    rule softmax_of_difference {
        %m = (onnx.ReduceMax(%x, [$axis]) {keepdims = 1} | onnx.ReduceMax(%x) {axes = [$axis], keepdims = 1})
        %d = onnx.Sub(%x, %m)
        onnx.Softmax(%d) {axis = $own} => onnx.Softmax(%x) {axis = $own}
            where opset >= 13, uses(%m) == 1, uses(%d) == 1, axis($axis, %x) == axis($own, %x)
    }
};

/// Along any other axis.
pub(super) static SOFTMAX_INNER_AXIS: Rules = rules! {
    rule softmax_inner_axis {
        %e = onnx.Exp(%x)
        %s = onnx.ReduceSum(%e, [$axis]) {keepdims = 1}
        onnx.Div(%e, %s) => onnx.Softmax(%x) {axis = $axis}
            where opset >= 13, float(%x), uses(%e) == 2, uses(%s) == 1, axis($axis, %x) != -1
    }
};

/// The logarithm of a softmax, exact even where the softmax underflows.
pub(super) static LOG_SOFTMAX: Rules = rules! {
    rule log_softmax {
        %s = onnx.Softmax(%x) {axis = $axis}
        onnx.Log(%s) => onnx.LogSoftmax(%x) {axis = $axis} where uses(%s) == 1, float(%x)
    }
    rule log_softmax_of_sum {
        %e = onnx.Exp(%x)
        %s = onnx.ReduceSum(%e, [$axis]) {keepdims = 1}
        %l = onnx.Log(%s)
        onnx.Sub(%x, %l) => onnx.LogSoftmax(%x) {axis = -1}
            where opset >= 13, float(%x), uses(%e) == 1, uses(%s) == 1, uses(%l) == 1, axis($axis, %x) == -1
    }
    rule log_softmax_of_difference {
        %m = (onnx.ReduceMax(%x, [$axis]) {keepdims = 1} | onnx.ReduceMax(%x) {axes = [$axis], keepdims = 1})
        %d = onnx.Sub(%x, %m)
        onnx.LogSoftmax(%d) {axis = $own} => onnx.LogSoftmax(%x) {axis = $own}
            where opset >= 13, uses(%m) == 1, uses(%d) == 1, axis($axis, %x) == axis($own, %x)
    }
};
