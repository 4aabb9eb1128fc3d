//! What a Pad adds, in each of the forms that its versions have.

use passdock_plugin_api::prelude::*;

use crate::shared::read::{axis_in, operand};

/// What a Pad adds at the start of each axis, then at the end of each, if that is known.
pub(crate) fn pads(f: &Function, op: OpId) -> Result<Vec<i64>, EditError> {
    let listed = match f.opset("").ok_or(NoMatch)? {
        ..2 => f.ints(op, "paddings").map(<[i64]>::to_vec),
        2..11 => f.ints(op, "pads").map(<[i64]>::to_vec),
        _ => f.constant_ints(operand(f, op, 1))?,
    };
    let listed = listed.ok_or(NoMatch)?;
    let axes = operand(f, op, 3);
    if axes.is_none() {
        NoMatch::unless(listed.len() % 2 == 0)?;
        return Ok(listed);
    }
    let axes = f.constant_ints(axes)?.ok_or(NoMatch)?;
    let rank = f.rank(operand(f, op, 0)).ok_or(NoMatch)?;
    NoMatch::unless(listed.len() == 2 * axes.len())?;
    let mut pads = vec![0; 2 * rank];
    for (at, &axis) in axes.iter().enumerate() {
        let axis = axis_in(axis, rank).ok_or(NoMatch)?;
        pads[axis] = listed[at];
        pads[rank + axis] = listed[axes.len() + at];
    }
    Ok(pads)
}
