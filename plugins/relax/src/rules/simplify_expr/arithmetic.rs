//! Arithmetic identities.

use passdock_plugin_api::prelude::*;

use crate::shared::read::{defined_by, operand};

pub(super) static NEUTRAL: Rules = rules! {
    rule mul_one { onnx.Mul(%x, 1) } => unless_scale;
    rule div_one { onnx.Div(%x, 1) => %x }
    rule pow_one { onnx.Pow(%x, 1) => %x }
    rule and_true { onnx.And(%x, 1) => %x }
    rule or_false { onnx.Or(%x, 0) => %x }
    rule where_true { onnx.Where(1, %x, _) => %x }
    rule where_false { onnx.Where(0, _, %x) => %x }
    rule where_not { onnx.Where(onnx.Not(%c), %a, %b) => onnx.Where(%c, %b, %a) }
    rule where_of_same_condition {
        %inner = onnx.Where(%c, %lost, %b)
        onnx.Where(%c, %a, %inner) => onnx.Where(%c, %a, %b) where broadcasts_to(%lost, %c)
    }
    rule where_in_same_condition {
        %inner = onnx.Where(%c, %a, %lost)
        onnx.Where(%c, %inner, %b) => onnx.Where(%c, %a, %b) where broadcasts_to(%lost, %c)
    }
    rule where_one_zero { onnx.Where(%c, 1, 0) => %c }
    rule where_same { onnx.Where(_, %x, %x) => %x }
    rule min_same { onnx.Min|onnx.Max(%x, %x) => %x }
    rule min_one { onnx.Min|onnx.Max|onnx.Sum|onnx.Mean(%x) => %x }
    rule sum_two { onnx.Sum(%x, %y) => onnx.Add(%x, %y) }
};

/// Ops with zeros. Some of them turn `-0.0` into `0.0`.
pub(super) static ZEROS: Rules = rules! {
    rule sub_zero { onnx.Sub(%x, 0) => %x }
    rule abs_of_relu { %y = onnx.Relu(_) onnx.Abs(%y) => %y }
    rule add_zero { onnx.Add(%x, 0) } => unless_bias;
};

/// The ops with zeros that keep every number: `x - 0.0`, `x + -0.0`, and integer zeros.
pub(super) static EXACT_ZEROS: Rules = rules! {
    rule sub_zero { onnx.Sub(%x, 0) } => |r, m| if_sign(r, m, false);
    rule add_zero { onnx.Add(%x, 0) } => |r, m| if_sign(r, m, true);
};

/// Returns the other operand, unless the product is the scale of a normalization: runtimes fuse a normalization with
/// its scale and bias into one kernel.
fn unless_scale(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let x = m.value(f, "x");
    Ok((!is_normalized(f, x)).then(|| vec![x]))
}

/// Like [`unless_scale`], for the bias after the scale.
fn unless_bias(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let x = m.value(f, "x");
    let scaled = defined_by(f, x, "onnx.Mul");
    let is_layer = scaled.is_some_and(|op| f.operands(op).any(|n| is_normalized(f, n)));
    Ok((!is_layer).then(|| vec![x]))
}

/// Whether a value is divided by the root of a mean.
fn is_normalized(f: &Function, value: ValueId) -> bool {
    let operand_of = |value, name, at| defined_by(f, value, name).map(|op| operand(f, op, at));
    let is_deviation = |value: ValueId| {
        let sum = operand_of(value, "onnx.Sqrt", 0).and_then(|sum| defined_by(f, sum, "onnx.Add"));
        let is_mean = |x| defined_by(f, x, "onnx.ReduceMean").is_some();
        sum.is_some_and(|sum| f.operands(sum).any(is_mean))
    };
    let divides = |value, name, at| operand_of(value, name, at).is_some_and(is_deviation);
    let is_factor = |value| divides(value, "onnx.Reciprocal", 0) || divides(value, "onnx.Div", 1);
    let value = operand_of(value, "onnx.Cast", 0).unwrap_or(value);
    let product = defined_by(f, value, "onnx.Mul");
    divides(value, "onnx.Div", 1) || product.is_some_and(|op| f.operands(op).any(is_factor))
}

/// Returns the other operand if all zeros of the constant have this sign.
fn if_sign(r: &mut Rewriter<'_>, m: &Match<'_>, negative: bool) -> Rewritten {
    let f = r.function();
    let x = m.value(f, "x");
    let zero = f
        .operands(m.root())
        .find(|operand| *operand != x)
        .ok_or(NoMatch)?;
    let width = match f.dtype(zero) {
        Some(DType::F16 | DType::BF16) => 2,
        Some(DType::F32) => 4,
        Some(DType::F64) => 8,
        _ => return Ok(Some(vec![x])),
    };
    let data = f.constant_data(zero)?;
    let has_sign = |element: &[u8]| (element[width - 1] & 0x80 != 0) == negative;
    let all = data.is_some_and(|data| data.chunks_exact(width).all(has_sign));
    Ok(all.then(|| vec![x]))
}

/// Inverses and repeated ops. A quotient instead of a product with an inverse saves one rounding.
pub(super) static INVERSES: Rules = rules! {
    rule neg_neg { onnx.Neg(onnx.Neg(%x)) => %x }
    rule not_not { onnx.Not(onnx.Not(%x)) => %x }
    rule idempotent_abs { %y = onnx.Abs(_) onnx.Abs(%y) => %y }
    rule idempotent_relu { %y = onnx.Relu(_) onnx.Relu(%y) => %y }
    rule idempotent_ceil { %y = onnx.Ceil|onnx.Floor|onnx.Round(_) onnx.Ceil|onnx.Floor|onnx.Round(%y) => %y }
    rule idempotent_sign { %y = onnx.Sign(_) onnx.Sign(%y) => %y }
    rule abs_neg { onnx.Abs(onnx.Neg(%x)) => onnx.Abs(%x) }
    rule mul_reciprocal {
        %inverse = (onnx.Reciprocal(%y) | onnx.Div(1, %y))
        onnx.Mul(%x, %inverse) => onnx.Div(%x, %y) where opset >= 7, float(%y), uses(%inverse) == 1
    }
};
