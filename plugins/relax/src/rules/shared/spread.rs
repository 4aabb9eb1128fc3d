//! [`Spread`]: a value divided by its root mean square, in the forms that exporters write.

use passdock_plugin_api::prelude::*;

use super::checks::broadcast_number;
use crate::shared::read::{
    axes, axis_from_last, defined_by, int_or, operand, pair, unless_no_match,
};

/// A value divided by its root mean square.
pub(crate) struct Spread {
    /// The dividend.
    pub(crate) x: ValueId,
    /// The reduced axes of the mean, as negative indices.
    pub(crate) axes: Vec<i64>,
    pub(crate) epsilon: f64,
    /// The `ReduceMean`.
    pub(crate) mean: OpId,
}

/// Matches a `ReduceMean` with `keepdims`. Returns its operand, its axes as sorted negative indices, and the op.
pub(crate) fn mean(f: &Function, value: ValueId) -> Result<(ValueId, Vec<i64>, OpId), EditError> {
    let op = defined_by(f, value, "onnx.ReduceMean").ok_or(NoMatch)?;
    let x = operand(f, op, 0);
    let mut axes = axes(f, op)?;
    NoMatch::unless(int_or(f, op, "keepdims", 1) == Some(1))?;
    for axis in &mut axes {
        *axis = axis_from_last(f, x, *axis)?;
    }
    axes.sort_unstable();
    Ok((x, axes, op))
}

/// Returns the base if a value is a square.
fn square(f: &Function, value: ValueId) -> Result<ValueId, EditError> {
    if let Some(op) = defined_by(f, value, "onnx.Mul") {
        let [a, b] = pair(f, op);
        NoMatch::unless(a == b)?;
        return Ok(a);
    }
    let op = defined_by(f, value, "onnx.Pow").ok_or(NoMatch)?;
    let [x, two] = pair(f, op);
    NoMatch::unless(broadcast_number(f, two, x)? == Some(2.0))?;
    Ok(x)
}

/// The exponent of a root: 1/2 or -1/2.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Power {
    Root,
    Inverse,
}

/// Returns the radicand of a square root, or of its inverse.
pub(crate) fn root_of(f: &Function, value: ValueId, power: Power) -> Result<ValueId, EditError> {
    let under = |value, name| -> Result<ValueId, NoMatch> {
        let op = defined_by(f, value, name).ok_or(NoMatch)?;
        f.operand(op, 0).ok_or(NoMatch)
    };
    if let Some(op) = defined_by(f, value, "onnx.Pow") {
        let [x, exponent] = pair(f, op);
        let expected = if power == Power::Root { 0.5 } else { -0.5 };
        NoMatch::unless(broadcast_number(f, exponent, x)? == Some(expected))?;
        return Ok(x);
    }
    if power == Power::Root {
        return Ok(under(value, "onnx.Sqrt")?);
    }
    if let Some(op) = defined_by(f, value, "onnx.Div") {
        let [one, below] = pair(f, op);
        NoMatch::unless(broadcast_number(f, one, below)? == Some(1.0))?;
        return root_of(f, below, Power::Root);
    }
    match under(value, "onnx.Sqrt") {
        // √(1/x)
        Ok(inverse) => Ok(under(inverse, "onnx.Reciprocal")?),
        Err(NoMatch) => root_of(f, under(value, "onnx.Reciprocal")?, Power::Root),
    }
}

/// Matches the radicand `mean(x²) + epsilon`, with the mean along the last axes.
pub(crate) fn mean_square(f: &Function, sum: ValueId) -> Result<Spread, EditError> {
    let read = |square_mean, epsilon| {
        let (squared, axes, mean) = mean(f, square_mean)?;
        let epsilon = broadcast_number(f, epsilon, square_mean)?.ok_or(NoMatch)?;
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
    let [a, b] = pair(f, defined_by(f, sum, "onnx.Add").ok_or(NoMatch)?);
    match unless_no_match(read(a, b))? {
        Some(spread) => Ok(spread),
        None => read(b, a),
    }
}

/// Matches an op that divides a value by its root mean square.
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
    match unless_no_match(read(a, b, Power::Inverse))? {
        Some(spread) => Ok(spread),
        None => read(b, a, Power::Inverse),
    }
}

/// Returns `x` if a value is `x - mean(x)` along these axes.
pub(crate) fn centered(
    f: &Function,
    value: ValueId,
    axes: &[i64],
) -> Result<Option<ValueId>, EditError> {
    let Some(op) = defined_by(f, value, "onnx.Sub") else {
        return Ok(None);
    };
    let [x, subtracted] = pair(f, op);
    let found = unless_no_match(mean(f, subtracted))?;
    let is_it = found.is_some_and(|(of, along, _)| of == x && along == axes);
    Ok(is_it.then_some(x))
}
