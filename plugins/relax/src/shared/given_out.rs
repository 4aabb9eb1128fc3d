//! What regions give out.

use std::collections::HashSet;

use passdock_plugin_api::prelude::*;

/// The values that the very region gives out which defines them. Looked up once for a whole function:
/// a value may have as many uses as there are ops, and each op of a pass asks.
pub(crate) struct GivenOut(HashSet<ValueId>);

impl GivenOut {
    pub(crate) fn of(f: &Function) -> GivenOut {
        let mut given = HashSet::new();
        let nested = f.iter().flat_map(|op| f.regions(op).iter().copied());
        for region in std::iter::once(f.body()).chain(nested) {
            let values = f
                .terminator(region)
                .into_iter()
                .flat_map(|end| f.operands(end));
            given.extend(values.filter(|&value| home(f, value) == Some(region)));
        }
        GivenOut(given)
    }

    pub(crate) fn contains(&self, value: ValueId) -> bool {
        self.0.contains(&value)
    }

    /// Notes that one value of a region stands for another of the same.
    pub(crate) fn replace(&mut self, from: ValueId, to: ValueId) {
        if self.0.remove(&from) {
            self.0.insert(to);
        }
    }

    /// Whether the region that an op is in gives its result out and couldn't give out the original.
    pub(crate) fn needs_copy(&self, f: &Function, op: OpId, original: ValueId) -> bool {
        let is_local = f
            .defining_op(original)
            .is_some_and(|def| f.parent_region(def) == f.parent_region(op));
        self.contains(f.result(op, 0)) && (!is_local || self.contains(original))
    }
}

/// The region of an op's result or of a constant.
fn home(f: &Function, value: ValueId) -> Option<RegionId> {
    if let Some(op) = f.defining_op(value) {
        return Some(f.parent_region(op));
    }
    let constant = f.constant_record(f.constant(value)?)?;
    Some(constant.region.option().unwrap_or_else(|| f.body()))
}
