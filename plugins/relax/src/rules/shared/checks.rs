//! Checks that fusions share: scalar constants, and ops that a rewrite leaves dead.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::rewrite::number_of;

use crate::shared::read::stretches;

/// Returns the number of a splat constant if broadcasting it with `x` keeps the shape of `x`.
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

/// Whether `op` becomes dead when `root` is replaced. The search visits at most `MOST` ops.
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
