//! The edits: the only code that changes a function.
//!
//! Each edit checks its arguments before it changes anything, so a rejected edit has no effect. Each marks the entities
//! that it changes, so an exporter copies all others. Ids aren't reused: erased entities stay in their arena, marked
//! dead, until the host compacts the function between passes.

mod attr;
mod clone;
mod constant;
mod create;
mod erase;
mod import;
mod inline;
mod operand;
mod order;
mod outline;
mod region;
mod replace;
mod scratch;
mod symbols;
mod value;

pub use attr::{AttrData, NewAttr};
pub use clone::{CloneOps, CloneRegion};
pub use create::{NewOp, NewPort, NewRegion, Position};
pub use import::MAX_OPSETS;
pub use outline::OutlinedOps;

use passdock_abi::{Op, OpId, Region, RegionId, ValueId};

use crate::function::Function;

impl Function {
    /// Marks an op and the regions and ops around it as changed.
    pub(crate) fn touch_op(&mut self, op: OpId) {
        let record = &mut self.ops[op.index()];
        record.flags |= Op::TOUCHED;
        let parent = record.parent;
        self.touch_region(parent);
    }

    /// Marks a region and the regions and ops around it as changed.
    pub(crate) fn touch_region(&mut self, region: RegionId) {
        self.version += 1;
        self.touched = true;
        let mut region = region;
        // If a region is marked, the regions around it are, too.
        while region.is_some() && self.regions[region.index()].flags & Region::TOUCHED == 0 {
            let record = &mut self.regions[region.index()];
            record.flags |= Region::TOUCHED;
            region = match record.parent.option() {
                Some(op) => self.ops[op.index()].parent,
                None => RegionId::NONE,
            };
        }
    }

    /// Marks the function's header as changed.
    pub(crate) fn touch_function(&mut self) {
        self.version += 1;
        self.touched = true;
    }

    /// Marks the ops that use a value as changed.
    pub(crate) fn touch_users(&mut self, value: ValueId) {
        let users: Vec<OpId> = self.uses(value).map(|(_, slot)| slot.user).collect();
        for user in users {
            self.touch_op(user);
        }
    }
}
