//! Activations: a value times a gate between 0 and 1 that depends on it.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::rewrite::is_about;

use crate::rules::shared::bounds::bounds;
use crate::rules::shared::checks::becomes_dead;
use crate::rules::shared::polynomial::{Polynomial, polynomial, terms};
use crate::shared::read::{defined_by, float_or, is, operand, unless_no_match};

/// `x/2 (1 + erf(x/√2))`, and its approximation by `tanh` of a cubic polynomial.
pub(super) static GELU: Rules = rules! {
    rule gelu {
        %y = onnx.Mul|onnx.Div|onnx.Add(%a, %b) where opset >= 20, float(%y)
    } => |r, m| gated(r, m, &[("onnx.Erf", gelu)]);
    rule gelu_tanh {
        %y = onnx.Mul|onnx.Div|onnx.Add(%a, %b) where opset >= 20, float(%y)
    } => |r, m| gated(r, m, &[("onnx.Tanh", gelu)]);
};

/// `x / (1 + exp(-alpha x))`.
pub(super) static SWISH: Rules = rules! {
    rule swish {
        %y = onnx.Mul|onnx.Div(%a, %b) where opset >= 24, float(%y)
    } => |r, m| gated(r, m, &[("onnx.Sigmoid", swish)]);
};

/// `x tanh(log(1 + exp(x)))`. ONNX Runtime has no kernel for float64 in newer versions.
pub(super) static MISH: Rules = rules! {
    rule mish {
        %s = onnx.Softplus(%x)
        %t = onnx.Tanh(%s)
        onnx.Mul(%x, %t) => onnx.Mish(%x) where opset >= 18, dtype(%x) in [f32, f16], uses(%s) == 1, uses(%t) == 1
    }
    rule mish_of_bfloat {
        %s = onnx.Softplus(%x)
        %t = onnx.Tanh(%s)
        onnx.Mul(%x, %t) => onnx.Mish(%x) where opset >= 22, dtype(%x) == bf16, uses(%s) == 1, uses(%t) == 1
    }
};

/// `log(1 + exp(x))`, which overflows where the operator doesn't. ONNX Runtime has no kernel for float64, and before
/// opset 22 none for 16-bit floats.
pub(super) static SOFTPLUS: Rules = rules! {
    rule softplus {
        %e = onnx.Exp(%x)
        %s = onnx.Add(%e, 1)
        onnx.Log(%s) => onnx.Softplus(%x) where dtype(%x) == f32, broadcasts_to(%s, %x), uses(%e) == 1, uses(%s) == 1
    }
    rule softplus_of_halves {
        %e = onnx.Exp(%x)
        %s = onnx.Add(%e, 1)
        onnx.Log(%s) => onnx.Softplus(%x)
            where opset >= 22, dtype(%x) in [f16, bf16], broadcasts_to(%s, %x), uses(%e) == 1, uses(%s) == 1
    }
};

/// `min(max(alpha x + beta, 0), 1)`. ONNX Runtime has no kernel for float64.
pub(super) static HARD_SIGMOID: Rules = rules! {
    rule hard_sigmoid {
        %y = onnx.Clip(%x, %bounds...) where opset >= 6, dtype(%y) in [f32, f16]
    } => hard_sigmoid;
    rule hard_sigmoid_of_6 {
        %y = onnx.Mul|onnx.Div(%a, %b) where opset >= 6, dtype(%y) in [f32, f16]
    } => hard_sigmoid_of_6;
};

/// `x min(max(x/6 + 1/2, 0), 1)`.
pub(super) static HARD_SWISH: Rules = rules! {
    rule hard_swish {
        %y = onnx.Mul|onnx.Div(%a, %b) where opset >= 14, dtype(%y) in [f32, f16]
    } => |r, m| gated(r, m, &[("onnx.HardSigmoid", hard_swish), ("onnx.Clip", hard_swish_of_6)]);
};

