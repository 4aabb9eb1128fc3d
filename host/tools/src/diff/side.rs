//! One of the two functions of a comparison: its nodes, and their text in the report.

use std::cell::OnceCell;

use passdock_abi::{
    Attr, AttrKind, ConstId, LocId, OpId, RegionId, Storage, SymbolId, TypeId, Value, ValueId,
};
use passdock_core::terminal::shortened;
use passdock_ir::{Function, text};
use rustc_hash::FxHashMap;

use crate::queries::node_names;

/// The maximum length of a text in the report, in characters.
const MAX_LINE_LEN: usize = 160;
/// The maximum length of a constant's data in the report, in characters.
const MAX_DATA_LEN: usize = 64;
/// The maximum number of results of an op that are named.
const MAX_RESULTS: usize = 3;

/// A value definition or a terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// An argument of a region; a parameter if the region is the body.
    Arg(ValueId),
    /// A constant that is a value.
    Const(ConstId),
    /// An op.
    Op(OpId),
}

impl Node {
    pub(super) fn op(self) -> Option<OpId> {
        match self {
            Node::Op(op) => Some(op),
            _ => None,
        }
    }

    pub(super) fn constant(self) -> Option<ConstId> {
        match self {
            Node::Const(id) => Some(id),
            _ => None,
        }
    }
}

/// One of the two functions of a comparison.
pub(super) struct Side<'f> {
    pub(super) f: &'f Function,
    /// 0 for the first function, 1 for the second.
    pub(super) index: usize,
    /// The constants that are values, by region.
    constants: FxHashMap<RegionId, Vec<Node>>,
    /// The printed parts of the function, computed on first use.
    pieces: OnceCell<text::Pieces<'f>>,
}

impl<'f> Side<'f> {
    pub(super) fn new(f: &'f Function, index: usize) -> Side<'f> {
        let mut constants: FxHashMap<RegionId, Vec<Node>> = FxHashMap::default();
        for (id, constant) in f.live_constants() {
            let value = constant.value.option().map(|value| f.value(value));
            if value.is_some_and(|value| value.flags & Value::KIND == Value::CONST) {
                let region = constant.region.option().unwrap_or(f.body());
                constants.entry(region).or_default().push(Node::Const(id));
            }
        }
        Side {
            f,
            index,
            constants,
            pieces: OnceCell::new(),
        }
    }

    /// Returns the arguments, constants and ops of a region, in order.
    pub(super) fn nodes(&self, region: RegionId) -> Vec<Node> {
        let args = self.f.args(region).map(Node::Arg);
        let constants = self.constants.get(&region).into_iter().flatten().copied();
        let ops = self.f.ops_in(region).map(Node::Op);
        args.chain(constants).chain(ops).collect()
    }

    /// Returns an op's name, or a fixed name for the other kinds of nodes.
    pub(super) fn kind(&self, node: Node) -> &'f str {
        match node {
            Node::Arg(_) => "=argument",
            Node::Const(_) => "=const",
            Node::Op(op) => self.f.text(self.f.op(op).name),
        }
    }

