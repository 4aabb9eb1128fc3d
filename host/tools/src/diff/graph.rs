//! One function as a graph: what defines values, in flat lists.

use std::ops::Range;

use passdock_abi::{
    ConstId, LocId, LocKind, OpId, RegionId, SymbolId, TypeId, Value, ValueId, symbol,
};
use passdock_ir::Function;
use rustc_hash::FxHashMap;

use super::NONE;

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
pub(super) const CONST: &str = "=const";
/// The kind of an argument.
pub(super) const ARG: &str = "=argument";

/// Something that defines values, or a terminator.
pub(super) struct Node<'f> {
    pub(super) what: What,
    /// The area it is in.
    pub(super) area: u32,
    /// The op's name, or [`CONST`] or [`ARG`].
    pub(super) kind: &'f str,
    /// The first name among its values.
    pub(super) name: Option<&'f str>,
    /// The name of its ONNX node.
    loc: Option<&'f str>,
}

impl Node<'_> {
    /// Whether a value or the ONNX node has a name.
    pub(super) fn is_named(&self) -> bool {
        self.name.or(self.loc).is_some()
    }
}

/// A region: its arguments, its constants, its ops, next to each other and in order.
pub(super) struct Area<'f> {
    pub(super) region: RegionId,
    /// Its name among its op's regions.
    pub(super) name: Option<&'f str>,
    pub(super) nodes: Range<u32>,
    /// The op that has it; NONE: it is the body.
    pub(super) owner: u32,
}

pub(super) struct Graph<'f> {
    pub(super) f: &'f Function,
    /// The first function (0) or the second (1).
    pub(super) side: usize,
    pub(super) nodes: Vec<Node<'f>>,
    /// The body first, then level by level.
    pub(super) areas: Vec<Area<'f>>,
    /// The areas of an op with regions.
    areas_of: FxHashMap<u32, Range<u32>>,
    /// The node of each value, and which of its values it is.
    places: Vec<(u32, u32)>,
    /// The node of each op.
    of_op: Vec<u32>,
}

impl<'f> Graph<'f> {
    pub(super) fn new(f: &'f Function, side: usize) -> Graph<'f> {
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
            places: vec![(NONE, 0); f.value_ids()],
            of_op: vec![NONE; f.op_ids()],
        };
        graph.areas.push(Area {
            region: f.body(),
            name: None,
            nodes: 0..0,
            owner: NONE,
        });
        let mut at = 0;
        while at < graph.areas.len() {
            graph.area(at as u32, &constants);
            at += 1;
        }
        graph
    }

    fn area(&mut self, area: u32, constants: &[(RegionId, ConstId)]) {
        let f = self.f;
        let name = |value: ValueId| text_of(f, f.value(value).name);
        let region = self.areas[area as usize].region;
        let start = self.nodes.len() as u32;
        for arg in f.args(region) {
            self.define(arg, 0);
            self.push(What::Arg(arg), area, ARG, name(arg), None);
        }
        let from = constants.partition_point(|entry| entry.0 < region);
        let of_region = constants[from..].iter();
        for &(_, id) in of_region.take_while(|entry| entry.0 == region) {
            let constant = f.constant(id);
            self.define(constant.value, 0);
            let loc = node_name(f, constant.loc);
            self.push(What::Const(id), area, CONST, name(constant.value), loc);
        }
        for op in f.ops_in(region) {
            let record = f.op(op);
            let node = self.nodes.len() as u32;
            for (index, result) in f.results(op).enumerate() {
                self.define(result, index as u32);
            }
            self.of_op[op.index()] = node;
            let (kind, loc) = (f.text(record.name), node_name(f, record.loc));
            let name = f.results(op).find_map(name);
            self.push(What::Op(op), area, kind, name, loc);
            if record.regions.len > 0 {
                let first = self.areas.len() as u32;
                self.areas.extend(f.regions_of(op).map(|region| Area {
                    region,
                    name: text_of(f, f.region(region).name),
                    nodes: 0..0,
                    owner: node,
                }));
                self.areas_of.insert(node, first..self.areas.len() as u32);
            }
        }
        self.areas[area as usize].nodes = start..self.nodes.len() as u32;
    }

    fn define(&mut self, value: ValueId, index: u32) {
        self.places[value.index()] = (self.nodes.len() as u32, index);
    }

    fn push(
        &mut self,
        what: What,
        area: u32,
        kind: &'f str,
        name: Option<&'f str>,
        loc: Option<&'f str>,
    ) {
        self.nodes.push(Node {
            what,
            area,
            kind,
            name,
            loc,
        });
    }

    pub(super) fn node(&self, node: u32) -> &Node<'f> {
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

    /// The terminator of an area.
    pub(super) fn terminator(&self, area: u32) -> Option<u32> {
        let op = self.f.terminator(self.areas[area as usize].region)?;
        Some(self.node_of(op))
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

/// The text of a name; `None`: there is none.
pub(super) fn text_of(f: &Function, name: SymbolId) -> Option<&str> {
    name.option().map(|name| f.text(name))
}

/// The name of the ONNX node that something comes from. A position in a text isn't one.
pub(super) fn node_name(f: &Function, loc: LocId) -> Option<&str> {
    let loc = f.loc(loc).filter(|loc| loc.kind == LocKind::NAME)?;
    text_of(f, loc.name)
}
