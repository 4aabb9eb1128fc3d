//! [`Spread`]: what is divided by the root of its mean square, in the ways that exporters write it.

use passdock_plugin_api::prelude::*;

use super::checks::number_beside;
use crate::shared::read::{axis_in, int_or, ints_of, made_by, operand, pair};

/// What is divided by the root of its mean square.
pub(crate) struct Spread {
    /// What is divided.
    pub(crate) x: ValueId,
    /// The axes of the mean, counted from the last one.
    pub(crate) axes: Vec<i64>,
    pub(crate) epsilon: f64,
    /// The op that takes the mean.
    pub(crate) mean: OpId,
}

/// What a value's mean is taken of, and along which axes, if they stay as dims of 1. Axes are counted from the last
/// one, which is -1.
pub(crate) fn mean(
    f: &Function,
    value: ValueId,
) -> Result<Option<(ValueId, Vec<i64>, OpId)>, EditError> {
    let Some(op) = made_by(f, value, "onnx.ReduceMean") else {
        return Ok(None);
    };
    let x = operand(f, op, 0);
    let axes = ints_of(f, op, 1, "axes")?.flatten();
    let Some(mut axes) = axes.filter(|_| int_or(f, op, "keepdims", 1) == Some(1)) else {
        return Ok(None);
    };
    for axis in &mut axes {
        match f.rank(x) {
            Some(rank) => match axis_in(*axis, rank) {
                Some(at) => *axis = at as i64 - rank as i64,
                None => return Ok(None),
            },
            None if *axis >= 0 => return Ok(None),
            None => {}
        }
    }
    axes.sort_unstable();
    Ok(Some((x, axes, op)))
}

/// The value that another one is the square of.
fn square(f: &Function, value: ValueId) -> Result<Option<ValueId>, EditError> {
    if let Some(op) = made_by(f, value, "onnx.Mul") {
        let [a, b] = pair(f, op);
        return Ok((a == b).then_some(a));
    }
    let Some(op) = made_by(f, value, "onnx.Pow") else {
        return Ok(None);
    };
    let [x, two] = pair(f, op);
    Ok((number_beside(f, two, x)? == Some(2.0)).then_some(x))
}

/// The powers of the root that a value may be.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Power {
    Root,
    Inverse,
}

/// The value that another one is the square root of, or one over that.
pub(crate) fn root_of(
    f: &Function,
    value: ValueId,
    power: Power,
) -> Result<Option<ValueId>, EditError> {
    if let Some(op) = made_by(f, value, "onnx.Pow") {
        let [x, exponent] = pair(f, op);
        let wanted = if power == Power::Root { 0.5 } else { -0.5 };
        return Ok((number_beside(f, exponent, x)? == Some(wanted)).then_some(x));
    }
    if power == Power::Root {
        return Ok(made_by(f, value, "onnx.Sqrt").and_then(|op| f.operand(op, 0)));
    }
    let inner = if let Some(op) = made_by(f, value, "onnx.Reciprocal") {
        f.operand(op, 0)
    } else if let Some(op) = made_by(f, value, "onnx.Div") {
        let [one, below] = pair(f, op);
        (number_beside(f, one, below)? == Some(1.0)).then_some(below)
    } else if let Some(op) = made_by(f, value, "onnx.Sqrt") {
        // The root of one over it.
        let inverse = operand(f, op, 0);
        return Ok(made_by(f, inverse, "onnx.Reciprocal").and_then(|op| f.operand(op, 0)));
    } else {
        None
    };
    match inner {
        Some(inner) => root_of(f, inner, Power::Root),
        None => Ok(None),
    }
}

/// The mean square in a root, and what is added to it.
pub(crate) fn mean_square(f: &Function, sum: ValueId) -> Result<Option<Spread>, EditError> {
    let Some(op) = made_by(f, sum, "onnx.Add") else {
        return Ok(None);
    };
    let operands = pair(f, op);
    for (at, other) in [(0, 1), (1, 0)] {
        let Some((squared, axes, mean)) = mean(f, operands[at])? else {
            continue;
        };
        let epsilon = number_beside(f, operands[other], operands[at])?;
        let (Some(epsilon), Some(x)) = (epsilon, square(f, squared)?) else {
            continue;
        };
        let last: Vec<i64> = (-(axes.len() as i64)..0).collect();
        if epsilon >= 0.0 && axes == last && !axes.is_empty() {
            return Ok(Some(Spread {
                x,
                axes,
                epsilon,
                mean,
            }));
        }
    }
    Ok(None)
}

/// What an op divides by the root of its mean square.
pub(crate) fn spread(f: &Function, op: OpId) -> Result<Option<Spread>, EditError> {
    let operands = pair(f, op);
    let (orders, power): (&[_], _) = match f.name(op) {
        "onnx.Div" => (&[(0, 1)], Power::Root),
        _ => (&[(0, 1), (1, 0)], Power::Inverse),
    };
    for &(at, other) in orders {
        let Some(sum) = root_of(f, operands[other], power)? else {
            continue;
        };
        if let Some(spread) = mean_square(f, sum)?.filter(|spread| spread.x == operands[at]) {
            return Ok(Some(spread));
        }
    }
    Ok(None)
}

/// The value that another one is, without its mean.
pub(crate) fn centred(
    f: &Function,
    value: ValueId,
    axes: &[i64],
) -> Result<Option<ValueId>, EditError> {
    let Some(op) = made_by(f, value, "onnx.Sub") else {
        return Ok(None);
    };
    let [x, subtracted] = pair(f, op);
    let found = mean(f, subtracted)?;
    let is_it = found.is_some_and(|(of, along, _)| of == x && along == axes);
    Ok(is_it.then_some(x))
}
