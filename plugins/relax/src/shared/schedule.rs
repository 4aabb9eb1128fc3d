//! Putting the ops of regions in another order.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::prelude::*;

/// Gives the order of a region's ops, all of them.
pub(crate) type Order = fn(&Function, RegionId, &Constraints) -> Vec<OpId>;

/// The constraints that an order has to respect.
pub(crate) struct Constraints {
    /// The ops whose order among themselves stays: they have an effect, or hold what has one.
    pub(crate) fixed: HashSet<OpId>,
    /// Per op id, the ops of its region that it needs, itself or in its regions.
    needed: Vec<Vec<OpId>>,
}

impl Constraints {
    /// One walk over the function, however deep its regions are nested.
    fn new(f: &Function) -> Result<Constraints, EditError> {
        let effects = f.effects()?;
        let fixed = f.iter().filter(|&op| !effects.is_pure(op)).collect();
        let mut needed: Vec<Vec<OpId>> = Vec::new();
        // The op that the walk is at, or in, by region.
        let mut reached: HashMap<RegionId, OpId> = HashMap::new();
        for op in f.iter() {
            reached.insert(f.parent_region(op), op);
            for maker in f.operands(op).filter_map(|value| f.defining_op(value)) {
                let Some(user) = reached.get(&f.parent_region(maker)) else {
                    continue;
                };
                if needed.len() <= user.index() {
                    needed.resize_with(user.index() + 1, Vec::new);
                }
                needed[user.index()].push(maker);
            }
        }
        Ok(Constraints { fixed, needed })
    }

    /// The ops of its region that an op needs, itself or in its regions, as it uses them.
    pub(crate) fn needed(&self, op: OpId) -> &[OpId] {
        self.needed.get(op.index()).map_or(&[], Vec::as_slice)
    }
}

/// Orders the ops of all regions.
pub(crate) fn schedule(f: &mut Function, order: Order) -> Result<(), EditError> {
    let constraints = Constraints::new(f)?;
    let mut regions = vec![f.body()];
    for op in f.iter() {
        regions.extend(f.regions(op));
    }
    for region in regions {
        // From the back, so that ops only move behind others: whether an op may move before others
        // depends on all that is nested in it.
        let mut behind = OpId::NONE;
        for op in order(f, region, &constraints).into_iter().rev() {
            let is_there = f.next_op(op).unwrap_or(OpId::NONE) == behind;
            if !is_there && f.terminator(region) != Some(op) {
                f.move_op(
                    op,
                    Position {
                        region,
                        before: behind,
                    },
                )?;
            }
            behind = op;
        }
    }
    Ok(())
}
