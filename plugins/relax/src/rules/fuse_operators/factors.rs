//! Layer normalization with the scale factored out: `x m + (beta - mean(x) m)`.

use passdock_plugin_api::prelude::*;

use super::norms::{last_dims, make, parameter, splat};
use crate::rules::shared::checks::becomes_dead;
use crate::rules::shared::spread::{Power, Spread, centered, mean, mean_square, root_of};
use crate::shared::read::{defined_by, pair, unless_no_match};

/// Matches `x m + (beta - mean(x) m)`, where `m` is the scale divided by the standard deviation.
pub(super) fn by_factors(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let operands = [m.value(f, "a"), m.value(f, "b")];
    let is_sum = f.name(m.root()) == "onnx.Add";
    for (at, other) in [(0, 1), (1, 0)] {
        if !is_sum && at == 1 {
            continue;
        }
        let f = r.function();
        // In a sum, the other operand is `beta - mean m`; in a difference, `mean m`.
        let (shift, bias) = match (is_sum, defined_by(f, operands[other], "onnx.Sub")) {
            (true, Some(op)) => (f.operand(op, 1), f.operand(op, 0)),
            (false, _) => (Some(operands[other]), None),
            _ => continue,
        };
        let (Some(product), Some(shift)) = (
            defined_by(f, operands[at], "onnx.Mul"),
            shift.and_then(|shift| defined_by(f, shift, "onnx.Mul")),
        ) else {
            continue;
        };
        if let Some(found) = factors(r, m.root(), product, shift, bias)? {
            return Ok(Some(vec![found]));
        }
    }
    Ok(None)
}

/// Builds the operator from `x m`, `mean(x) m` and a bias.
fn factors(
    r: &mut Rewriter<'_>,
    root: OpId,
    product: OpId,
    shift: OpId,
    bias: Option<ValueId>,
) -> Result<Option<ValueId>, EditError> {
    let f = r.function();
    let (products, shifts) = (pair(f, product), pair(f, shift));
    for (at, other) in [(0, 1), (1, 0)] {
        let (x, factor) = (products[at], products[other]);
        let Some(own) = shifts.iter().find(|value| **value != factor) else {
            continue;
        };
        let Some((of, axes, _)) =
            unless_no_match(mean(f, *own))?.filter(|_| shifts.contains(&factor))
        else {
            continue;
        };
        // The factor is the inverse deviation, possibly times the scale.
        let mut parts = vec![(factor, None, Power::Inverse)];
        if let Some(op) = defined_by(f, factor, "onnx.Mul") {
            let [a, b] = pair(f, op);
            parts.extend([(a, Some(b), Power::Inverse), (b, Some(a), Power::Inverse)]);
        }
        if let Some(op) = defined_by(f, factor, "onnx.Div") {
            let [scale, root] = pair(f, op);
            parts.push((root, Some(scale), Power::Root));
        }
        for (deviation, scale, power) in parts {
            let f = r.function();
            let sum = root_of(f, deviation, power);
            let Some(spread) = unless_no_match(sum.and_then(|sum| mean_square(f, sum)))? else {
                continue;
            };
            let is_it = of == x
                && spread.axes == axes
                && centered(f, spread.x, &axes)? == Some(x)
                && becomes_dead(f, root, spread.mean);
            if is_it {
                return unless_no_match(with_parameters(r, x, &spread, scale, bias));
            }
        }
    }
    Ok(None)
}

/// Builds a `LayerNormalization` with the optional scale and bias.
fn with_parameters(
    r: &mut Rewriter<'_>,
    x: ValueId,
    spread: &Spread,
    scale: Option<ValueId>,
    bias: Option<ValueId>,
) -> Result<ValueId, EditError> {
    let f = r.function();
    let dims = last_dims(f, x, spread.axes.len()).ok_or(NoMatch)?;
    let dtype = f.dtype(x).ok_or(NoMatch)?;
    let ones = splat(r, dtype, 1.0, &dims)?;
    let scale = match scale {
        Some(scale) => parameter(r, scale, ones)?,
        None => ones,
    };
    let bias = bias.map(|bias| parameter(r, bias, ones)).transpose()?;
    let new_op = make("onnx.LayerNormalization", dtype, spread).operands([x, scale]);
    r.op(new_op.operands(bias))
}
