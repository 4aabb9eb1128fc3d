//! Putting the ops of regions in another order.

use std::collections::HashSet;

use passdock_plugin_api::prelude::*;

/// Gives the order of a region's ops, all of them; the set are those whose order among themselves
/// stays: they have an effect, or hold what has one.
pub(crate) type Order = fn(&Function, RegionId, &HashSet<OpId>) -> Vec<OpId>;

/// Orders the ops of all regions.
pub(crate) fn schedule(f: &mut Function, order: Order) -> Result<(), EditError> {
    let effects = f.effects()?;
    let fixed: HashSet<OpId> = f.iter().filter(|&op| !effects.is_pure(op)).collect();
    let mut regions = vec![f.body()];
    for op in f.iter() {
        regions.extend(f.regions(op));
    }
    for region in regions {
        let order = order(f, region, &fixed);
        let mut next = f.first_op(region);
        for op in order {
            match next {
                Some(at) if at == op => next = f.next_op(op),
                Some(at) => f.move_op(op, Position::before(at))?,
                None => {}
            }
        }
    }
    Ok(())
}

/// The ops of the region that an op needs, itself or in its regions.
pub(crate) fn needed(f: &Function, region: RegionId, op: OpId) -> Vec<OpId> {
    let nested = f.regions(op).iter().flat_map(|&inner| f.iter_in(inner));
    let users = std::iter::once(op).chain(nested);
    let values = users.flat_map(|op| f.operands(op));
    let makers = values.filter_map(|value| f.defining_op(value));
    makers
        .filter(|&maker| f.parent_region(maker) == region)
        .collect()
}
