//! Rebuilding a function's arenas without dead records.
//!
//! Edits never reuse an id, so erased records stay until the host compacts the function between passes, when no code
//! holds its ids. Records keep their order, so output in id order doesn't change. Types, dims and locations stay
//! unchanged, since they are shared and few.

use passdock_abi::{
    Attr, AttrKind, ConstId, Constant, LocKind, Op, OpId, Port, Range, Region, RegionId, TypeKind,
    Use, UseId, Value, ValueId,
};

use super::Function;
use super::locs::loc_range;
use crate::cache::CachedValues;
use crate::function::origin::Entity;
use crate::pool::{AttrPools, push_range, slice, span};

/// The minimum number of dead records that is worth the copy.
const MIN_DEAD: usize = 64;
const NONE: u32 = u32::MAX;

impl Function {
    /// Whether more than half of the op or the value records are dead.
    pub fn needs_compaction(&self) -> bool {
        let mostly = |dead: usize, all: usize| dead >= MIN_DEAD && dead * 2 > all;
        let dead_ops = self.ops.len().saturating_sub(self.live_ops as usize);
        let is_dead = |value: &&Value| value.flags & Value::DEAD != 0;
        mostly(dead_ops, self.ops.len())
            || mostly(
                self.values.iter().filter(is_dead).count(),
                self.values.len(),
            )
    }

    /// Drops dead records. All ids of ops, values, regions, operand slots and constants change; the version doesn't.
    pub fn compact(&mut self) {
        let maps = Maps::new(self);
        let mut lists = Lists::default();
        self.move_tables(&mut lists);
        let ops = live_records(&self.ops, &maps.ops);
        self.ops = ops.map(|op| self.moved_op(op, &maps, &mut lists)).collect();
        let values = live_records(&self.values, &maps.values).map(|value| Value {
            def: at(maps.definitions(&value), value.def),
            first_use: UseId(at(&maps.uses, value.first_use.0)),
            constant: maps.constant(value.constant),
            ..value
        });
        self.values = values.collect();
        let regions = live_records(&self.regions, &maps.regions).map(|region| Region {
            parent: maps.op(region.parent),
            args: lists.add_ids(slice(&self.ids, region.args), &maps.values),
            ports: push_range(
                &mut lists.ports,
                slice(&self.ports, region.ports).iter().copied(),
            ),
            first: maps.op(region.first),
            last: maps.op(region.last),
            ..region
        });
        self.regions = regions.collect();
        let constants = live_records(&self.constants, &maps.constants).map(|constant| Constant {
            value: ValueId(at(&maps.values, constant.value.0)),
            region: maps.region(constant.region),
            anchor: maps.op(constant.anchor),
            ..constant
        });
        self.constants = constants.collect();
        self.data = live_records(&self.data, &maps.constants).collect();
        let attrs = slice(&self.attrs, self.function_attrs);
        self.function_attrs = self.moved_attrs(attrs, &maps, &mut lists);
        (self.uses, self.ports, self.attrs) = (lists.uses, lists.ports, lists.attrs);
        (self.ids, self.pools) = (lists.ids, lists.pools);
        self.origins = self.origins.moved(|entity| maps.entity(entity));
        self.body = maps.region(self.body);
        self.version += 1;
        self.cached = CachedValues::default();
        self.nested_constants.clear();
        for (at, constant) in self.constants.iter().enumerate() {
            if constant.region != self.body {
                let nested = self.nested_constants.entry(constant.region).or_default();
                nested.push(ConstId(at as u32));
            }
        }
    }

    /// Moves the lists of types and locations to the new pool; their ids stay.
    fn move_tables(&mut self, lists: &mut Lists) {
        for ty in &mut self.types {
            if ty.kind != TypeKind::BUFFER {
                let items = slice(&self.ids, ty.aux).iter().copied();
                ty.aux = push_range(&mut lists.ids, items);
            }
        }
        let mut fused = false;
        for loc in &mut self.locs {
            if loc.kind == LocKind::FUSED {
                fused = true;
                let parts = slice(&self.ids, loc_range(loc)).iter().copied();
                let Range { start, len } = push_range(&mut lists.ids, parts);
                (loc.a, loc.b) = (start, len);
            }
        }
        if fused {
            self.index_locs();
        }
    }

    fn moved_op(&self, op: Op, maps: &Maps, lists: &mut Lists) -> Op {
        let slots = slice(&self.uses, op.operands).iter().map(|slot| Use {
            value: ValueId(at(&maps.values, slot.value.0)),
            user: maps.op(slot.user),
            next: UseId(at(&maps.uses, slot.next.0)),
            prev: UseId(at(&maps.uses, slot.prev.0)),
        });
        Op {
            operands: push_range(&mut lists.uses, slots),
            results: lists.add_ids(slice(&self.ids, op.results), &maps.values),
            attrs: self.moved_attrs(slice(&self.attrs, op.attrs), maps, lists),
            regions: lists.add_ids(slice(&self.ids, op.regions), &maps.regions),
            parent: maps.region(op.parent),
            prev: maps.op(op.prev),
            next: maps.op(op.next),
            ..op
        }
    }

