//! From pairs to the report: what isn't the same in a pair, and what has no counterpart.

use passdock_abi::{FunctionKind, LocId, LocKind, OpId, Range, SymbolId, Value, ValueId};
use passdock_ir::{Function, text};
use rustc_hash::FxHashMap;

use super::content::{self, Contents};
use super::graph::{Graph, What, node_name};
use super::hash::Context;
use super::interface::Interface;
use super::lines::Lines;
use super::matching::{self, Matching};
use super::report::{
    Change, ConstantDiff, FunctionDiff, OpChange, OpDiff, Relocation, Renaming, Rewired, Setting,
};
use super::shared::{SharedSymbols, SharedTypes, Side};
use super::{NONE, align, settings};
use passdock_core::PassError;

pub(super) const SIDES: [Side; 2] = [Side::A, Side::B];

/// Two functions side by side.
pub(super) struct Comparison<'f, 's, 'm> {
    pub(super) graphs: [Graph<'f>; 2],
    pub(super) interface: Interface,
    pub(super) m: Matching,
    pub(super) contents: Contents,
    pub(super) symbols: &'s mut SharedSymbols<'m>,
    pub(super) types: SharedTypes,
    pub(super) lines: [Lines<'f>; 2],
    pub(super) out: FunctionDiff,
    /// The changes of each op of the second function.
    changes: FxHashMap<u32, Vec<OpChange>>,
    /// The operands that came or went with each op or constant without a counterpart.
    pub(super) rewired: [FxHashMap<u32, Vec<Rewired>>; 2],
    /// Removed ops and the added constants that stand for their results; and back.
    pub(super) folded: [FxHashMap<u32, u32>; 2],
}

impl FunctionDiff {
    /// Nothing differs.
    pub(super) fn new(f: &Function) -> FunctionDiff {
        FunctionDiff {
            name: f.text(f.name()).to_owned(),
            change: Change::Changed,
            ops_before: 0,
            ops_after: 0,
            settings: Vec::new(),
            interface: Vec::new(),
            ops: Vec::new(),
            constants: Vec::new(),
            types: Vec::new(),
            renamed: Vec::new(),
            relocated: Vec::new(),
            moved: Vec::new(),
            ordered: false,
        }
    }
}

impl<'f, 's, 'm> Comparison<'f, 's, 'm> {
    pub(super) fn new(
        a: &'f Function,
        b: &'f Function,
        symbols: &'s mut SharedSymbols<'m>,
    ) -> Result<Comparison<'f, 's, 'm>, PassError> {
        let mut types = SharedTypes::default();
        let contents = Contents::new([a, b], &mut types)?;
        let graphs = [
            Graph::new(a, Side::A, symbols),
            Graph::new(b, Side::B, symbols),
        ];
        let interface = Interface::new(&graphs[0], &graphs[1], symbols, &mut types);
        let mut cx = Context {
            contents: &contents,
            symbols,
            types: &mut types,
        };
        let m = matching::matching(&graphs[0], &graphs[1], &interface, &mut cx);
        Ok(Comparison {
            interface,
            m,
            contents,
            symbols,
            types,
            lines: [Lines::new(a), Lines::new(b)],
            out: FunctionDiff {
                ops_before: a.op_count(),
                ops_after: b.op_count(),
                ordered: [a, b].iter().any(|f| f.kind() == FunctionKind::PRIM),
                ..FunctionDiff::new(b)
            },
            changes: FxHashMap::default(),
            rewired: Default::default(),
            folded: Default::default(),
            graphs,
        })
    }

    /// Compares all pairs.
    pub(super) fn report(mut self) -> FunctionDiff {
        self.settings();
        self.ports();
        let areas = std::mem::take(&mut self.m.areas);
        for &(a, b) in &areas {
            self.pairs(a, b);
        }
        for &(a, b) in &areas {
            self.list(a, b);
        }
        self.out
    }

    fn settings(&mut self) {
        let all = [0, 1].map(|side| {
            let f = self.graphs[side].f;
            let kind = if f.kind() == FunctionKind::PRIM {
                "prim"
            } else {
                "fn"
            };
            let mut all = vec![("kind".to_owned(), kind.to_owned())];
            for opset in f.opsets() {
                let name = format!("opset {:?}", f.text(opset.domain));
                all.push((name, opset.version.to_string()));
            }
            all
        });
        self.out.settings = settings(&all[0], &all[1]);
        let mut changes = Vec::new();
        self.attributes([OpId::NONE; 2], &mut changes);
        for change in changes {
            if let OpChange::Attribute { name, old, new } = change {
                let name = format!("attribute {name}");
                self.out.settings.push(Setting { name, old, new });
            }
        }
    }

    /// Compares all pairs of two areas.
    fn pairs(&mut self, a: u32, b: u32) {
        let nodes = self.graphs[1].areas[b as usize].nodes.clone();
        let mut places = Vec::new();
        let mut stand = Vec::new();
        for new in nodes {
            let old = self.m.to_a[new as usize];
            if old == NONE {
                continue;
            }
            match [self.graphs[0].node(old).what, self.graphs[1].node(new).what] {
                [What::Op(old_op), What::Op(new_op)] => {
                    places.push(old);
                    stand.push(new_op);
                    self.ops([old, new], [old_op, new_op]);
                }
                [What::Arg(old), What::Arg(new)] if b != 0 => {
                    self.value(old, new);
                    self.ty(old, new);
                }
                [What::Const(old_id), What::Const(new_id)] => {
                    let ids = [old_id, new_id];
                    let values = [0, 1].map(|at| self.graphs[at].f.constant(ids[at]).value);
                    self.value(values[0], values[1]);
                    let locs = [0, 1].map(|at| self.graphs[at].f.constant(ids[at]).loc);
                    if let Some((old, new)) = self.locations(locs) {
                        let op = format!("{} = const", self.lines[1].value(values[1]));
                        self.out.relocated.push(Relocation { op, old, new });
                    }
                }
                _ => {}
            }
        }
        let kept = align::longest_increasing(&places);
        if kept.len() < places.len() {
            let mut kept = kept.into_iter().peekable();
            for (at, op) in stand.into_iter().enumerate() {
                if kept.next_if_eq(&at).is_none() {
                    let op = self.lines[1].short_op(op);
                    self.out.moved.push(op);
                }
            }
        }
        self.arguments(a, b);
        self.nested_ports(a, b);
    }

    /// Arguments of a region that only one of two regions has.
    fn arguments(&mut self, a: u32, b: u32) {
        if b == 0 {
            return;
        }
        let areas = [
            &self.graphs[0].areas[a as usize],
            &self.graphs[1].areas[b as usize],
        ];
        let count = |side: usize| self.graphs[side].f.args(areas[side].region).len();
        let (old, new) = (count(0), count(1));
        let record = self.graphs[1].f.region(areas[1].region);
        let region = self.graphs[1].f.text(record.name).to_owned();
        let change = if new > old {
            Change::Added
        } else {
            Change::Removed
        };
        let changes = (old.min(new)..old.max(new)).map(|index| OpChange::Argument {
            region: region.clone(),
            index,
            change,
        });
        let changes: Vec<OpChange> = changes.collect();
        if !changes.is_empty() {
            self.changes
                .entry(areas[1].owner)
                .or_default()
                .extend(changes);
        }
    }

    /// Compares the names and types by which a nested region gives out values.
    fn nested_ports(&mut self, a: u32, b: u32) {
        if b == 0 {
            return;
        }
        let [f, g] = [self.graphs[0].f, self.graphs[1].f];
        let regions = [
            self.graphs[0].areas[a as usize].region,
            self.graphs[1].areas[b as usize].region,
        ];
        let ports = f.ports(regions[0]).iter().zip(g.ports(regions[1]));
        for (index, (old, new)) in ports.enumerate() {
            let names = [old.name, new.name];
            let types = [old.ty, new.ty];
            let renamed = self.symbols.of(Side::A, names[0]) != self.symbols.of(Side::B, names[1]);
            let retyped =
                self.types.of(Side::A, f, types[0]) != self.types.of(Side::B, g, types[1]);
            if !renamed && !retyped {
                continue;
            }
            let place = self.lines[1].inside(regions[1]).unwrap_or_default();
            let value = format!("result {index} of {place}");
            if renamed {
                self.out.renamed.push(Renaming {
                    value: value.clone(),
                    old: text_of(f, names[0]),
                    new: text_of(g, names[1]),
                });
            }
            if retyped {
                self.out.types.push(Renaming {
                    value,
                    old: Some(text::type_text(f, types[0])),
                    new: Some(text::type_text(g, types[1])),
                });
            }
        }
    }

    fn ops(&mut self, nodes: [u32; 2], ops: [OpId; 2]) {
        let [f, g] = [self.graphs[0].f, self.graphs[1].f];
        let mut changes = Vec::new();
        if self.graphs[0].node(nodes[0]).kind != self.graphs[1].node(nodes[1]).kind {
            changes.push(OpChange::Kind {
                old: f.text(f.op(ops[0]).name).to_owned(),
                new: g.text(g.op(ops[1]).name).to_owned(),
            });
        }
        self.attributes(ops, &mut changes);
        if self.graphs[1].terminator(0) == Some(nodes[1]) {
            self.outputs(nodes);
        } else {
            self.operands(nodes, ops, &mut changes);
        }
        self.results(ops, &mut changes);
        self.regions(nodes, &mut changes);
        if let Some((old, new)) = self.locations([f.op(ops[0]).loc, g.op(ops[1]).loc]) {
            let op = self.lines[1].short_op(ops[1]);
            self.out.relocated.push(Relocation { op, old, new });
        }
        if !changes.is_empty() {
            self.changes.entry(nodes[1]).or_default().extend(changes);
        }
    }

    fn results(&mut self, ops: [OpId; 2], changes: &mut Vec<OpChange>) {
        let [f, g] = [self.graphs[0].f, self.graphs[1].f];
        let (mut olds, mut news) = (f.results(ops[0]), g.results(ops[1]));
        let there = |f: &Function, value: Option<ValueId>| {
            value.filter(|&id| {
                let value = f.value(id);
                value.flags & Value::ABSENT == 0 || value.use_count > 0
            })
        };
        for index in 0..olds.len().max(news.len()) {
            match [there(f, olds.next()), there(g, news.next())] {
                [Some(old), Some(new)] => {
                    self.value(old, new);
                    self.ty(old, new);
                }
                [None, None] => {}
                [old, new] => changes.push(OpChange::Result {
                    index,
                    old: old.map(|old| self.lines[0].value(old)),
                    new: new.map(|new| self.lines[1].value(new)),
                }),
            }
        }
    }

    /// Regions that only one of two ops has.
    fn regions(&mut self, nodes: [u32; 2], changes: &mut Vec<OpChange>) {
        let [old, new] = [0, 1].map(|side| self.graphs[side].areas_of(nodes[side]));
        if old.is_empty() && new.is_empty() {
            return;
        }
        // As they were paired: by name, the first with the first.
        let mut counts: FxHashMap<u32, usize> = FxHashMap::default();
        for area in old.clone() {
            *counts
                .entry(self.graphs[0].areas[area as usize].name)
                .or_default() += 1;
        }
        let mut alone = Vec::new();
        for area in new {
            match counts.get_mut(&self.graphs[1].areas[area as usize].name) {
                Some(count) if *count > 0 => *count -= 1,
                _ => alone.push((1, area, Change::Added)),
            }
        }
        for area in old.rev() {
            match counts.get_mut(&self.graphs[0].areas[area as usize].name) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    alone.push((0, area, Change::Removed));
                }
                _ => {}
            }
        }
        for (side, area, change) in alone {
            let graph = &self.graphs[side];
            let name = graph.f.region(graph.areas[area as usize].region).name;
            changes.push(OpChange::Region {
                name: graph.f.text(name).to_owned(),
                change,
                ops: graph.ops_inside(area),
            });
        }
    }

    /// Compares the names of two values.
    fn value(&mut self, old: ValueId, new: ValueId) {
        let [f, g] = [self.graphs[0].f, self.graphs[1].f];
        let names = [f.value(old).name, g.value(new).name];
        if self.symbols.of(Side::A, names[0]) == self.symbols.of(Side::B, names[1]) {
            return;
        }
        let value = self.lines[1].value(new);
        self.out.renamed.push(Renaming {
            value,
            old: text_of(f, names[0]),
            new: text_of(g, names[1]),
        });
    }

    /// Compares the types of two values.
    fn ty(&mut self, old: ValueId, new: ValueId) {
        let [f, g] = [self.graphs[0].f, self.graphs[1].f];
        let types = [f.value(old).ty, g.value(new).ty];
        if self.types.of(Side::A, f, types[0]) == self.types.of(Side::B, g, types[1]) {
            return;
        }
        let value = self.lines[1].value(new);
        self.out.types.push(Renaming {
            value,
            old: Some(text::type_text(f, types[0])),
            new: Some(text::type_text(g, types[1])),
        });
    }

    /// The names of the ONNX nodes of two locations, if they differ.
    fn locations(&mut self, locs: [LocId; 2]) -> Option<(Option<String>, Option<String>)> {
        if locs[0].is_none() && locs[1].is_none() {
            return None;
        }
        let [old, new] = [0, 1].map(|side| node_names(self.graphs[side].f, locs[side]));
        (old != new).then_some((old, new))
    }

    /// Lists what differs in two areas, in program order.
    fn list(&mut self, a: u32, b: u32) {
        let mut olds = self.graphs[0].areas[a as usize].nodes.clone().peekable();
        let news = self.graphs[1].areas[b as usize].nodes.clone();
        for new in news {
            let old = self.m.to_a[new as usize];
            if old == NONE {
                self.alone(1, new, Change::Added);
                continue;
            }
            while let Some(before) = olds.next_if(|&before| before <= old) {
                self.removed(before);
            }
            match [self.graphs[0].constant(old), self.graphs[1].constant(new)] {
                [Some(_), Some(_)] => self.constants(old, new),
                _ => self.changed(new),
            }
        }
        for before in olds {
            self.removed(before);
        }
    }

    fn removed(&mut self, old: u32) {
        if self.m.to_b[old as usize] == NONE {
            self.alone(0, old, Change::Removed);
        }
    }

    /// An op or a constant that only one of two areas has.
    fn alone(&mut self, side: usize, node: u32, change: Change) {
        let rewired = self.rewired[side].remove(&node).unwrap_or_default();
        let graph = &self.graphs[side];
        let region = graph.areas[graph.node(node).area as usize].region;
        match graph.node(node).what {
            // The interface, or a change of the op around.
            What::Arg(_) => {}
            What::Const(id) => {
                let text = self.lines[side].constant(id);
                let from = (side == 1).then(|| self.folded[1].get(&node)).flatten();
                let from = from.and_then(|&from| self.graphs[0].op(from));
                let replaces = from.map(|op| self.lines[0].short_op(op));
                let to = [&self.m.to_b, &self.m.to_a][side];
                let mut users = graph.users(graph.f.constant(id).value).peekable();
                let with_users =
                    users.peek().is_some() && users.all(|(user, _)| to[user as usize] == NONE);
                let [old, new] = match change {
                    Change::Removed => [Some(text), None],
                    _ => [None, Some(text)],
                };
                self.out.constants.push(ConstantDiff {
                    change,
                    name: self.lines[side].value(graph.f.constant(id).value),
                    inside: self.lines[side].inside(region),
                    old,
                    new,
                    numbers: None,
                    replaces,
                    with_users,
                    rewired,
                });
            }
            What::Op(op) => {
                let to = (side == 0).then(|| self.folded[0].get(&node)).flatten();
                let to = to.and_then(|&to| self.graphs[1].constant(to));
                let folded = to.map(|id| {
                    let value = self.graphs[1].f.constant(id).value;
                    let (name, text) = (self.lines[1].value(value), self.lines[1].constant(id));
                    format!("{name} = {text}")
                });
                self.out.ops.push(OpDiff {
                    change,
                    kind: graph.f.text(graph.f.op(op).name).to_owned(),
                    op: self.lines[side].op(op),
                    location: node_names(graph.f, graph.f.op(op).loc),
                    inside: self.lines[side].inside(region),
                    folded,
                    nested: graph.nested_ops(node),
                    rewired,
                    changes: Vec::new(),
                });
            }
        }
    }

    fn changed(&mut self, new: u32) {
        let Some(changes) = self.changes.remove(&new) else {
            return;
        };
        let graph = &self.graphs[1];
        if let What::Op(op) = graph.node(new).what {
            let region = graph.areas[graph.node(new).area as usize].region;
            self.out.ops.push(OpDiff {
                change: Change::Changed,
                kind: graph.f.text(graph.f.op(op).name).to_owned(),
                op: self.lines[1].op(op),
                location: node_names(graph.f, graph.f.op(op).loc),
                inside: self.lines[1].inside(region),
                folded: None,
                nested: 0,
                rewired: Vec::new(),
                changes,
            });
        }
    }

    /// Compares two constants.
    fn constants(&mut self, old: u32, new: u32) {
        let [a, b] = &self.graphs;
        let (Some(old_id), Some(new_id)) = (a.constant(old), b.constant(new)) else {
            return;
        };
        let class = self.contents.class(Side::A, old_id);
        if class == self.contents.class(Side::B, new_id) {
            return;
        }
        let types = [a.f.constant(old_id).ty, b.f.constant(new_id).ty];
        let same_type =
            self.types.of(Side::A, a.f, types[0]) == self.types.of(Side::B, b.f, types[1]);
        let numbers = same_type
            .then(|| content::numbers([a.f, b.f], types[1], [old_id, new_id]))
            .flatten();
        let region = b.areas[b.node(new).area as usize].region;
        self.out.constants.push(ConstantDiff {
            change: Change::Changed,
            name: self.lines[1].value(b.f.constant(new_id).value),
            inside: self.lines[1].inside(region),
            old: Some(self.lines[0].constant(old_id)),
            new: Some(self.lines[1].constant(new_id)),
            numbers,
            replaces: None,
            with_users: false,
            rewired: Vec::new(),
        });
    }
}

/// The text of a name; `None`: there is none.
pub(super) fn text_of(f: &Function, name: SymbolId) -> Option<String> {
    name.option().map(|name| f.text(name).to_owned())
}

/// The names of the ONNX nodes that something comes from. A place in a text isn't one.
fn node_names(f: &Function, loc: LocId) -> Option<String> {
    let name = |loc: LocId| text_of(f, node_name(f, loc));
    let record = f.loc(loc)?;
    if record.kind != LocKind::FUSED {
        return name(loc);
    }
    let range = Range {
        start: record.a,
        len: record.b,
    };
    let parts = f.ids_in(range).iter().filter_map(|&part| name(LocId(part)));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
