//! The numbers that a `Clip` keeps others within.

use passdock_plugin_api::prelude::*;

/// Both bounds of a `Clip`, if they are known.
pub(super) fn bounds(r: &Rewriter<'_>, clip: OpId) -> Result<Option<(f64, f64)>, EditError> {
    let f = r.function();
    let mut found = [0.0; 2];
    for (at, end) in found.iter_mut().enumerate() {
        *end = match f.operand(clip, at + 1).and_then(ValueId::option) {
            Some(value) if f.constant(value).is_some() => match r.number(value)? {
                Some(number) => number,
                None => return Ok(None),
            },
            Some(_) => return Ok(None),
            None => match f.attr(clip, ["min", "max"][at]) {
                Some(Attr::Float(given)) => f64::from(given),
                _ => return Ok(None),
            },
        };
    }
    Ok(Some((found[0], found[1])))
}
