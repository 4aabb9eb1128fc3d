//! Bodies of normalizations, and of what makes shares of numbers.

use passdock_plugin_api::DType;

use super::{Body, line, needs};
use crate::infer::{Answer, Infer, Stop};

/// `exp(x - max) / sum`, along an axis.
pub(crate) fn softmax(op: &Infer) -> Answer<String> {
    let mut body = shares(op)?;
    line!(body, "%y = onnx.Div(%exp, %sum)");
    unflattened(op, body)
}

/// `x - max - log(sum)`, along an axis.
pub(crate) fn log_softmax(op: &Infer) -> Answer<String> {
    let mut body = shares(op)?;
    line!(body, "%log = onnx.Log(%sum)");
    line!(body, "%y = onnx.Sub(%moved, %log)");
    unflattened(op, body)
}

/// `%moved` below 0, `%exp` of it, and the `%sum` of that.
fn shares(op: &Infer) -> Answer<Body> {
    let mut body = Body::of(op, &["x"]);
    let axis = op.int_or("axis", -1)?;
    let (x, axis) = if op.version >= 13 {
        ("x", axis)
    } else {
        // All dims from the axis on count as one.
        line!(body, "%flat = onnx.Flatten(%x) {{axis = {axis}}}");
        ("flat", 1)
    };
    body.reduce("max", "ReduceMax", x, &[axis]);
    line!(body, "%moved = onnx.Sub(%{x}, %max)");
    line!(body, "%exp = onnx.Exp(%moved)");
    body.reduce("sum", "ReduceSum", "exp", &[axis]);
    Ok(body)
}

fn unflattened(op: &Infer, mut body: Body) -> Answer<String> {
    if op.version >= 13 {
        return body.gives(&["y"]);
    }
    line!(body, "%shape = onnx.Shape(%x)");
    line!(body, "%whole = onnx.Reshape(%y, %shape)");
    body.gives(&["whole"])
}

/// The type that is computed in.
fn stash(op: &Infer) -> Answer<DType> {
    Ok(DType(
        u32::try_from(op.int_or("stash_type", 1)?).unwrap_or(0),
    ))
}

/// The axes from the op's axis to the last.
fn axes_from(op: &Infer) -> Answer<Vec<i64>> {
    let axis = op.int_or("axis", -1)?;
    match op.dims(0) {
        Some(dims) => {
            let first = op.axis(axis, dims.len())?;
            Ok((first as i64..dims.len() as i64).collect())
        }
        None if axis < 0 => Ok((axis..0).collect()),
        None => Err(Stop::Unknown),
    }
}

/// Computes `%normal`, the distance from `%mean` in units of `%deviation`, given `%epsilon`.
fn normal(body: &mut Body, x: &str, axes: &[i64]) {
    body.reduce("mean", "ReduceMean", x, axes);
    line!(body, "%squares = onnx.Mul(%{x}, %{x})");
    body.reduce("mean_of_squares", "ReduceMean", "squares", axes);
    line!(body, "%square_of_mean = onnx.Mul(%mean, %mean)");
    line!(
        body,
        "%variance = onnx.Sub(%mean_of_squares, %square_of_mean)"
    );
    line!(body, "%above_zero = onnx.Add(%variance, %epsilon)");
    line!(body, "%deviation = onnx.Sqrt(%above_zero)");
    line!(body, "%distance = onnx.Sub(%{x}, %mean)");
    line!(body, "%normal = onnx.Div(%distance, %deviation)");
}

/// The distance from the mean in standard deviations, scaled and moved.
pub(crate) fn layer(op: &Infer) -> Answer<String> {
    let (ty, wide, axes) = (op.dtype(0)?, stash(op)?, axes_from(op)?);
    let mut body = Body::of(op, &["x", "scale", "b"]);
    body.scalar("epsilon", wide, f64::from(op.float_or("epsilon", 1e-5)?))?;
    body.cast("wide", "x", ty, wide);
    normal(&mut body, "wide", &axes);
    body.cast("narrow", "normal", wide, ty);
    line!(body, "%scaled = onnx.Mul(%narrow, %scale)");
    let mut y = "scaled";
    if op.has(2) {
        line!(body, "%y = onnx.Add(%scaled, %b)");
        y = "y";
    }
    if op.host.result_count() < 3 {
        return body.gives(&[y, "mean"]);
    }
    line!(body, "%inverse = onnx.Reciprocal(%deviation)");
    body.gives(&[y, "mean", "inverse"])
}

