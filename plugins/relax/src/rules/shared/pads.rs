//! What a Pad adds, in each of the forms that its versions have.

use passdock_plugin_api::prelude::*;

/// What a Pad adds at the start of each axis, then at the end of each; `None` if that isn't known.
pub(crate) fn pads(f: &Function, op: OpId) -> Result<Option<Vec<i64>>, EditError> {
    let said = match f.opset("") {
        Some(version) if version < 2 => f.ints(op, "paddings").map(<[i64]>::to_vec),
        Some(version) if version < 11 => f.ints(op, "pads").map(<[i64]>::to_vec),
        Some(_) => match f.operand(op, 1) {
            Some(pads) => f.constant_ints(pads)?,
            None => None,
        },
        None => None,
    };
    let (Some(said), axes) = (said, f.operand(op, 3).filter(|axes| axes.is_some())) else {
        return Ok(None);
    };
    let Some(axes) = axes else {
        return Ok((said.len() % 2 == 0).then_some(said));
    };
    let (Some(axes), Some(rank)) = (
        f.constant_ints(axes)?,
        f.operand(op, 0).and_then(|x| f.rank(x)),
    ) else {
        return Ok(None);
    };
    if said.len() != 2 * axes.len() {
        return Ok(None);
    }
    let mut pads = vec![0; 2 * rank];
    for (at, &axis) in axes.iter().enumerate() {
        let axis = if axis < 0 { axis + rank as i64 } else { axis };
        match usize::try_from(axis) {
            Ok(axis) if axis < rank => {
                pads[axis] = said[at];
                pads[rank + axis] = said[axes.len() + at];
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(pads))
}