    /// Returns the first name among the values that a node defines.
    pub(super) fn name(&self, node: Node) -> Option<&'f str> {
        let name = |value: ValueId| optional_text(self.f, self.f.value(value).name);
        match node {
            Node::Arg(value) => name(value),
            Node::Const(id) => name(self.f.constant(id).value),
            Node::Op(op) => self.f.results(op).find_map(name),
        }
    }

    /// Whether a constant's value or its ONNX node has a name.
    pub(super) fn is_named(&self, id: ConstId) -> bool {
        let loc = self.f.constant(id).loc;
        self.name(Node::Const(id)).is_some() || node_names(self.f, loc).next().is_some()
    }

    /// Returns the node that defines a value and the value's index in it; `None` for an omitted operand.
    pub(super) fn definition(&self, value: ValueId) -> Option<(Node, u32)> {
        let value = value.option()?;
        let record = self.f.value(value);
        Some(
            match (self.f.defining_op(value), self.f.as_constant(value)) {
                (Some(op), _) => (Node::Op(op), record.index),
                (_, Some(id)) => (Node::Const(id), 0),
                _ => (Node::Arg(value), 0),
            },
        )
    }

    /// Returns an op's operands without trailing omitted ones; none for other nodes.
    pub(super) fn operands(&self, node: Node) -> impl ExactSizeIterator<Item = ValueId> + '_ {
        let slots = node.op().map_or(&[][..], |op| self.f.operands(op));
        let last = slots.iter().rposition(|slot| slot.value.is_some());
        let used = &slots[..last.map_or(0, |last| last + 1)];
        used.iter().map(|slot| slot.value)
    }

    /// Returns the regions of a node.
    pub(super) fn regions(&self, node: Node) -> Vec<RegionId> {
        node.op()
            .map_or(Vec::new(), |op| self.f.regions_of(op).collect())
    }

    /// Returns the region that contains a constant.
    pub(super) fn constant_region(&self, id: ConstId) -> RegionId {
        self.f.constant(id).region.option().unwrap_or(self.f.body())
    }

    /// Returns the terminator of a region.
    pub(super) fn terminator(&self, region: RegionId) -> Option<Node> {
        self.f.terminator(region).map(Node::Op)
    }

    /// Returns the number of ops in a region, at any depth, without terminators.
    pub(super) fn ops_inside(&self, region: RegionId) -> usize {
        let ops = self.f.walk(region);
        ops.filter(|op| !self.f.is_terminator(*op)).count()
    }

    /// Returns the names and types of the parameters.
    pub(super) fn params(&self) -> Vec<(SymbolId, TypeId)> {
        let values = self.f.args(self.f.body()).map(|arg| self.f.value(arg));
        values.map(|value| (value.name, value.ty)).collect()
    }

    /// Returns the names and types of the results.
    pub(super) fn results(&self) -> Vec<(SymbolId, TypeId)> {
        let ports = self.f.ports(self.f.body()).iter();
        ports.map(|port| (port.name, port.ty)).collect()
    }

    fn pieces(&self) -> &text::Pieces<'f> {
        self.pieces.get_or_init(|| text::Pieces::new(self.f))
    }

    pub(super) fn value_text(&self, value: ValueId) -> String {
        self.pieces().value(value)
    }

    /// Returns the text of an op's line.
    pub(super) fn op_text(&self, op: OpId) -> String {
        shortened(self.pieces().op(op), MAX_LINE_LEN)
    }

    /// Returns the beginning of an op's line: `%y = onnx.Relu`.
    pub(super) fn short_op(&self, op: OpId) -> String {
        let kind = self.kind(Node::Op(op));
        if self.f.is_terminator(op) {
            return kind.to_owned();
        }
        let mut results = self.f.results(op);
        let named = results.by_ref().take(MAX_RESULTS);
        let named: Vec<String> = named.map(|result| self.value_text(result)).collect();
        match (named.is_empty(), results.len()) {
            (true, _) => match self.f.operand(op, 0).option() {
                Some(operand) => format!("{kind}({}, …)", self.value_text(operand)),
                None => kind.to_owned(),
            },
            (_, 0) => format!("{} = {kind}", named.join(", ")),
            _ => format!("{}, … = {kind}", named.join(", ")),
        }
    }

    /// Describes a region; `None` for the body.
    pub(super) fn region_text(&self, region: RegionId) -> Option<String> {
        let record = self.f.region(region);
        let owner = record.parent.option()?;
        let name = optional_text(self.f, record.name).unwrap_or("a region");
        Some(format!("{name} of {}", self.short_op(owner)))
    }

    /// Returns the whole text of an attribute.
    pub(super) fn whole_attr(&self, op: OpId, attr: &Attr) -> String {
        self.pieces().attr(op, attr)
    }

    pub(super) fn attr_text(&self, op: OpId, attr: &Attr) -> String {
        match attr.kind {
            AttrKind::NONE => "no default".to_owned(),
            _ => shortened(self.whole_attr(op, attr), MAX_LINE_LEN),
        }
    }

    /// Returns a constant's type, and its data if it is short.
    pub(super) fn constant_text(&self, id: ConstId) -> String {
        let (f, data) = (self.f, self.f.constant_data(id));
        // Long data isn't printed, since it would be discarded.
        let is_short = data.len() <= MAX_DATA_LEN as u64 * 2 || data.storage() == Storage::SPLAT;
        let whole = is_short.then(|| self.pieces().constant(id));
        let is_shown = |text: &String| {
            (1..=MAX_DATA_LEN).contains(&text.chars().count()) && !text.contains("elided(")
        };
        whole
            .filter(is_shown)
            .unwrap_or_else(|| text::type_text(f, f.constant(id).ty))
    }

    /// Returns the names of the ONNX nodes at a location. A position in a text file has none.
    pub(super) fn node_names(&self, loc: LocId) -> Option<String> {
        let names: Vec<&str> = node_names(self.f, loc).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// Returns the text of a name; `None` if there is none.
pub(super) fn optional_text(f: &Function, name: SymbolId) -> Option<&str> {
    name.option().map(|name| f.text(name))
}
