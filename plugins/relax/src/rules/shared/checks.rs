//! Checks that fusions share: scalar constants, and ops that a rewrite leaves dead.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::rewrite::{broadcasts_to, number_of};

/// Returns the number of a splat constant if broadcasting it with `x` keeps the shape of `x`.
pub(crate) fn broadcast_number(
    f: &Function,
    constant: ValueId,
    x: ValueId,
) -> Result<Option<f64>, EditError> {
    if constant.is_none()
        || f.constant(constant).is_none()
        || broadcasts_to(f, constant, x) != Some(true)
    {
        return Ok(None);
    }
    number_of(f, constant)
}

/// Whether `op` becomes dead when `root` is replaced. The search visits at most `MAX_OPS` ops.
pub(crate) fn becomes_dead(f: &Function, root: OpId, op: OpId) -> bool {
    const MAX_OPS: usize = 48;
    let mut dead = vec![root];
    let mut next = 0;
    while next < dead.len() && dead.len() < MAX_OPS {
        for operand in f.operands(dead[next]) {
            let Some(def) = operand.option().and_then(|operand| f.defining_op(operand)) else {
                continue;
            };
            let is_unused = !dead.contains(&def)
                && f.results(def)
                    .iter()
                    .all(|result| f.iter_uses(*result).all(|one| dead.contains(&one.op)));
            if is_unused {
                dead.push(def);
            }
        }
        next += 1;
    }
    dead.contains(&op)
}