    fn moved_attrs(&self, attrs: &[Attr], maps: &Maps, lists: &mut Lists) -> Range {
        let start = lists.attrs.len() as u32;
        for attr in attrs {
            let mut attr = *attr;
            let (id, ids) = (attr.bits as u32, slice(&self.ids, attr.list));
            match attr.kind {
                AttrKind::TENSOR => attr.bits = u64::from(at(&maps.constants, id)),
                AttrKind::REGION => attr.bits = u64::from(at(&maps.regions, id)),
                AttrKind::TENSORS => attr.list = lists.add_ids(ids, &maps.constants),
                AttrKind::REGIONS => attr.list = lists.add_ids(ids, &maps.regions),
                AttrKind::TYPES => attr.list = push_range(&mut lists.ids, ids.iter().copied()),
                _ => lists.pools.copy_list(&self.pools, &mut attr),
            }
            lists.attrs.push(attr);
        }
        let len = attrs.len() as u32;
        Range { start, len }
    }
}

/// Iterates over the retained records.
fn live_records<'a, T: Clone>(records: &'a [T], map: &'a [u32]) -> impl Iterator<Item = T> + 'a {
    let pairs = records.iter().zip(map).filter(|(_, id)| **id != NONE);
    pairs.map(|(record, _)| record.clone())
}

fn at(map: &[u32], id: u32) -> u32 {
    map.get(id as usize).copied().unwrap_or(NONE)
}

/// The pools of lists of the compacted function.
#[derive(Default)]
struct Lists {
    uses: Vec<Use>,
    ports: Vec<Port>,
    attrs: Vec<Attr>,
    ids: Vec<u32>,
    pools: AttrPools,
}

impl Lists {
    fn add_ids(&mut self, ids: &[u32], map: &[u32]) -> Range {
        push_range(&mut self.ids, ids.iter().map(|&id| at(map, id)))
    }
}

/// Maps from old ids to new ones; [`NONE`] for dropped records.
struct Maps {
    ops: Vec<u32>,
    values: Vec<u32>,
    regions: Vec<u32>,
    constants: Vec<u32>,
    uses: Vec<u32>,
    ports: Vec<u32>,
}

impl Maps {
    fn new(f: &Function) -> Maps {
        let constants = number(f.constants.len(), |at| {
            f.live_constant(ConstId(at as u32)).is_ok()
        });
        let ops = number(f.ops.len(), |at| f.ops[at].flags & Op::DEAD == 0);
        let regions = number(f.regions.len(), |at| {
            f.regions[at].flags & Region::DEAD == 0
        });
        let values = number(f.values.len(), |old| {
            let value = &f.values[old];
            let defined = match value.flags & Value::KIND {
                Value::RESULT => at(&ops, value.def) != NONE,
                // A constant is erased with its region, and its value with it.
                Value::CONST => at(&constants, value.def) != NONE,
                _ => true,
            };
            value.flags & Value::DEAD == 0 && defined
        });
        let slots = live_records(&f.ops, &ops).map(|op| op.operands);
        let ports = live_records(&f.regions, &regions).map(|region| region.ports);
        Maps {
            uses: lay_out(f.uses.len(), slots),
            ports: lay_out(f.ports.len(), ports),
            ops,
            values,
            regions,
            constants,
        }
    }

    fn op(&self, id: OpId) -> OpId {
        OpId(at(&self.ops, id.0))
    }

    fn region(&self, id: RegionId) -> RegionId {
        RegionId(at(&self.regions, id.0))
    }

    fn constant(&self, id: ConstId) -> ConstId {
        ConstId(at(&self.constants, id.0))
    }

    /// Returns the map for the definition of a value.
    fn definitions(&self, value: &Value) -> &[u32] {
        match value.flags & Value::KIND {
            Value::RESULT => &self.ops,
            Value::ARG => &self.regions,
            _ => &self.constants,
        }
    }

    fn entity(&self, entity: Entity) -> Option<Entity> {
        let moved = |map: &[u32], id: u32| Some(at(map, id)).filter(|&id| id != NONE);
        Some(match entity {
            Entity::Function => entity,
            Entity::Op(id) => Entity::Op(OpId(moved(&self.ops, id.0)?)),
            Entity::Value(id) => Entity::Value(ValueId(moved(&self.values, id.0)?)),
            Entity::Region(id) => Entity::Region(RegionId(moved(&self.regions, id.0)?)),
            Entity::Port(id) => Entity::Port(moved(&self.ports, id)?),
            Entity::Constant(id) => Entity::Constant(ConstId(moved(&self.constants, id.0)?)),
        })
    }
}

fn number(count: usize, keep: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut next = 0;
    let numbers = (0..count).map(|at| {
        if !keep(at) {
            return NONE;
        }
        next += 1;
        next - 1
    });
    numbers.collect()
}

/// Assigns consecutive indexes to the entries of ranges, in the order of the ranges.
fn lay_out(count: usize, ranges: impl Iterator<Item = Range>) -> Vec<u32> {
    let mut new_ids = vec![NONE; count];
    for (next, old) in ranges.flat_map(span).enumerate() {
        new_ids[old] = next as u32;
    }
    new_ids
}
