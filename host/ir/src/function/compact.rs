//! Rebuilding a function's arenas without what is dead.
//!
//! Edits never reuse an id, so erased records stay until the host compacts the function between
//! passes, when nobody holds its ids. Records keep their order, so what prints or exports in id
//! order does so as before; types, dims and locations stay as they are, since they are shared and
//! few.

use std::sync::Arc;

use passdock_abi::{
    Attr, AttrKind, ConstId, Constant, LocKind, Op, OpId, Range, Region, RegionId, TypeKind, Use,
    UseId, Value, ValueId,
};

use super::Function;
use super::locs::loc_range;
use crate::constant::ConstantData;
use crate::kept::Kept;
use crate::origin::{Entity, Origin, Origins};
use crate::pool::{AttrPools, push_range, slice, span};

/// Fewer dead records than this aren't worth the copy.
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

    /// Drops dead records. All ids of ops, values, regions, operand slots and constants change;
    /// nothing counts as edited.
    pub fn compact(&mut self) {
        self.settle_depths();
        let maps = Maps::new(self);
        let mut made = Made::default();
        self.tables(&mut made);
        for (op, _) in kept(&self.ops, &maps.ops) {
            let op = self.move_op_record(op, &maps, &mut made);
            made.ops.push(op);
        }
        for (value, _) in kept(&self.values, &maps.values) {
            let def = match value.flags & Value::KIND {
                Value::RESULT => &maps.ops,
                Value::ARG => &maps.regions,
                _ => &maps.constants,
            };
            made.values.push(Value {
                def: at(def, value.def),
                first_use: UseId(at(&maps.uses, value.first_use.0)),
                constant: maps.constant(value.constant),
                ..value
            });
        }
        let mut ports = Vec::new();
        let mut port_origins = Vec::new();
        let mut port_map = vec![NONE; self.ports.len()];
        for (region, old) in kept(&self.regions, &maps.regions) {
            made.levels.push(self.levels[old]);
            let args = slice(&self.ids, region.args);
            let args = push_range(&mut made.ids, args.iter().map(|&id| at(&maps.values, id)));
            for (index, place) in span(region.ports).enumerate() {
                port_map[place] = (ports.len() + index) as u32;
                port_origins.push(self.origins.get(Entity::Port(place as u32)));
            }
            let own = push_range(&mut ports, slice(&self.ports, region.ports).iter().copied());
            made.regions.push(Region {
                parent: maps.op(region.parent),
                args,
                ports: own,
                first: maps.op(region.first),
                last: maps.op(region.last),
                ..region
            });
        }
        for (constant, old) in kept(&self.constants, &maps.constants) {
            made.data.push(self.data[old].clone());
            made.constants.push(Constant {
                value: ValueId(at(&maps.values, constant.value.0)),
                region: maps.region(constant.region),
                anchor: maps.op(constant.anchor),
                ..constant
            });
        }
        let attrs = slice(&self.attrs, self.function_attrs).to_vec();
        self.function_attrs = self.move_attrs(&attrs, &maps, &mut made);
        let origins = self.move_origins(&maps, &port_map, port_origins);
        self.body = maps.region(self.body);
        self.version += 1;
        self.kept = Kept::default();
        self.origins = origins;
        self.ports = ports;
        (self.ops, self.values, self.uses) = (made.ops, made.values, made.uses);
        (self.regions, self.levels) = (made.regions, made.levels);
        self.nested_constants.clear();
        for (at, constant) in made.constants.iter().enumerate() {
            if constant.region != self.body {
                let nested = self.nested_constants.entry(constant.region).or_default();
                nested.push(ConstId(at as u32));
            }
        }
        (self.constants, self.data) = (made.constants, made.data);
        (self.attrs, self.ids, self.pools) = (made.attrs, made.ids, made.pools);
        self.far = vec![self.body; self.regions.len()];
        if !self.loose {
            self.measure_depths();
        }
    }

    /// Types and locations keep their ids; their lists move to the new pool.
    fn tables(&mut self, made: &mut Made) {
        for ty in &mut self.types {
            if ty.kind != TypeKind::BUFFER {
                let items = slice(&self.ids, ty.aux).iter().copied();
                ty.aux = push_range(&mut made.ids, items);
            }
        }
        let mut fused = false;
        for loc in &mut self.locs {
            if loc.kind == LocKind::FUSED {
                fused = true;
                let parts = slice(&self.ids, loc_range(loc)).iter().copied();
                let Range { start, len } = push_range(&mut made.ids, parts);
                (loc.a, loc.b) = (start, len);
            }
        }
        if fused {
            self.index_locs();
        }
    }

    fn move_op_record(&self, op: Op, maps: &Maps, made: &mut Made) -> Op {
        let results = slice(&self.ids, op.results);
        let results = push_range(
            &mut made.ids,
            results.iter().map(|&id| at(&maps.values, id)),
        );
        let regions = slice(&self.ids, op.regions);
        let regions = push_range(
            &mut made.ids,
            regions.iter().map(|&id| at(&maps.regions, id)),
        );
        let slots = slice(&self.uses, op.operands).iter();
        let operands = push_range(
            &mut made.uses,
            slots.map(|slot| Use {
                value: ValueId(at(&maps.values, slot.value.0)),
                user: maps.op(slot.user),
                next: UseId(at(&maps.uses, slot.next.0)),
                prev: UseId(at(&maps.uses, slot.prev.0)),
            }),
        );
        Op {
            operands,
            results,
            attrs: self.move_attrs(slice(&self.attrs, op.attrs), maps, made),
            regions,
            parent: maps.region(op.parent),
            prev: maps.op(op.prev),
            next: maps.op(op.next),
            ..op
        }
    }

    fn move_attrs(&self, attrs: &[Attr], maps: &Maps, made: &mut Made) -> Range {
        let mut moved = Vec::with_capacity(attrs.len());
        for attr in attrs {
            let mut attr = *attr;
            let ids = slice(&self.ids, attr.list).iter();
            match attr.kind {
                AttrKind::TENSOR => {
                    attr.bits = u64::from(at(&maps.constants, attr.bits as u32));
                }
                AttrKind::REGION => attr.bits = u64::from(at(&maps.regions, attr.bits as u32)),
                AttrKind::TENSORS => {
                    let ids = ids.map(|&id| at(&maps.constants, id));
                    attr.list = push_range(&mut made.ids, ids);
                }
                AttrKind::REGIONS => {
                    let ids = ids.map(|&id| at(&maps.regions, id));
                    attr.list = push_range(&mut made.ids, ids);
                }
                AttrKind::TYPES => attr.list = push_range(&mut made.ids, ids.copied()),
                _ => made.pools.copy_list(&self.pools, &mut attr),
            }
            moved.push(attr);
        }
        push_range(&mut made.attrs, moved)
    }

    fn move_origins(&mut self, maps: &Maps, ports: &[u32], port_origins: Vec<Origin>) -> Origins {
        let old = std::mem::take(&mut self.origins);
        let column = |column: &[Origin], map: &[u32]| {
            let pairs = column.iter().zip(map);
            let kept = pairs.filter(|(_, id)| **id != NONE);
            kept.map(|(origin, _)| *origin).collect::<Vec<_>>()
        };
        let has_ports = !old.ports.is_empty();
        let extras = old.extras.into_iter().filter_map(|(entity, extras)| {
            let moved = |map: &[u32], id: u32| Some(at(map, id)).filter(|&id| id != NONE);
            let entity = match entity {
                Entity::Function => entity,
                Entity::Op(id) => Entity::Op(OpId(moved(&maps.ops, id.0)?)),
                Entity::Value(id) => Entity::Value(ValueId(moved(&maps.values, id.0)?)),
                Entity::Region(id) => Entity::Region(RegionId(moved(&maps.regions, id.0)?)),
                Entity::Port(id) => Entity::Port(moved(ports, id)?),
                Entity::Constant(id) => Entity::Constant(ConstId(moved(&maps.constants, id.0)?)),
            };
            Some((entity, extras))
        });
        Origins {
            ops: column(&old.ops, &maps.ops),
            values: column(&old.values, &maps.values),
            regions: column(&old.regions, &maps.regions),
            ports: if has_ports { port_origins } else { Vec::new() },
            constants: column(&old.constants, &maps.constants),
            function: old.function,
            extras: extras.collect(),
        }
    }
}

