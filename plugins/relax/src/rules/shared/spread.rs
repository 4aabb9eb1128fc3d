//! [`Spread`]: what is divided by the root of its mean square, in the ways that exporters write it.

use passdock_plugin_api::prelude::*;

use super::checks::number_beside;
use crate::shared::read::{axes, axis_from_last, int_or, made_by, operand, optional, pair};

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
pub(crate) fn mean(f: &Function, value: ValueId) -> Result<(ValueId, Vec<i64>, OpId), EditError> {
    let op = made_by(f, value, "onnx.ReduceMean").ok_or(NoMatch)?;
    let x = operand(f, op, 0);
    let mut axes = axes(f, op)?;
    NoMatch::unless(int_or(f, op, "keepdims", 1) == Some(1))?;
    for axis in &mut axes {
        *axis = axis_from_last(f, x, *axis)?;
    }
    axes.sort_unstable();
    Ok((x, axes, op))
}

/// The value that another one is the square of.
fn square(f: &Function, value: ValueId) -> Result<ValueId, EditError> {
    if let Some(op) = made_by(f, value, "onnx.Mul") {
        let [a, b] = pair(f, op);
        NoMatch::unless(a == b)?;
        return Ok(a);
    }
    let op = made_by(f, value, "onnx.Pow").ok_or(NoMatch)?;
    let [x, two] = pair(f, op);
    NoMatch::unless(number_beside(f, two, x)? == Some(2.0))?;
    Ok(x)
}

/// The powers of the root that a value may be.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Power {
    Root,
    Inverse,
}

/// The value that another one is the square root of, or one over that.
pub(crate) fn root_of(f: &Function, value: ValueId, power: Power) -> Result<ValueId, EditError> {
    let under = |value, name| -> Result<ValueId, NoMatch> {
        let op = made_by(f, value, name).ok_or(NoMatch)?;
        f.operand(op, 0).ok_or(NoMatch)
    };
    if let Some(op) = made_by(f, value, "onnx.Pow") {
        let [x, exponent] = pair(f, op);
        let wanted = if power == Power::Root { 0.5 } else { -0.5 };
        NoMatch::unless(number_beside(f, exponent, x)? == Some(wanted))?;
        return Ok(x);
    }
    if power == Power::Root {
        return Ok(under(value, "onnx.Sqrt")?);
    }
    if let Some(op) = made_by(f, value, "onnx.Div") {
        let [one, below] = pair(f, op);
        NoMatch::unless(number_beside(f, one, below)? == Some(1.0))?;
        return root_of(f, below, Power::Root);
    }
    match under(value, "onnx.Sqrt") {
        // The root of one over it.
        Ok(inverse) => Ok(under(inverse, "onnx.Reciprocal")?),
        Err(NoMatch) => root_of(f, under(value, "onnx.Reciprocal")?, Power::Root),
    }
}

/// The mean square in a root, and what is added to it.
pub(crate) fn mean_square(f: &Function, sum: ValueId) -> Result<Spread, EditError> {
    let read = |square_mean, epsilon| {
        let (squared, axes, mean) = mean(f, square_mean)?;
        let epsilon = number_beside(f, epsilon, square_mean)?.ok_or(NoMatch)?;
        let x = square(f, squared)?;
        let is_last = axes.iter().copied().eq(-(axes.len() as i64)..0);
        NoMatch::unless(epsilon >= 0.0 && is_last && !axes.is_empty())?;
        Ok(Spread {
            x,
            axes,
            epsilon,
            mean,
        })
    };
    let [a, b] = pair(f, made_by(f, sum, "onnx.Add").ok_or(NoMatch)?);
    match optional(read(a, b))? {
        Some(spread) => Ok(spread),
        None => read(b, a),
    }
}

/// What an op divides by the root of its mean square.
pub(crate) fn spread(f: &Function, op: OpId) -> Result<Spread, EditError> {
    let read = |x, root, power| {
        let spread = mean_square(f, root_of(f, root, power)?)?;
        NoMatch::unless(spread.x == x)?;
        Ok(spread)
    };
    let [a, b] = pair(f, op);
    if f.name(op) == "onnx.Div" {
        return read(a, b, Power::Root);
    }
    match optional(read(a, b, Power::Inverse))? {
        Some(spread) => Ok(spread),
        None => read(b, a, Power::Inverse),
    }
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
    let found = optional(mean(f, subtracted))?;
    let is_it = found.is_some_and(|(of, along, _)| of == x && along == axes);
    Ok(is_it.then_some(x))
}
