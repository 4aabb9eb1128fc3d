//! What folding tells of types: an op that got a constant operand may say more of its results, and so may those behind
//! it.

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

/// Infers the types of these ops, and of those behind them as far as types become more precise; whether any did.
///
/// Types that nobody inferred yet are left alone: that is InferType's work.
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
        // An op that is wrong is InferType's to report.
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

/// Whether a value is a tensor some size of which isn't known.
fn is_open(f: &Function, value: ValueId) -> bool {
    let is_known = |dim: Dim| dim.kind == DimKind::CONST;
    f.dims(value)
        .is_some_and(|dims| !dims.into_iter().all(is_known))
}