/// The result of matching a gate: the polynomial in `x` and the gate that the root must be, and the operator.
type Gated = (Polynomial, OpBuilder<'static>);

/// Matches the op of a gate of `x`.
type Gate = fn(&Rewriter<'_>, OpId, ValueId) -> Result<Gated, EditError>;

/// Finds a gate and its `x` among the terms of the root, and builds the activation.
fn gated(r: &mut Rewriter<'_>, m: &Match<'_>, gates: &[(&str, Gate)]) -> Rewritten {
    let f = r.function();
    let y = m.value(f, "y");
    let all = terms(f, y);
    for &g in &all {
        for (name, gate) in gates {
            let Some(op) = defined_by(f, g, name).filter(|op| becomes_dead(f, m.root(), *op))
            else {
                continue;
            };
            for &x in all[1..].iter().filter(|x| **x != g) {
                let read = || {
                    let (expected, new_op) = gate(r, op, x)?;
                    // If it is unknown, the numbers must be exact.
                    let dtype = f.dtype(x).unwrap_or(DType::NONE);
                    let is_it = polynomial(f, y, x, g)?.is_about(expected, dtype);
                    Ok(is_it.then_some(new_op).ok_or(NoMatch)?)
                };
                if let Some(new_op) = unless_no_match(read())? {
                    return Ok(Some(vec![r.op(new_op.operand(x))?]));
                }
            }
        }
    }
    Ok(None)
}

/// Returns the operand of a gate as a polynomial in `x`.
fn inside(f: &Function, op: OpId, x: ValueId) -> Result<Polynomial, EditError> {
    polynomial(f, operand(f, op, 0), x, ValueId::NONE)
}

fn gelu(r: &Rewriter<'_>, op: OpId, x: ValueId) -> Result<Gated, EditError> {
    let f = r.function();
    let is_erf = is(f, op, "onnx.Erf");
    let expected = Polynomial::gelu_gate(is_erf);
    let dtype = f.dtype(x).ok_or(NoMatch)?;
    NoMatch::unless(inside(f, op, x)?.is_about(expected, dtype))?;
    let new_op = OpBuilder::new("onnx.Gelu");
    let new_op = match is_erf {
        true => new_op,
        false => new_op.attr("approximate", "tanh"),
    };
    Ok((Polynomial::halves(), new_op))
}

fn swish(r: &Rewriter<'_>, op: OpId, x: ValueId) -> Result<Gated, EditError> {
    let found = inside(r.function(), op, x)?;
    let alpha = found.at(1, 0);
    NoMatch::unless(found == Polynomial::term(1, 0, alpha))?;
    let new_op = OpBuilder::new("onnx.Swish");
    let new_op = match alpha == 1.0 {
        true => new_op,
        false => new_op.attr("alpha", alpha as f32),
    };
    Ok((Polynomial::term(1, 1, 1.0), new_op))
}

fn hard_swish(r: &Rewriter<'_>, op: OpId, x: ValueId) -> Result<Gated, EditError> {
    let f = r.function();
    let dtype = f.dtype(x).ok_or(NoMatch)?;
    let near = |name: &str, default: f32, expected: f64| {
        let found = float_or(f, op, name, default);
        found.is_some_and(|found| is_about(f64::from(found), expected, dtype))
    };
    let is_line = near("alpha", 0.2, 1.0 / 6.0) && near("beta", 0.5, 0.5);
    NoMatch::unless(is_line && f.operand(op, 0) == Some(x))?;
    Ok((
        Polynomial::term(1, 1, 1.0),
        OpBuilder::new("onnx.HardSwish"),
    ))
}

fn hard_swish_of_6(r: &Rewriter<'_>, op: OpId, x: ValueId) -> Result<Gated, EditError> {
    NoMatch::unless(clipped_from_zero(r, op)? == 6.0)?;
    let expected = Polynomial::term(1, 0, 1.0).plus(Polynomial::number(3.0), 1.0);
    NoMatch::unless(inside(r.function(), op, x)? == expected)?;
    Ok((
        Polynomial::term(1, 1, 1.0 / 6.0),
        OpBuilder::new("onnx.HardSwish"),
    ))
}

/// Returns the upper bound of a `Clip` whose lower bound is 0.
fn clipped_from_zero(r: &Rewriter<'_>, clip: OpId) -> Result<f64, EditError> {
    let (_, bounds) = bounds(r, clip)?;
    NoMatch::unless(bounds.low == 0.0)?;
    Ok(bounds.high)
}

/// Matches a `Clip` to 0 and 1.
fn hard_sigmoid(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    NoMatch::unless(clipped_from_zero(r, m.op("y"))? == 1.0)?;
    line(r, m, m.op("y"), 1.0)
}

/// Matches a `Clip` to 0 and `high`, divided by `high`.
fn hard_sigmoid_of_6(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    for operand in [m.value(f, "a"), m.value(f, "b")] {
        let Some(clip) = defined_by(f, operand, "onnx.Clip") else {
            continue;
        };
        let product = unless_no_match(polynomial(f, m.value(f, "y"), operand, ValueId::NONE))?;
        let high = unless_no_match(clipped_from_zero(r, clip))?;
        let Some((product, high)) = product.zip(high) else {
            continue;
        };
        let factor = product.at(1, 0);
        let is_it = product == Polynomial::term(1, 0, factor)
            && high > 0.0
            && f.dtype(operand)
                .is_some_and(|dtype| is_about(factor * high, 1.0, dtype));
        if is_it {
            return line(r, m, clip, 1.0 / high);
        }
    }
    Ok(None)
}

/// Builds a `HardSigmoid` if the operand of a `Clip` is a linear function of a value.
fn line(r: &mut Rewriter<'_>, m: &Match<'_>, clip: OpId, factor: f64) -> Rewritten {
    let f = r.function();
    let top = operand(f, clip, 0);
    // The farthest term first: it removes the most ops.
    for x in terms(f, top).into_iter().skip(1).rev() {
        let Some(found) = unless_no_match(polynomial(f, top, x, ValueId::NONE))? else {
            continue;
        };
        let (alpha, beta) = (found.at(1, 0), found.at(0, 0));
        let line = Polynomial::term(1, 0, alpha).plus(Polynomial::number(beta), 1.0);
        let becomes_dead = f
            .defining_op(top)
            .is_some_and(|op| becomes_dead(f, m.root(), op));
        if found == line && alpha != 0.0 && becomes_dead && is(f, clip, "onnx.Clip") {
            let new_op = OpBuilder::new("onnx.HardSigmoid")
                .operand(x)
                .attr("alpha", (alpha * factor) as f32)
                .attr("beta", (beta * factor) as f32);
            return Ok(Some(vec![r.op(new_op)?]));
        }
    }
    Ok(None)
}
