//! Bodies of reductions: what is done to the elements, a sum, what is done to that.

use passdock_plugin_api::DType;

use super::{Body, is_float, line};
use crate::infer::{Answer, Infer};

/// `%sum` of `%{x}` over the op's axes.
fn sum(op: &Infer, body: &mut Body, x: &str) -> Answer {
    let keepdims = op.int_or("keepdims", 1)?;
    if op.version >= 18 {
        let noop = op.int_or("noop_with_empty_axes", 0)?;
        let axes = if op.has(1) { ", %axes" } else { "" };
        let attrs = format!("keepdims = {keepdims}, noop_with_empty_axes = {noop}");
        line!(body, "%sum = onnx.ReduceSum(%{x}{axes}) {{{attrs}}}");
    } else {
        let axes = op.ints("axes")?.unwrap_or_default();
        body.reduce_to("sum", "ReduceSum", x, &axes, keepdims != 0);
    }
    Ok(())
}

fn of_data(op: &Infer) -> Answer<(Body, DType)> {
    Ok((Body::of(op, &["x", "axes"]), op.dtype(0)?))
}

/// The sum of absolute values.
pub(crate) fn l1(op: &Infer) -> Answer<String> {
    let (mut body, _) = of_data(op)?;
    line!(body, "%abs = onnx.Abs(%x)");
    sum(op, &mut body, "abs")?;
    body.gives(&["sum"])
}

/// The root of the sum of squares; of integers and halves by way of float.
pub(crate) fn l2(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_data(op)?;
    line!(body, "%squares = onnx.Mul(%x, %x)");
    sum(op, &mut body, "squares")?;
    if matches!(ty, DType::F32 | DType::F64) {
        line!(body, "%y = onnx.Sqrt(%sum)");
    } else {
        line!(body, "%wide = onnx.Cast(%sum) {{to = {}}}", DType::F32.0);
        line!(body, "%root = onnx.Sqrt(%wide)");
        line!(body, "%y = onnx.Cast(%root) {{to = {}}}", ty.0);
    }
    body.gives(&["y"])
}

/// The logarithm of the sum.
pub(crate) fn log_sum(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_data(op)?;
    if !is_float(ty) {
        return crate::infer::wrong!("integers have no logarithm in its body");
    }
    sum(op, &mut body, "x")?;
    line!(body, "%y = onnx.Log(%sum)");
    body.gives(&["y"])
}

/// The logarithm of the sum of exponentials, in double precision.
pub(crate) fn log_sum_exp(op: &Infer) -> Answer<String> {
    let (mut body, ty) = of_data(op)?;
    body.cast("wide", "x", ty, DType::F64);
    line!(body, "%exp = onnx.Exp(%wide)");
    sum(op, &mut body, "exp")?;
    line!(body, "%log = onnx.Log(%sum)");
    body.cast("y", "log", DType::F64, ty);
    body.gives(&["y"])
}

/// The sum of squares.
pub(crate) fn sum_square(op: &Infer) -> Answer<String> {
    let (mut body, _) = of_data(op)?;
    line!(body, "%squares = onnx.Mul(%x, %x)");
    sum(op, &mut body, "squares")?;
    body.gives(&["sum"])
}
