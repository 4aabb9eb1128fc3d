//! What fusions ask of values: numbers beside others, and what goes when something else stands in its place.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::rewrite::number_of;

use crate::shared::read::stretches;

/// The number that a constant is everywhere, if it leaves the shape of the value beside it as it is.
pub(crate) fn number_beside(
    f: &Function,
    constant: ValueId,
    x: ValueId,
) -> Result<Option<f64>, EditError> {
    if constant.is_none() || f.constant(constant).is_none() || !stretches(f, constant, x) {
        return Ok(None);
    }
    number_of(f, constant)
}

/// Whether an op goes if nobody needs another one any more.
pub(crate) fn goes(f: &Function, root: OpId, op: OpId) -> bool {
    const MOST: usize = 48;
    let mut dying = vec![root];
    let mut next = 0;
    while next < dying.len() && dying.len() < MOST {
        for operand in f.operands(dying[next]) {
            let Some(def) = operand.option().and_then(|operand| f.defining_op(operand)) else {
                continue;
            };
            let is_unused = !dying.contains(&def)
                && f.results(def)
                    .iter()
                    .all(|result| f.iter_uses(*result).all(|one| dying.contains(&one.op)));
            if is_unused {
                dying.push(def);
            }
        }
        next += 1;
    }
    dying.contains(&op)
}
