//! One function as a graph: what defines values, in flat lists.

use std::ops::Range;

use passdock_abi::{
    ConstId, LocId, LocKind, OpId, RegionId, SymbolId, TypeId, Value, ValueId, symbol,
};
use passdock_ir::Function;
use rustc_hash::FxHashMap;

use super::NONE;
use super::shared::SharedSymbols;

/// The entity that a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A region's argument; of the body, a parameter.
    Arg(ValueId),
    /// A constant that is a value.
    Const(ConstId),
    /// An op.
    Op(OpId),
}

/// The kind of a constant, beside the names of ops.
pub(super) const CONST: u32 = u32::MAX - 2;
/// The kind of an argument.
pub(super) const ARG: u32 = u32::MAX - 3;

/// Something that defines values, or a terminator.
pub(super) struct Node {
    pub(super) what: What,
    /// The area it stands in.
    pub(super) area: u32,
    /// The shared symbol of the op's name, or [`CONST`] or [`ARG`].
    pub(super) kind: u32,
    /// The shared symbol of the first name among its values, or NONE.
    pub(super) name: u32,
    /// The shared symbol of its node's name, or NONE.
    pub(super) loc: u32,
}

/// A region: its arguments, its constants, its ops, next to each other and in order.
pub(super) struct Area {
    pub(super) region: RegionId,
    /// The shared symbol of its name among its op's regions, or NONE.
    pub(super) name: u32,
    pub(super) nodes: Range<u32>,
    /// The op that has it; NONE: it is the body.
    pub(super) owner: u32,
}

pub(super) struct Graph<'f> {
    pub(super) f: &'f Function,
    /// The first function (0) or the second (1).
    pub(super) side: usize,
    pub(super) nodes: Vec<Node>,
    /// The body first, then level by level.
    pub(super) areas: Vec<Area>,
    /// The areas of an op with regions.
    areas_of: FxHashMap<u32, Range<u32>>,
    /// The area of each region of an op.
    area_of_region: FxHashMap<RegionId, u32>,
    /// The node of each value, and which of its values it is.
    places: Vec<(u32, u32)>,
    /// The node of each op.
    of_op: Vec<u32>,
}

