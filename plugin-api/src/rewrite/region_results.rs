//! [`RegionResults`]: the values that terminators use.

use std::collections::HashSet;

use passdock_abi::{RegionId, ValueId};

use crate::ir::Function;

/// The values that their defining region yields. A region must yield values that it defines, and each value once. So to
/// replace a result, a copy (`onnx.Identity`) may be necessary.
///
/// It is computed once for a function, because a value may have as many uses as there are ops.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Replaces copies with the original values.
/// fn forward(f: &mut Function, _cx: &PassContext) -> PassResult {
///     let mut region_results = RegionResults::new(f);
///     for op in f.ops_named("onnx.Identity") {
///         let (copy, original) = (f.result(op, 0), f.operand(op, 0).unwrap_or(ValueId::NONE));
///         if !region_results.needs_copy(f, copy, original) {
///             region_results.replace(copy, original);
///             f.replace_op_with(op, &[original])?;
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct RegionResults(HashSet<ValueId>);

impl RegionResults {
    /// Finds the results of the regions of a function.
    pub fn new(f: &Function) -> RegionResults {
        let mut given = HashSet::new();
        let nested = f.iter().flat_map(|op| f.regions(op).iter().copied());
        for region in std::iter::once(f.body()).chain(nested) {
            let values = f
                .terminator(region)
                .into_iter()
                .flat_map(|end| f.operands(end));
            given.extend(values.filter(|value| region_of(f, *value) == Some(region)));
        }
        RegionResults(given)
    }

    /// Whether a value is a result of its defining region.
    pub fn contains(&self, value: ValueId) -> bool {
        self.0.contains(&value)
    }

    /// Records that one value of a region replaces another one of the same region.
    pub fn replace(&mut self, from: ValueId, to: ValueId) {
        if self.0.remove(&from) {
            self.0.insert(to);
        }
    }

    /// Whether `result` is a result of its region that can't be replaced by `original` without a copy: `original` isn't
    /// defined by an op of the region, or the region already yields it.
    pub fn needs_copy(&self, f: &Function, result: ValueId, original: ValueId) -> bool {
        if !self.contains(result) {
            return false;
        }
        let region = |value: ValueId| f.defining_op(value).map(|op| f.parent_region(op));
        let is_local = region(original).map_or(false, |own| region(result) == Some(own));
        !is_local || self.contains(original)
    }
}

/// Whether the region of the op that defines a value yields it. A value may have many uses, and a region many results,
/// but seldom both, so the shorter list is searched.
pub(super) fn is_region_result(f: &Function, value: ValueId) -> bool {
    let op = f.defining_op(value);
    let end = op.and_then(|op| f.terminator(f.parent_region(op)));
    match end {
        Some(end) if f.operand_count(end) < f.use_count(value) => {
            f.operands(end).any(|given| given == value)
        }
        Some(end) => f.iter_uses(value).any(|one| one.op == end),
        None => false,
    }
}

/// Returns the region of an op's result or of a constant.
fn region_of(f: &Function, value: ValueId) -> Option<RegionId> {
    if let Some(op) = f.defining_op(value) {
        return Some(f.parent_region(op));
    }
    let constant = f.constant_record(f.constant(value)?)?;
    Some(constant.region.option().unwrap_or_else(|| f.body()))
}
