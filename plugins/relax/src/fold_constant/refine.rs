//! Type refinement after folding: an op with a new constant operand may have a more precise result type, and so may its
//! users.

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

/// Infers the types of these ops, and of downstream users as long as types become more precise. Returns whether any
/// did.
///
/// Types that haven't been inferred before are left to InferType.
pub(super) fn refine(
    f: &mut Function,
    cx: &PassContext,
    from: Vec<OpId>,
) -> Result<bool, EditError> {
    let (mut queue, mut any) = (from, false);
    while let Some(op) = queue.pop() {
        if !f.is_live(op) || !f.results(op).iter().any(|&value| is_open(f, value)) {
            continue;
        }
        let before: Vec<TypeId> = f
            .results(op)
            .iter()
            .map(|&value| f.type_id(value))
            .collect();
        // InferType reports invalid ops.
        if cx.infer(f, op).is_err() {
            continue;
        }
        let results = f.results(op).iter().zip(before);
        let refined: Vec<ValueId> = results
            .filter(|(value, old)| f.type_id(**value) != *old)
            .map(|(value, _)| *value)
            .collect();
        any |= !refined.is_empty();
        queue.extend(refined.into_iter().flat_map(|value| f.users(value)));
    }
    Ok(any)
}

/// Whether a value is a tensor with an unknown size.
fn is_open(f: &Function, value: ValueId) -> bool {
    let is_known = |dim: Dim| dim.kind == DimKind::CONST;
    f.dims(value)
        .is_some_and(|dims| !dims.into_iter().all(is_known))
}
