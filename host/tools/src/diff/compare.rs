//! From pairs to the report: what isn't the same in a pair, and what has no counterpart.

use passdock_abi::{
    ConstId, FunctionKind, LocId, LocKind, OpId, Range, RegionId, SymbolId, TypeId, Value, ValueId,
};
use passdock_ir::{Function, text};
use rustc_hash::{FxHashMap, FxHashSet};

use super::content::{self, Contents};
use super::graph::{self, Graph, What, node_name};
use super::interface::Interface;
use super::lines::Lines;
use super::matching::{self, Matching, moved};
use super::report::{
    Change, ConstantDiff, FunctionDiff, OpChange, OpDiff, Relocation, Renaming, Rewired, Setting,
};
use super::{NONE, attrs, settings};
use passdock_core::PassError;

/// Two functions side by side.
pub(super) struct Comparison<'f> {
    pub(super) graphs: [Graph<'f>; 2],
    pub(super) interface: Interface,
    pub(super) m: Matching,
    pub(super) contents: Contents,
    pub(super) lines: [Lines<'f>; 2],
    pub(super) out: FunctionDiff,
    paired_areas: [FxHashSet<u32>; 2],
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
            ..FunctionDiff::default()
        }
    }
}

impl<'f> Comparison<'f> {
    pub(super) fn new(a: &'f Function, b: &'f Function) -> Result<Comparison<'f>, PassError> {
        let contents = Contents::new([a, b])?;
        let graphs = [Graph::new(a, 0), Graph::new(b, 1)];
        let interface = Interface::new(graphs.each_ref());
        let mut lines = [Lines::new(a), Lines::new(b)];
        let labels =
            [0, 1].map(|side: usize| attrs::labels(&graphs[side], &contents, &mut lines[side]));
        let m = matching::matching(graphs.each_ref(), &interface, labels);
        Ok(Comparison {
            interface,
            m,
            contents,
            lines,
            out: FunctionDiff {
                ops_before: a.op_count(),
                ops_after: b.op_count(),
                ordered: [a, b].iter().any(|f| f.kind() == FunctionKind::PRIM),
                ..FunctionDiff::new(b)
            },
            paired_areas: Default::default(),
            changes: FxHashMap::default(),
            rewired: Default::default(),
            folded: Default::default(),
            graphs,
        })
    }

    pub(super) fn functions(&self) -> [&'f Function; 2] {
        self.graphs.each_ref().map(|graph| graph.f)
    }

    /// Compares all pairs.
    pub(super) fn report(mut self) -> FunctionDiff {
        self.settings();
        self.ports();
        for (a, b) in self.compare_pairs() {
            self.list(a, b);
        }
        self.out
    }

    /// Compares the pairs of all areas, which are the answer.
    pub(super) fn compare_pairs(&mut self) -> Vec<(u32, u32)> {
        let areas = std::mem::take(&mut self.m.areas);
        for &(a, b) in &areas {
            self.paired_areas[0].insert(a);
            self.paired_areas[1].insert(b);
        }
        for &(a, b) in &areas {
            self.pairs(a, b);
        }
        areas
    }

    /// Whether a paired op of the second function says something else than its counterpart.
    pub(super) fn is_changed(&self, op: u32) -> bool {
        self.changes.contains_key(&op)
    }

    fn settings(&mut self) {
        let all = [0, 1].map(|side| {
            let f = self.graphs[side].f;
            let is_prim = f.kind() == FunctionKind::PRIM;
            let kind = if is_prim { "prim" } else { "fn" };
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
            let old = self.m.counterpart(1, new);
            if old == NONE {
                continue;
            }
            match [self.graphs[0].node(old).what, self.graphs[1].node(new).what] {
                [What::Op(old_op), What::Op(new_op)] => {
                    places.push(old);
                    stand.push(new_op);
                    self.ops([old, new], [old_op, new_op]);
                }
                [What::Arg(old), What::Arg(new)] if b != 0 => self.values([old, new]),
                [What::Const(old), What::Const(new)] => {
                    let [f, g] = self.functions();
                    let [old, new] = [f.constant(old), g.constant(new)];
                    let names = [f.value(old.value).name, g.value(new.value).name];
                    // What differs in their types is told with their contents.
                    self.named(names, [TypeId::NONE; 2], |lines| lines.value(new.value));
                    let op = |lines: &mut Lines<'_>| format!("{} = const", lines.value(new.value));
                    self.located([old.loc, new.loc], op);
                }
                _ => {}
            }
        }
        let moved = moved(&places);
        for (old, op) in places.iter().zip(stand) {
            if moved.contains(old) {
                let op = self.lines[1].short_op(op);
                self.out.moved.push(op);
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
        let [f, g] = self.functions();
        let regions = self.regions_of([a, b]);
        let (old, new) = (f.args(regions[0]).len(), g.args(regions[1]).len());
        let region = g.text(g.region(regions[1]).name).to_owned();
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
        self.change(self.graphs[1].areas[b as usize].owner, changes.collect());
    }

    fn regions_of(&self, areas: [u32; 2]) -> [RegionId; 2] {
        [0, 1].map(|side| self.graphs[side].areas[areas[side] as usize].region)
    }

    /// Adds changes of an op of the second function.
    fn change(&mut self, op: u32, changes: Vec<OpChange>) {
        if !changes.is_empty() {
            self.changes.entry(op).or_default().extend(changes);
        }
    }

    /// Compares the names and types by which a nested region gives out values.
    fn nested_ports(&mut self, a: u32, b: u32) {
        if b == 0 {
            return;
        }
        let [f, g] = self.functions();
        let [old, new] = self.regions_of([a, b]);
        for (index, (from, to)) in f.ports(old).iter().zip(g.ports(new)).enumerate() {
            self.named([from.name, to.name], [from.ty, to.ty], |lines| {
                let place = lines.inside(new).unwrap_or_default();
                format!("result {index} of {place}")
            });
        }
    }

    fn ops(&mut self, nodes: [u32; 2], ops: [OpId; 2]) {
        let [f, g] = self.functions();
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
            self.operands(nodes, ops[1], &mut changes);
        }
        self.results(ops, &mut changes);
        self.regions(nodes, &mut changes);
        let locs = [f.op(ops[0]).loc, g.op(ops[1]).loc];
        self.located(locs, |lines| lines.short_op(ops[1]));
        self.change(nodes[1], changes);
    }

    fn results(&mut self, ops: [OpId; 2], changes: &mut Vec<OpChange>) {
        let [f, g] = self.functions();
        let (mut olds, mut news) = (f.results(ops[0]), g.results(ops[1]));
        let there = |f: &Function, value: Option<ValueId>| {
            value.filter(|&id| {
                let value = f.value(id);
                value.flags & Value::ABSENT == 0 || value.use_count > 0
            })
        };
        for index in 0..olds.len().max(news.len()) {
            match [there(f, olds.next()), there(g, news.next())] {
                [Some(old), Some(new)] => self.values([old, new]),
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
        let added = new.map(|area| (1, area, Change::Added));
        let removed = old.rev().map(|area| (0, area, Change::Removed));
        let all = added.chain(removed);
        for (side, area, change) in
            all.filter(|(side, area, _)| !self.paired_areas[*side].contains(area))
        {
            let graph = &self.graphs[side];
            let name = graph.f.region(graph.areas[area as usize].region).name;
            changes.push(OpChange::Region {
                name: graph.f.text(name).to_owned(),
                change,
                ops: graph.ops_inside(area),
            });
        }
    }

    /// Compares the names and the types of two values.
    fn values(&mut self, [old, new]: [ValueId; 2]) {
        let [old, new_value] = [self.graphs[0].f.value(old), self.graphs[1].f.value(new)];
        let (names, types) = ([old.name, new_value.name], [old.ty, new_value.ty]);
        self.named(names, types, |lines| lines.value(new));
    }

    /// Compares two names, and two types, of what `value` says.
    fn named(
        &mut self,
        names: [SymbolId; 2],
        types: [TypeId; 2],
        value: impl Fn(&mut Lines<'f>) -> String,
    ) {
        if let Some([old, new]) = self.renamed(names) {
            let value = value(&mut self.lines[1]);
            self.out.renamed.push(Renaming { value, old, new });
        }
        if let Some(types) = self.retyped(types) {
            let value = value(&mut self.lines[1]);
            let [old, new] = types.map(Some);
            self.out.types.push(Renaming { value, old, new });
        }
    }

    /// Two names as texts, if they differ.
    pub(super) fn renamed(&mut self, names: [SymbolId; 2]) -> Option<[Option<String>; 2]> {
        let [old, new] = [0, 1].map(|side| text_of(self.graphs[side].f, names[side]));
        (old != new).then_some([old, new])
    }

    /// Two types as texts, if they differ.
    pub(super) fn retyped(&mut self, types: [TypeId; 2]) -> Option<[String; 2]> {
        let [old, new] = [0, 1].map(|side| text::type_text(self.graphs[side].f, types[side]));
        (old != new).then_some([old, new])
    }

    /// Compares the names of the ONNX nodes that `op` comes from.
    fn located(&mut self, locs: [LocId; 2], op: impl FnOnce(&mut Lines<'f>) -> String) {
        if locs.iter().all(|loc| loc.is_none()) {
            return;
        }
        let [old, new] = [0, 1].map(|side| node_names(self.graphs[side].f, locs[side]));
        if old != new {
            let op = op(&mut self.lines[1]);
            self.out.relocated.push(Relocation { op, old, new });
        }
    }

    /// Lists what differs in two areas, in program order.
    fn list(&mut self, a: u32, b: u32) {
        let mut olds = self.graphs[0].areas[a as usize].nodes.clone().peekable();
        let news = self.graphs[1].areas[b as usize].nodes.clone();
        for new in news {
            let old = self.m.counterpart(1, new);
            if old == NONE {
                self.alone(1, new);
                continue;
            }
            while let Some(before) = olds.next_if(|&before| before <= old) {
                self.removed(before);
            }
            match [self.graphs[0].node(old).what, self.graphs[1].node(new).what] {
                [What::Const(from), What::Const(to)] => self.constants([from, to], new),
                [_, What::Op(op)] => {
                    if let Some(changes) = self.changes.remove(&new) {
                        let listed = self.op(1, new, op);
                        self.out.ops.push(OpDiff { changes, ..listed });
                    }
                }
                _ => {}
            }
        }
        for before in olds {
            self.removed(before);
        }
    }

    fn removed(&mut self, old: u32) {
        if !self.m.is_paired(0, old) {
            self.alone(0, old);
        }
    }

    /// An op or a constant that only one of two areas has.
    fn alone(&mut self, side: usize, node: u32) {
        let rewired = self.rewired[side].remove(&node).unwrap_or_default();
        let change = [Change::Removed, Change::Added][side];
        let folded = self.folded[side].get(&node).copied();
        match self.graphs[side].node(node).what {
            // The interface, or a change of the op around.
            What::Arg(_) => {}
            What::Const(id) => {
                let text = Some(self.lines[side].constant(id));
                let [old, new] = match side {
                    0 => [text, None],
                    _ => [None, text],
                };
                let from = folded.and_then(|from| self.graphs[0].op(from));
                let replaces = from.map(|op| self.lines[0].short_op(op));
                let listed = self.constant(side, node, id);
                let graph = &self.graphs[side];
                let mut users = graph.users(graph.f.constant(id).value).peekable();
                let with_users =
                    users.peek().is_some() && users.all(|(user, _)| !self.m.is_paired(side, user));
                self.out.constants.push(ConstantDiff {
                    change,
                    old,
                    new,
                    replaces,
                    with_users,
                    rewired,
                    ..listed
                });
            }
            What::Op(op) => {
                let to = folded.and_then(|to| self.graphs[1].constant(to));
                let folded = to.map(|id| {
                    let value = self.graphs[1].f.constant(id).value;
                    let (name, text) = (self.lines[1].value(value), self.lines[1].constant(id));
                    format!("{name} = {text}")
                });
                let listed = self.op(side, node, op);
                self.out.ops.push(OpDiff {
                    change,
                    folded,
                    nested: self.graphs[side].nested_ops(node),
                    rewired,
                    ..listed
                });
            }
        }
    }

    /// The region that a node stands in, if it isn't the body.
    fn inside(&mut self, side: usize, node: u32) -> Option<String> {
        let graph = &self.graphs[side];
        let region = graph.areas[graph.node(node).area as usize].region;
        self.lines[side].inside(region)
    }

    /// An op without what differs.
    fn op(&mut self, side: usize, node: u32, op: OpId) -> OpDiff {
        let f = self.graphs[side].f;
        OpDiff {
            kind: f.text(f.op(op).name).to_owned(),
            op: self.lines[side].op(op),
            location: node_names(f, f.op(op).loc),
            inside: self.inside(side, node),
            ..OpDiff::default()
        }
    }

    /// A constant without what differs.
    fn constant(&mut self, side: usize, node: u32, id: ConstId) -> ConstantDiff {
        let value = self.graphs[side].f.constant(id).value;
        ConstantDiff {
            name: self.lines[side].value(value),
            inside: self.inside(side, node),
            ..ConstantDiff::default()
        }
    }

    /// Compares two constants; `new` is the node of the second.
    fn constants(&mut self, ids: [ConstId; 2], new: u32) {
        let [old_class, new_class] = [0, 1].map(|side| self.contents.class(side, ids[side]));
        if old_class == new_class {
            return;
        }
        let fs = self.functions();
        let types = [0, 1].map(|side| fs[side].constant(ids[side]).ty);
        let numbers = match self.retyped(types) {
            None => content::numbers(fs, types[1], ids),
            Some(_) => None,
        };
        let listed = self.constant(1, new, ids[1]);
        self.out.constants.push(ConstantDiff {
            old: Some(self.lines[0].constant(ids[0])),
            new: Some(self.lines[1].constant(ids[1])),
            numbers,
            ..listed
        });
    }
}

/// The text of a name; `None`: there is none.
pub(super) fn text_of(f: &Function, name: SymbolId) -> Option<String> {
    graph::text_of(f, name).map(str::to_owned)
}

/// The names of the ONNX nodes that something comes from. A place in a text isn't one.
fn node_names(f: &Function, loc: LocId) -> Option<String> {
    let name = |loc: LocId| node_name(f, loc).map(str::to_owned);
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