/// The operand divided by the root of its mean square, scaled.
pub(crate) fn rms(op: &Infer) -> Answer<String> {
    let (ty, to, wide, axes) = (op.dtype(0)?, op.dtype(1)?, stash(op)?, axes_from(op)?);
    let mut body = Body::of(op, &["x", "scale"]);
    body.scalar("epsilon", wide, f64::from(op.float_or("epsilon", 1e-5)?))?;
    body.cast("wide", "x", ty, wide);
    line!(body, "%squares = onnx.Mul(%wide, %wide)");
    body.reduce("mean", "ReduceMean", "squares", &axes);
    line!(body, "%above_zero = onnx.Add(%mean, %epsilon)");
    line!(body, "%root = onnx.Sqrt(%above_zero)");
    line!(body, "%normal = onnx.Div(%wide, %root)");
    body.cast("narrow", "normal", wide, to);
    line!(body, "%y = onnx.Mul(%narrow, %scale)");
    body.gives(&["y"])
}

/// As [`layer`], over groups of channels; before version 21 scale and bias are the groups'.
pub(crate) fn group(op: &Infer) -> Answer<String> {
    needs(op, 18)?;
    let ty = op.dtype(0)?;
    let wide = if op.version >= 21 { stash(op)? } else { ty };
    let Some(groups) = op.int("num_groups")? else {
        return Err(Stop::Unknown);
    };
    let mut body = Body::of(op, &["x", "scale", "b"]);
    body.scalar("epsilon", wide, f64::from(op.float_or("epsilon", 1e-5)?))?;
    body.ints("by_group", &[0, groups, -1]);
    body.ints("by_channel", &[0, 0, -1]);
    body.ints("beside", &[1, -1, 1]);
    line!(body, "%shape = onnx.Shape(%x)");
    body.cast("wide", "x", ty, wide);
    line!(body, "%grouped = onnx.Reshape(%wide, %by_group)");
    normal(&mut body, "grouped", &[2]);
    let mut flat = "normal";
    if op.version >= 21 {
        line!(body, "%whole = onnx.Reshape(%normal, %shape)");
        line!(body, "%channels = onnx.Reshape(%whole, %by_channel)");
        flat = "channels";
    }
    body.cast("narrow", flat, wide, ty);
    line!(body, "%scale_beside = onnx.Reshape(%scale, %beside)");
    line!(body, "%b_beside = onnx.Reshape(%b, %beside)");
    line!(body, "%scaled = onnx.Mul(%scale_beside, %narrow)");
    line!(body, "%biased = onnx.Add(%scaled, %b_beside)");
    line!(body, "%y = onnx.Reshape(%biased, %shape)");
    body.gives(&["y"])
}

/// The distance from the mean in standard deviations.
pub(crate) fn mean_variance(op: &Infer) -> Answer<String> {
    let ty = op.dtype(0)?;
    let axes = op.ints("axes")?.unwrap_or_default().into_owned();
    let mut body = Body::of(op, &["x"]);
    body.scalar("two", ty, 2.0)?;
    body.scalar("epsilon", ty, 1e-9)?;
    body.reduce("mean", "ReduceMean", "x", &axes);
    line!(body, "%square_of_mean = onnx.Pow(%mean, %two)");
    line!(body, "%squares = onnx.Pow(%x, %two)");
    body.reduce("mean_of_squares", "ReduceMean", "squares", &axes);
    line!(
        body,
        "%variance = onnx.Sub(%mean_of_squares, %square_of_mean)"
    );
    line!(body, "%deviation = onnx.Sqrt(%variance)");
    line!(body, "%distance = onnx.Sub(%x, %mean)");
    line!(body, "%above_zero = onnx.Add(%deviation, %epsilon)");
    line!(body, "%y = onnx.Div(%distance, %above_zero)");
    body.gives(&["y"])
}