/// The records that are kept, with their old places.
fn kept<'a, T: Copy>(records: &'a [T], map: &'a [u32]) -> impl Iterator<Item = (T, usize)> + 'a {
    let pairs = records.iter().zip(map).enumerate();
    pairs
        .filter(|(_, (_, id))| **id != NONE)
        .map(|(place, (record, _))| (*record, place))
}

fn at(map: &[u32], id: u32) -> u32 {
    map.get(id as usize).copied().unwrap_or(NONE)
}

/// The arenas of the compacted function.
#[derive(Default)]
struct Made {
    ops: Vec<Op>,
    values: Vec<Value>,
    uses: Vec<Use>,
    regions: Vec<Region>,
    levels: Vec<u32>,
    constants: Vec<Constant>,
    data: Vec<Arc<ConstantData>>,
    attrs: Vec<Attr>,
    ids: Vec<u32>,
    pools: AttrPools,
}

/// Old ids to new ones; [`NONE`] for those that are dropped.
struct Maps {
    ops: Vec<u32>,
    values: Vec<u32>,
    regions: Vec<u32>,
    constants: Vec<u32>,
    uses: Vec<u32>,
}

impl Maps {
    fn new(f: &Function) -> Maps {
        let constants = number(f.constants.len(), |at| {
            let id = ConstId(at as u32);
            f.live_constant(id).is_ok()
        });
        let ops = number(f.ops.len(), |at| f.ops[at].flags & Op::DEAD == 0);
        let values = number(f.values.len(), |place| {
            let value = &f.values[place];
            let defined = match value.flags & Value::KIND {
                Value::RESULT => at(&ops, value.def) != NONE,
                // With its region a constant is gone, and its value with it.
                Value::CONST => at(&constants, value.def) != NONE,
                _ => true,
            };
            value.flags & Value::DEAD == 0 && defined
        });
        // Slots are laid out op by op.
        let mut uses = vec![NONE; f.uses.len()];
        let mut next = 0;
        for (op, _) in kept(&f.ops, &ops) {
            for slot in span(op.operands) {
                uses[slot] = next;
                next += 1;
            }
        }
        Maps {
            values,
            regions: number(f.regions.len(), |at| {
                f.regions[at].flags & Region::DEAD == 0
            }),
            uses,
            constants,
            ops,
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
