//! Normalization by mean and variance, or by the root mean square.

use half::{bf16, f16};
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::rewrite::broadcasts_to;

use super::factors::by_factors;
use crate::rules::shared::checks::becomes_dead;
use crate::rules::shared::spread::{Spread, centered, spread};
use crate::shared::read::{defined_by, like, operand};

/// `(x - mean(x)) / √(var(x) + epsilon)` along the last axes, then a scale and a bias.
pub(super) static LAYER_NORM: Rules = rules! {
    rule layer_norm {
        %y = onnx.Div|onnx.Mul(%a, %b) where opset >= 17, dtype(%y) in [f32, f16, bf16]
    } => |r, m| norm(r, m, Kind::Layer);
    rule layer_norm_by_factors {
        %y = onnx.Add|onnx.Sub(%a, %b) where opset >= 17, dtype(%y) in [f32, f16, bf16]
    } => by_factors;
    rule layer_norm_scale {
        %n = onnx.LayerNormalization(%x, %ones)
        %y = onnx.Mul(%n, %scale)
    } => take_scale;
    rule layer_norm_bias {
        %n = onnx.LayerNormalization(%x, %scale)
        %y = onnx.Add(%n, %bias)
    } => take_bias;
    rule layer_norm_of_cast {
        %n = onnx.LayerNormalization(onnx.Cast(%x), %parameters...) {stash_type = 1}
        %y = onnx.Cast|onnx.CastLike(%n, %like...)
    } => without_casts;
};

/// The same for float64. The rules of [`LAYER_NORM`] fold the scale and bias.
pub(super) static LAYER_NORM_OF_DOUBLES: Rules = rules! {
    rule layer_norm_of_doubles {
        %y = onnx.Div|onnx.Mul(%a, %b) where opset >= 17, dtype(%y) == f64
    } => |r, m| norm(r, m, Kind::Layer);
    rule layer_norm_of_doubles_by_factors {
        %y = onnx.Add|onnx.Sub(%a, %b) where opset >= 17, dtype(%y) == f64
    } => by_factors;
};

/// `x / √(mean(x²) + epsilon)` along the last axes, then a scale.
pub(super) static RMS_NORM: Rules = rules! {
    rule rms_norm {
        %y = onnx.Div|onnx.Mul(%a, %b) where opset >= 23, float(%y)
    } => |r, m| norm(r, m, Kind::Rms);
    rule rms_norm_scale {
        %n = onnx.RMSNormalization(%x, %ones)
        %y = onnx.Mul(%n, %scale)
    } => take_scale;
    rule rms_norm_of_cast {
        %n = onnx.RMSNormalization(onnx.Cast(%x), %parameters...) {stash_type = 1}
        %y = onnx.Cast|onnx.CastLike(%n, %like...)
    } => without_casts;
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Layer,
    Rms,
}

/// Builds the normalization with a scale of ones, which later rules replace.
fn norm(r: &mut Rewriter<'_>, m: &Match<'_>, kind: Kind) -> Rewritten {
    let spread = spread(r.function(), m.root())?;
    let f = r.function();
    let centered = centered(f, spread.x, &spread.axes)?;
    let x = match kind {
        Kind::Layer => centered,
        // This is a layer normalization, which has an operator in all opsets that have this one.
        Kind::Rms if centered.is_some() => None,
        Kind::Rms => Some(spread.x),
    };
    let x = x
        .filter(|_| becomes_dead(f, m.root(), spread.mean))
        .ok_or(NoMatch)?;
    let dims = last_dims(f, x, spread.axes.len()).ok_or(NoMatch)?;
    let dtype = f.dtype(x).ok_or(NoMatch)?;
    let ones = splat(r, dtype, 1.0, &dims)?;
    let name = match kind {
        Kind::Layer => "onnx.LayerNormalization",
        Kind::Rms => "onnx.RMSNormalization",
    };
    let new_op = make(name, dtype, &spread).operands([x, ones]);
    Ok(Some(vec![r.op(new_op)?]))
}

/// Returns the sizes of the last dims, if they are constant and above 0.
pub(super) fn last_dims(f: &Function, value: ValueId, count: usize) -> Option<Vec<i64>> {
    let dims = f.dims(value)?;
    let skipped = dims.len().checked_sub(count)?;
    let dims = dims.skip(skipped).map(|dim| dim.as_const());
    dims.map(|dim| dim.filter(|dim| *dim > 0)).collect()
}

/// Builds a splat tensor. A large one is an `Expand`, so that the model doesn't grow.
pub(super) fn splat(
    r: &mut Rewriter<'_>,
    dtype: DType,
    number: f64,
    dims: &[i64],
) -> Result<ValueId, EditError> {
    let number = r.scalar(dtype, number)?.ok_or(NoMatch)?;
    let dims = r.ints(dims)?;
    r.op(OpBuilder::new("onnx.Expand").operands([number, dims]))
}

