//! The nodes of a region in the order in which they are written: ops, and constants that are nodes.
//!
//! The IR doesn't order constants. A constant that is a node keeps its position in the file, or moves before its first
//! user if that precedes it.

use passdock_abi::{ConstId, Constant, RegionId};
use passdock_ir::Entity;

use super::constants::is_imported;
use super::parts::Layout;
use passdock_ir::symbols::is_terminator;

/// A node to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// The op or constant.
    pub(crate) entity: Entity,
    /// The start of the node's message, if it comes from this graph in the file.
    pub(crate) start: Option<u64>,
}

impl Layout<'_> {
    /// Returns the nodes of a region. `starts` are the starts of the node messages in the file, in ascending order.
    /// With `no_initializers`, new constants become nodes.
    pub(crate) fn sequence(
        &mut self,
        region: RegionId,
        starts: &[u64],
        no_initializers: bool,
    ) -> Vec<Item> {
        let f = self.f;
        let item = |entity: Entity| {
            let start = f.origins().get(entity).start;
            let is_here = starts.binary_search(&start).is_ok();
            let start = is_here.then_some(start);
            Item { entity, start }
        };
        let mut items: Vec<Item> = Vec::new();
        for op in f.ops_in(region) {
            let terminator = is_terminator(f.op(op).name);
            if terminator || self.sparse.contains_key(&op) {
                continue;
            }
            items.push(item(Entity::Op(op)));
        }
        let mut constants: Vec<(ConstId, Item)> = Vec::new();
        for &(_, id) in self.constants.in_region(region) {
            let record = f.constant(id);
            let origin = f.origins().get(Entity::Constant(id));
            let was_node = record.flags & Constant::NODE != 0;
            let becomes_node = !origin.is_some() && no_initializers && !self.is_old_initializer(id);
            if !self.is_constant_value(record.value) || !(was_node || becomes_node) {
                continue;
            }
            if !is_imported(f, id) && f.value(record.value).use_count == 0 {
                continue;
            }
            constants.push((id, item(Entity::Constant(id))));
        }
        if constants.is_empty() {
            return items;
        }
        for (position, item) in items.iter().enumerate() {
            if let Entity::Op(op) = item.entity {
                self.positions[op.index()] = position as u32;
            }
        }
        if let Some(terminator) = f.terminator(region) {
            self.positions[terminator.index()] = items.len() as u32;
        }
        let by_start: Vec<(u64, u32)> = items
            .iter()
            .enumerate()
            .filter_map(|(position, item)| Some((item.start?, position as u32)))
            .collect();
        let sorted = by_start.is_sorted();
        let placed = constants.into_iter().map(|(id, item)| {
            let start = item.start.filter(|_| sorted);
            let position = self.position(region, id, start, &by_start, items.len());
            (position, item)
        });
        let mut constants: Vec<(u32, Item)> = placed.collect();
        constants.sort_by_key(|(position, item)| (*position, item.start.unwrap_or(u64::MAX)));
        merge(items, constants)
    }

    /// Returns the index of the op before which a constant is written.
    fn position(
        &self,
        region: RegionId,
        id: ConstId,
        start: Option<u64>,
        by_start: &[(u64, u32)],
        end: usize,
    ) -> u32 {
        let f = self.f;
        let record = f.constant(id);
        let original = match start {
            // Before the op that follows it in the file, or after the preceding one. Other ops may be new.
            Some(start) => {
                let (before, after) = by_start.split_at(by_start.partition_point(|e| e.0 < start));
                match (before.last(), after.first()) {
                    (_, Some(next)) => next.1,
                    (Some(previous), None) => previous.1 + 1,
                    (None, None) => 0,
                }
            }
            None => match record.anchor.option() {
                Some(op) if f.live_op(op).is_ok_and(|op| op.parent == region) => {
                    self.positions[op.index()]
                }
                _ => end as u32,
            },
        };
        let users = f.uses(record.value);
        let users = users.map(|(_, slot)| self.positions[f.op_around(slot.user, region).index()]);
        users.fold(original, u32::min)
    }
}

fn merge(ops: Vec<Item>, constants: Vec<(u32, Item)>) -> Vec<Item> {
    let mut merged = Vec::with_capacity(ops.len() + constants.len());
    let mut constants = constants.into_iter().peekable();
    for (position, op) in ops.into_iter().enumerate() {
        while let Some((_, constant)) = constants.next_if(|(at, _)| *at <= position as u32) {
            merged.push(constant);
        }
        merged.push(op);
    }
    merged.extend(constants.map(|(_, constant)| constant));
    merged
}
