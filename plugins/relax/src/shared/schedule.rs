//! Reordering of ops within regions.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::prelude::*;

/// Returns all ops of a region in the new order.
pub(crate) type Order = fn(&Function, RegionId, &Constraints) -> Vec<OpId>;

/// The constraints on an order.
pub(crate) struct Constraints {
    /// The ops that keep their relative order: those that have effects or contain ops with effects.
    pub(crate) fixed: HashSet<OpId>,
    /// Per op id, the ops of its region that it depends on, directly or in its regions.
    needed: Vec<Vec<OpId>>,
}

impl Constraints {
    /// Computes the constraints in one walk over the function.
    fn new(f: &Function) -> Result<Constraints, EditError> {
        let effects = f.effects()?;
        let fixed = f.iter().filter(|&op| !effects.is_pure(op)).collect();
        let mut needed: Vec<Vec<OpId>> = Vec::new();
        // Per region, the op that the walk is at or in.
        let mut reached: HashMap<RegionId, OpId> = HashMap::new();
        for op in f.iter() {
            reached.insert(f.parent_region(op), op);
            for producer in f.operands(op).filter_map(|value| f.defining_op(value)) {
                let Some(user) = reached.get(&f.parent_region(producer)) else {
                    continue;
                };
                if needed.len() <= user.index() {
                    needed.resize_with(user.index() + 1, Vec::new);
                }
                needed[user.index()].push(producer);
            }
        }
        Ok(Constraints { fixed, needed })
    }

    /// Returns the ops of its region that an op depends on, directly or in its regions, in order of use.
    pub(crate) fn needed(&self, op: OpId) -> &[OpId] {
        self.needed.get(op.index()).map_or(&[], Vec::as_slice)
    }
}

/// Reorders the ops of all regions.
pub(crate) fn schedule(f: &mut Function, order: Order) -> Result<(), EditError> {
    let constraints = Constraints::new(f)?;
    let mut regions = vec![f.body()];
    for op in f.iter() {
        regions.extend(f.regions(op));
    }
    for region in regions {
        // In reverse order, so that ops only move down: moving up would require checks of all nested ops.
        let mut next = OpId::NONE;
        for op in order(f, region, &constraints).into_iter().rev() {
            let is_in_place = f.next_op(op).unwrap_or(OpId::NONE) == next;
            if !is_in_place && !f.is_terminator(op) {
                f.move_op(
                    op,
                    Position {
                        region,
                        before: next,
                    },
                )?;
            }
            next = op;
        }
    }
    Ok(())
}
