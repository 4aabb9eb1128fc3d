//! The original order of ops that were fused.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use crate::shared::read::ops_of;

/// Moves ops to their original positions. A position is the number of ops before the op in its region. Other ops keep
/// their order and fill the gaps; an op whose operands don't permit its position stays.
pub(super) fn put_in_order(
    f: &mut Function,
    positions: &HashMap<OpId, i64>,
) -> Result<(), EditError> {
    let mut regions: Vec<RegionId> = positions.keys().map(|&op| f.parent_region(op)).collect();
    regions.sort_unstable_by_key(|region| region.0);
    regions.dedup();
    for region in regions {
        // In this order, operands are moved before their users.
        let mut last = None;
        for op in order_of(f, region, positions) {
            let next = match last {
                Some(last) => f.next_op(last),
                None => f.first_op(region),
            };
            if let Some(next) = next.filter(|&next| next != op && positions.contains_key(&op)) {
                // Fails if later changes require another order.
                _ = f.move_op(op, Position::before(next));
            }
            last = Some(op);
        }
    }
    Ok(())
}

/// Returns the ops of a region in their original order.
fn order_of(f: &Function, region: RegionId, positions: &HashMap<OpId, i64>) -> Vec<OpId> {
    let ops = ops_of(f, region).into_iter();
    let (mut placed, others): (Vec<OpId>, Vec<OpId>) =
        ops.partition(|op| positions.contains_key(op));
    placed.sort_by_key(|op| positions[op]);
    let (mut placed, mut others) = (placed.into_iter().peekable(), others.into_iter());
    let mut order = Vec::new();
    loop {
        let here = order.len() as i64;
        let next = match placed.next_if(|op| positions[op] <= here) {
            Some(op) => Some(op),
            None => others.next().or_else(|| placed.next()),
        };
        match next {
            Some(op) => order.push(op),
            None => return order,
        }
    }
}