/// Builds the operator without operands. It computes in float64 for float64, and in float32 for other types.
pub(super) fn make(name: &'static str, dtype: DType, spread: &Spread) -> OpBuilder<'static> {
    let new_op = OpBuilder::new(name)
        .attr("axis", -(spread.axes.len() as i64))
        .attr("epsilon", spread.epsilon as f32);
    match dtype {
        DType::F64 => new_op.attr("stash_type", 11),
        _ => new_op,
    }
}

/// Reshapes a parameter to the shape of `like` if they differ only in leading dims of 1.
pub(super) fn parameter(
    r: &mut Rewriter<'_>,
    value: ValueId,
    like: ValueId,
) -> Result<ValueId, EditError> {
    let f = r.function();
    let dims = f.shape(value).ok_or(NoMatch)?;
    let expected = f.shape(like).ok_or(NoMatch)?;
    NoMatch::unless(f.dtype(value) == f.dtype(like))?;
    if dims == expected {
        return Ok(value);
    }
    let more = dims.len().saturating_sub(expected.len());
    let is_view = dims[..more].iter().all(|dim| *dim == 1) && dims[more..] == expected[..];
    NoMatch::unless(is_view && f.constant(value).is_some())?;
    let expected = r.ints(&expected)?;
    let view = r.op(OpBuilder::new("onnx.Reshape").operands([value, expected]))?;
    NoMatch::unless(r.function().constant(view).is_some())?;
    Ok(view)
}

/// Whether a value is a constant of ones, or an `Expand` of one.
fn is_ones(r: &Rewriter<'_>, value: ValueId) -> Result<bool, EditError> {
    let f = r.function();
    let constant = defined_by(f, value, "onnx.Expand").map_or(value, |op| operand(f, op, 0));
    Ok(f.constant(constant).is_some() && r.number(constant)? == Some(1.0))
}

/// Replaces a scale of ones with the factor of the following `Mul`.
fn take_scale(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, ones, n) = (m.value(f, "x"), m.value(f, "ones"), m.op("n"));
    let scale = m.value(f, "scale");
    NoMatch::unless(
        f.use_count(m.value(f, "n")) == 1
            && broadcasts_to(f, scale, x) == Some(true)
            && is_ones(r, ones)?,
    )?;
    let scale = parameter(r, scale, ones)?;
    let new_op = like(r.function(), n, &[])?;
    Ok(Some(vec![r.op(new_op.operands([x, scale]))?]))
}

/// Uses the operand of the following `Add` as the bias.
fn take_bias(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, scale, n) = (m.value(f, "x"), m.value(f, "scale"), m.op("n"));
    let bias = m.value(f, "bias");
    NoMatch::unless(f.use_count(m.value(f, "n")) == 1 && broadcasts_to(f, bias, x) == Some(true))?;
    let bias = parameter(r, bias, scale)?;
    let new_op = like(r.function(), n, &[])?;
    Ok(Some(vec![r.op(new_op.operands([x, scale, bias]))?]))
}

/// Removes the Casts around a normalization of 16-bit floats: the operator itself computes in float32.
fn without_casts(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, n) = (m.value(f, "x"), m.op("n"));
    let dtype = f.dtype(x).ok_or(NoMatch)?;
    let is_it = matches!(dtype, DType::F16 | DType::BF16)
        && f.dtype(m.value(f, "y")) == Some(dtype)
        && f.dtype(m.value(f, "n")) == Some(DType::F32)
        && f.use_count(m.value(f, "n")) == 1;
    NoMatch::unless(is_it)?;
    let new_op = like(f, n, &[])?;
    let mut operands = vec![x];
    for &parameter in m.values("parameters") {
        let f = r.function();
        if let Some(floats) = f.constant_floats(parameter)? {
            NoMatch::unless(floats.iter().all(|float| is_exact(*float, dtype)))?;
            let cast = OpBuilder::new("onnx.Cast").operand(parameter);
            let code: i64 = if dtype == DType::F16 { 10 } else { 16 };
            operands.push(r.op(cast.attr("to", code))?);
            continue;
        }
        let dims = f.shape(parameter).ok_or(NoMatch)?;
        NoMatch::unless(is_ones(r, parameter)?)?;
        operands.push(splat(r, dtype, 1.0, &dims)?);
    }
    Ok(Some(vec![r.op(new_op.operands(operands))?]))
}

/// Whether a number is exact in a dtype.
fn is_exact(float: f64, dtype: DType) -> bool {
    match dtype {
        DType::F16 => f16::from_f64(float).to_f64() == float,
        _ => bf16::from_f64(float).to_f64() == float,
    }
}