impl<'f> Graph<'f> {
    pub(super) fn new(f: &'f Function, side: usize, symbols: &mut SharedSymbols<'_>) -> Graph<'f> {
        let mut constants: Vec<(RegionId, ConstId)> = f
            .live_constants()
            .filter(|(_, constant)| {
                let value = constant.value.option();
                value.is_some_and(|value| f.value(value).flags & Value::KIND == Value::CONST)
            })
            .map(|(id, constant)| (constant.region.option().unwrap_or(f.body()), id))
            .collect();
        constants.sort_by_key(|entry| entry.0);
        let mut graph = Graph {
            f,
            side,
            nodes: Vec::with_capacity(f.live_op_count() as usize + constants.len()),
            areas: Vec::new(),
            areas_of: FxHashMap::default(),
            area_of_region: FxHashMap::default(),
            places: vec![(NONE, 0); f.value_ids()],
            of_op: vec![NONE; f.op_ids()],
        };
        graph.areas.push(Area {
            region: f.body(),
            name: NONE,
            nodes: 0..0,
            owner: NONE,
        });
        let mut at = 0;
        while at < graph.areas.len() {
            graph.area(at as u32, &constants, symbols);
            at += 1;
        }
        graph
    }

    fn area(
        &mut self,
        area: u32,
        constants: &[(RegionId, ConstId)],
        symbols: &mut SharedSymbols<'_>,
    ) {
        let f = self.f;
        let region = self.areas[area as usize].region;
        let start = self.nodes.len() as u32;
        for arg in f.args(region) {
            self.define(arg, 0);
            let name = symbols.of(self.side, f.value(arg).name);
            self.push(What::Arg(arg), area, ARG, name, NONE);
        }
        let from = constants.partition_point(|entry| entry.0 < region);
        let of_region = constants[from..].iter();
        for &(_, id) in of_region.take_while(|entry| entry.0 == region) {
            let constant = f.constant(id);
            self.define(constant.value, 0);
            let name = symbols.of(self.side, f.value(constant.value).name);
            let loc = symbols.of(self.side, node_name(f, constant.loc));
            self.push(What::Const(id), area, CONST, name, loc);
        }
        for op in f.ops_in(region) {
            let record = f.op(op);
            let node = self.nodes.len() as u32;
            let mut name = NONE;
            for (index, result) in f.results(op).enumerate() {
                self.define(result, index as u32);
                if name == NONE {
                    name = symbols.of(self.side, f.value(result).name);
                }
            }
            self.of_op[op.index()] = node;
            let kind = symbols.of(self.side, record.name);
            let loc = symbols.of(self.side, node_name(f, record.loc));
            self.push(What::Op(op), area, kind, name, loc);
            if record.regions.len > 0 {
                let first = self.areas.len() as u32;
                let side = self.side;
                self.areas.extend(f.regions_of(op).map(|region| Area {
                    region,
                    name: symbols.of(side, f.region(region).name),
                    nodes: 0..0,
                    owner: node,
                }));
                let range = first..self.areas.len() as u32;
                for area in range.clone() {
                    let region = self.areas[area as usize].region;
                    self.area_of_region.insert(region, area);
                }
                self.areas_of.insert(node, range);
            }
        }
        self.areas[area as usize].nodes = start..self.nodes.len() as u32;
    }

    fn define(&mut self, value: ValueId, index: u32) {
        self.places[value.index()] = (self.nodes.len() as u32, index);
    }

    fn push(&mut self, what: What, area: u32, kind: u32, name: u32, loc: u32) {
        self.nodes.push(Node {
            what,
            area,
            kind,
            name,
            loc,
        });
    }

    pub(super) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// The names and types of the parameters.
    pub(super) fn params(&self) -> Vec<(SymbolId, TypeId)> {
        let param = |value: ValueId| (self.f.value(value).name, self.f.value(value).ty);
        self.f.args(self.f.body()).map(param).collect()
    }

    /// The names and types of the results.
    pub(super) fn results(&self) -> Vec<(SymbolId, TypeId)> {
        let ports = self.f.ports(self.f.body()).iter();
        ports.map(|port| (port.name, port.ty)).collect()
    }

    /// The node that defines a value and which of its values it is; `None` for an operand left out.
    pub(super) fn place(&self, value: ValueId) -> Option<(u32, u32)> {
        let place = *self.places.get(value.index())?;
        (place.0 != NONE).then_some(place)
    }

    pub(super) fn node_of(&self, op: OpId) -> u32 {
        self.of_op[op.index()]
    }

    /// The op that a node is.
    pub(super) fn op(&self, node: u32) -> Option<OpId> {
        match self.node(node).what {
            What::Op(op) => Some(op),
            _ => None,
        }
    }

    /// The constant that a node is.
    pub(super) fn constant(&self, node: u32) -> Option<ConstId> {
        match self.node(node).what {
            What::Const(id) => Some(id),
            _ => None,
        }
    }

    /// An op's operands, without those left out at the end; of other nodes none.
    pub(super) fn operands(
        &self,
        node: u32,
    ) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + '_ {
        let slots = match self.node(node).what {
            What::Op(op) => self.f.operands(op),
            _ => &[],
        };
        let used = slots.iter().rposition(|slot| slot.value.is_some());
        slots[..used.map_or(0, |last| last + 1)]
            .iter()
            .map(|slot| slot.value)
    }

    /// The values that a node defines.
    pub(super) fn values(&self, node: u32) -> impl Iterator<Item = ValueId> + '_ {
        let (one, op) = match self.node(node).what {
            What::Arg(value) => (Some(value), None),
            What::Const(id) => (Some(self.f.constant(id).value), None),
            What::Op(op) => (None, Some(op)),
        };
        one.into_iter()
            .chain(op.into_iter().flat_map(|op| self.f.results(op)))
    }

    /// The users of a value, each with the slot in which it uses it.
    pub(super) fn users(&self, value: ValueId) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.f.uses(value).map(|(id, slot)| {
            let first = self.f.op(slot.user).operands.start;
            (self.node_of(slot.user), id.0 - first)
        })
    }

    /// The areas of a node's regions.
    pub(super) fn areas_of(&self, node: u32) -> Range<u32> {
        self.areas_of.get(&node).cloned().unwrap_or(0..0)
    }

    /// The place of a region among its op's; `None` if it isn't an op's.
    pub(super) fn region_place(&self, region: RegionId) -> Option<u32> {
        Some(self.area_place(*self.area_of_region.get(&region)?))
    }

    /// The place of an area among its op's.
    pub(super) fn area_place(&self, area: u32) -> u32 {
        area - self.areas_of(self.areas[area as usize].owner).start
    }

    /// The terminator of an area.
    pub(super) fn terminator(&self, area: u32) -> Option<u32> {
        let op = self.f.terminator(self.areas[area as usize].region)?;
        Some(self.node_of(op))
    }

    /// The nodes, each behind those whose values it uses and those nested in it.
    pub(super) fn inside_out(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.nodes.len());
        // What is left of an area, and the op to name behind it.
        let mut open = vec![(self.areas[0].nodes.clone(), NONE)];
        while let Some((rest, owner)) = open.last_mut() {
            let Some(node) = rest.next() else {
                if *owner != NONE {
                    order.push(*owner);
                }
                open.pop();
                continue;
            };
            let areas = self.areas_of(node);
            if areas.is_empty() {
                order.push(node);
                continue;
            }
            // The last one is opened first, so it is left last.
            let last = areas.end - 1;
            for area in areas.rev() {
                let owner = if area == last { node } else { NONE };
                open.push((self.areas[area as usize].nodes.clone(), owner));
            }
        }
        order
    }

    /// The number of ops in a node's regions, at any depth, without terminators.
    pub(super) fn nested_ops(&self, node: u32) -> usize {
        let areas = self.areas_of(node);
        areas.map(|area| self.ops_inside(area)).sum()
    }

    /// The number of ops in an area, at any depth, without terminators.
    pub(super) fn ops_inside(&self, area: u32) -> usize {
        let ops = self.f.walk(self.areas[area as usize].region);
        let is_terminator =
            |op: &OpId| matches!(self.f.op(*op).name, symbol::RETURN | symbol::YIELD);
        ops.filter(|op| !is_terminator(op)).count()
    }
}

/// The name of the ONNX node that something comes from. A place in a text isn't one.
pub(super) fn node_name(f: &Function, loc: LocId) -> SymbolId {
    match f.loc(loc) {
        Some(loc) if loc.kind == LocKind::NAME => loc.name,
        _ => SymbolId::NONE,
    }
}
