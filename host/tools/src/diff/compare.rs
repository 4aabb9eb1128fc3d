//! The comparison of two functions: the differences of paired nodes, and the nodes without a counterpart.

use passdock_abi::{Attr, ConstId, FunctionKind, LocId, OpId, RegionId, SymbolId, TypeId, ValueId};
use passdock_core::PassError;
use passdock_ir::{Function, text};
use rustc_hash::{FxHashMap, FxHashSet};

use super::PairedOp;
use super::content::{self, Contents};
use super::interface::Interface;
use super::matching::{self, Matching, attr_key, moved};
use super::report::{
    Change, ConstantDiff, FunctionDiff, OpChange, OpDiff, Relocation, Renaming, Rewired, Setting,
};
use super::settings;
use super::side::{Node, Side, optional_text};

/// The comparison of two functions.
pub(crate) struct Comparison<'f> {
    pub(super) sides: [Side<'f>; 2],
    pub(super) interface: Interface,
    pub(super) m: Matching,
    pub(super) contents: Contents,
    pub(super) out: FunctionDiff,
    paired_regions: [FxHashSet<RegionId>; 2],
    /// The changes of each op of the second function.
    changes: FxHashMap<OpId, Vec<OpChange>>,
    /// The operands that became or stopped being a value of an op or constant without a counterpart, by that node.
    pub(super) rewired: [FxHashMap<Node, Vec<Rewired>>; 2],
    /// The removed ops and the added constants that replace their results, in both directions.
    pub(super) folded: [FxHashMap<Node, Node>; 2],
}

impl<'f> Comparison<'f> {
    pub(super) fn new(a: &'f Function, b: &'f Function) -> Result<Comparison<'f>, PassError> {
        let contents = Contents::new([a, b])?;
        let sides = [Side::new(a, 0), Side::new(b, 1)];
        let interface = Interface::new(&sides);
        let m = matching::matching(&sides, &interface, &contents);
        let regions = |side: usize| m.regions.iter().map(|pair| pair[side]).collect();
        let paired_regions = [regions(0), regions(1)];
        Ok(Comparison {
            interface,
            m,
            contents,
            out: FunctionDiff {
                ops_before: a.op_count(),
                ops_after: b.op_count(),
                ordered: [a, b].iter().any(|f| f.kind() == FunctionKind::PRIM),
                ..FunctionDiff::new(b)
            },
            paired_regions,
            changes: FxHashMap::default(),
            rewired: Default::default(),
            folded: Default::default(),
            sides,
        })
    }

    /// Pairs the ops of two functions and compares the pairs, without a report.
    pub(crate) fn from_pairs(
        a: &'f Function,
        b: &'f Function,
    ) -> Result<Comparison<'f>, PassError> {
        let mut comparison = Comparison::new(a, b)?;
        comparison.compare_pairs();
        Ok(comparison)
    }

    /// Returns the paired ops, in the second function's order.
    pub(crate) fn paired_ops(&self) -> Vec<PairedOp> {
        let Comparison { sides, m, .. } = self;
        let nodes = m.regions.iter().flat_map(|pair| sides[1].nodes(pair[1]));
        let paired = nodes.filter_map(|node| {
            let (before, after) = (m.counterpart(1, node)?, node);
            Some(PairedOp {
                before: before.op()?,
                after: after.op()?,
                same_kind: sides[0].kind(before) == sides[1].kind(after),
                changed: self.changes.contains_key(&after.op()?),
            })
        });
        paired.collect()
    }

    pub(super) fn functions(&self) -> [&'f Function; 2] {
        self.sides.each_ref().map(|side| side.f)
    }

    /// Builds the report of all differences.
    pub(super) fn report(mut self) -> FunctionDiff {
        self.settings();
        self.ports();
        self.compare_pairs();
        for regions in std::mem::take(&mut self.m.regions) {
            self.list(regions);
        }
        self.out
    }

    /// Compares the paired nodes of all regions.
    fn compare_pairs(&mut self) {
        for at in 0..self.m.regions.len() {
            self.pairs(self.m.regions[at]);
        }
    }

    fn settings(&mut self) {
        let [old, new] = self.functions().map(|f| {
            let is_prim = f.kind() == FunctionKind::PRIM;
            let kind = if is_prim { "prim" } else { "fn" };
            let opsets = f.opsets().iter().map(|opset| {
                let name = format!("opset {:?}", f.text(opset.domain));
                (name, opset.version.to_string())
            });
            let kind = ("kind".to_owned(), kind.to_owned());
            [kind].into_iter().chain(opsets).collect::<Vec<_>>()
        });
        self.out.settings = settings([&old, &new], String::eq, |_, value| value.clone());
        let attributes = self.attributes([OpId::NONE; 2]).into_iter();
        let attributes = attributes.map(|attribute| Setting {
            name: format!("attribute {}", attribute.name),
            ..attribute
        });
        self.out.settings.extend(attributes);
    }

    /// Compares the attributes of two ops (`NONE`: of the functions) by name. Their order has no meaning.
    fn attributes(&self, ops: [OpId; 2]) -> Vec<Setting> {
        let [old, new] = [0, 1].map(|side: usize| -> Vec<(&str, &Attr)> {
            let f = self.sides[side].f;
            let attrs = f.attrs(ops[side]).iter();
            attrs.map(|attr| (f.text(attr.name), attr)).collect()
        });
        let key =
            |side: usize, attr: &Attr| attr_key(&self.sides[side], &self.contents, ops[side], attr);
        settings(
            [&old, &new],
            |old, new| key(0, old) == key(1, new),
            |side, attr| self.sides[side].attr_text(ops[side], attr),
        )
    }

    /// Compares the pairs of nodes of two regions.
    fn pairs(&mut self, regions: [RegionId; 2]) {
        let is_body = regions[1] == self.sides[1].f.body();
        let positions = self.sides[0].nodes(regions[0]).into_iter().zip(0..);
        let positions: FxHashMap<Node, usize> = positions.collect();
        let mut paired = Vec::new();
        for new in self.sides[1].nodes(regions[1]) {
            match (self.m.counterpart(1, new), new) {
                (Some(old @ Node::Op(old_op)), Node::Op(new_op)) => {
                    paired.extend(positions.get(&old).map(|&at| (at, new_op)));
                    self.ops([old, new], [old_op, new_op]);
                }
                (Some(Node::Arg(old)), Node::Arg(new)) if !is_body => self.values([old, new]),
                (Some(Node::Const(old)), Node::Const(new)) => {
                    let [f, g] = self.functions();
                    let [old, new] = [f.constant(old), g.constant(new)];
                    let names = [f.value(old.value).name, g.value(new.value).name];
                    // The constants' own entry reports a difference of their types.
                    self.named(names, [TypeId::NONE; 2], |side| side.value_text(new.value));
                    self.located([old.loc, new.loc], |side| {
                        format!("{} = const", side.value_text(new.value))
                    });
                }
                _ => {}
            }
        }
        let order: Vec<usize> = paired.iter().map(|(at, _)| *at).collect();
        if !order.is_sorted() {
            let moved = moved(&order);
            let ops = paired.into_iter().filter(|(at, _)| moved.contains(at));
            let ops = ops.map(|(_, op)| self.sides[1].short_op(op));
            self.out.moved.extend(ops);
        }
        if !is_body {
            self.region_interface(regions);
        }
    }

    /// Compares the arguments of two nested regions, and the names and types of their results.
    fn region_interface(&mut self, [a, b]: [RegionId; 2]) {
        let [f, g] = self.functions();
        let (old, new) = (f.args(a).len(), g.args(b).len());
        let region = g.text(g.region(b).name).to_owned();
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
        self.change(g.region(b).parent, changes.collect());
        for (index, (from, to)) in f.ports(a).iter().zip(g.ports(b)).enumerate() {
            self.named([from.name, to.name], [from.ty, to.ty], |side| {
                let region = side.region_text(b).unwrap_or_default();
                format!("result {index} of {region}")
            });
        }
    }

    /// Adds changes of an op of the second function.
    fn change(&mut self, op: OpId, changes: Vec<OpChange>) {
        if !changes.is_empty() {
            self.changes.entry(op).or_default().extend(changes);
        }
    }

    fn ops(&mut self, nodes: [Node; 2], ops: [OpId; 2]) {
        let [f, g] = self.functions();
        let mut changes = Vec::new();
        let [old, new] = [0, 1].map(|side: usize| self.sides[side].kind(nodes[side]));
        if old != new {
            changes.push(OpChange::Kind {
                before: old.to_owned(),
                after: new.to_owned(),
            });
        }
        let attributes = self.attributes(ops).into_iter();
        changes.extend(attributes.map(
            |Setting {
                 name,
                 before,
                 after,
             }| OpChange::Attribute {
                name,
                before,
                after,
            },
        ));
        if self.sides[1].terminator(g.body()) == Some(nodes[1]) {
            self.outputs(nodes);
        } else {
            self.operands(nodes, ops[1], &mut changes);
        }
        self.op_results(ops, &mut changes);
        self.regions(nodes, &mut changes);
        let locs = [f.op(ops[0]).loc, g.op(ops[1]).loc];
        self.located(locs, |side| side.short_op(ops[1]));
        self.change(ops[1], changes);
    }

    fn op_results(&mut self, ops: [OpId; 2], changes: &mut Vec<OpChange>) {
        let functions = self.functions();
        let [old_items, new_items] = [0, 1].map(|side: usize| -> Vec<Option<ValueId>> {
            let f = functions[side];
            let results = f.results(ops[side]);
            results.map(|id| f.is_present(id).then_some(id)).collect()
        });
        for index in 0..old_items.len().max(new_items.len()) {
            let result = |results: &[Option<ValueId>]| results.get(index).copied().flatten();
            match (result(&old_items), result(&new_items)) {
                (Some(old), Some(new)) => self.values([old, new]),
                (None, None) => {}
                (old, new) => changes.push(OpChange::Result {
                    index,
                    before: old.map(|old| self.sides[0].value_text(old)),
                    after: new.map(|new| self.sides[1].value_text(new)),
                }),
            }
        }
    }

    /// Lists the regions that only one of two ops has.
    fn regions(&self, nodes: [Node; 2], changes: &mut Vec<OpChange>) {
        for (side, change) in [(1, Change::Added), (0, Change::Removed)] {
            let mut regions = self.sides[side].regions(nodes[side]);
            regions.retain(|region| !self.paired_regions[side].contains(region));
            let f = self.sides[side].f;
            changes.extend(regions.into_iter().map(|region| OpChange::Region {
                name: f.text(f.region(region).name).to_owned(),
                change,
                ops: self.sides[side].ops_inside(region),
            }));
        }
    }

    /// Compares the names and the types of two values.
    fn values(&mut self, values: [ValueId; 2]) {
        let [f, g] = self.functions();
        let [old, new] = [f.value(values[0]), g.value(values[1])];
        let (names, types) = ([old.name, new.name], [old.ty, new.ty]);
        self.named(names, types, |side| side.value_text(values[1]));
    }

    /// Compares the names and types of two values. `value` describes the value in the report.
    fn named(
        &mut self,
        names: [SymbolId; 2],
        types: [TypeId; 2],
        value: impl Fn(&Side<'f>) -> String,
    ) {
        let renaming = |[before, after]: [Option<String>; 2]| Renaming {
            value: value(&self.sides[1]),
            before,
            after,
        };
        let renamed = self.renamed(names).map(renaming);
        let retyped = self.retyped(types).map(|types| renaming(types.map(Some)));
        self.out.renamed.extend(renamed);
        self.out.retyped.extend(retyped);
    }

    /// Returns two names, if they differ.
    pub(super) fn renamed(&self, names: [SymbolId; 2]) -> Option<[Option<String>; 2]> {
        let [old, new] = [0, 1].map(|side| optional_text(self.sides[side].f, names[side]));
        (old != new).then(|| [old, new].map(|name| name.map(str::to_owned)))
    }

    /// Returns two types in IR text, if they differ.
    pub(super) fn retyped(&self, types: [TypeId; 2]) -> Option<[String; 2]> {
        let [old, new] = [0, 1].map(|side| text::type_text(self.sides[side].f, types[side]));
        (old != new).then_some([old, new])
    }

    /// Compares the names of the ONNX nodes that `op` comes from.
    fn located(&mut self, locs: [LocId; 2], op: impl FnOnce(&Side<'f>) -> String) {
        let [before, after] = [0, 1].map(|side| self.sides[side].node_names(locs[side]));
        if before != after {
            let op = op(&self.sides[1]);
            self.out.relocated.push(Relocation { op, before, after });
        }
    }

    /// Lists the differences of two regions, in program order.
    fn list(&mut self, [a, b]: [RegionId; 2]) {
        let mut old_items = self.sides[0].nodes(a).into_iter().enumerate().peekable();
        let positions = old_items.clone().map(|(at, node)| (node, at));
        let positions: FxHashMap<Node, usize> = positions.collect();
        for new in self.sides[1].nodes(b) {
            let Some(old) = self.m.counterpart(1, new) else {
                self.alone(1, new);
                continue;
            };
            let position = positions.get(&old).copied().unwrap_or(0);
            while let Some((_, before)) = old_items.next_if(|&(at, _)| at <= position) {
                self.removed(before);
            }
            match (old, new) {
                (Node::Const(from), Node::Const(to)) => self.constants([from, to]),
                (_, Node::Op(op)) => {
                    if let Some(changes) = self.changes.remove(&op) {
                        let listed = self.op(1, op);
                        self.out.ops.push(OpDiff { changes, ..listed });
                    }
                }
                _ => {}
            }
        }
        for (_, before) in old_items {
            self.removed(before);
        }
    }

    fn removed(&mut self, old: Node) {
        if !self.m.is_paired(0, old) {
            self.alone(0, old);
        }
    }

    /// Lists an op or a constant that only one of two regions has.
    fn alone(&mut self, side: usize, node: Node) {
        let rewired = self.rewired[side].remove(&node).unwrap_or_default();
        let change = [Change::Removed, Change::Added][side];
        let folded = self.folded[side].get(&node).copied();
        let this = &self.sides[side];
        match node {
            // Part of the interface, or a change of the enclosing op.
            Node::Arg(_) => {}
            Node::Const(id) => {
                let text = Some(this.constant_text(id));
                let [before, after] = match side {
                    0 => [text, None],
                    _ => [None, text],
                };
                let mut users = this.f.uses(this.f.constant(id).value).peekable();
                let has_users = users.peek().is_some();
                let is_paired = |user| self.m.is_paired(side, Node::Op(user));
                let replaced = folded.and_then(Node::op);
                let listed = ConstantDiff {
                    change,
                    before,
                    after,
                    replaces: replaced.map(|op| self.sides[0].short_op(op)),
                    with_users: has_users && users.all(|(_, slot)| !is_paired(slot.user)),
                    rewired,
                    ..self.constant(side, id)
                };
                self.out.constants.push(listed);
            }
            Node::Op(op) => {
                let folded = folded.and_then(Node::constant).map(|id| {
                    let new = &self.sides[1];
                    let name = new.value_text(new.f.constant(id).value);
                    format!("{name} = {}", new.constant_text(id))
                });
                let regions = this.f.regions_of(op);
                let listed = OpDiff {
                    change,
                    folded,
                    nested: regions.map(|region| this.ops_inside(region)).sum(),
                    rewired,
                    ..self.op(side, op)
                };
                self.out.ops.push(listed);
            }
        }
    }

    /// Returns an entry for an op, without its differences.
    fn op(&self, side: usize, op: OpId) -> OpDiff {
        let side = &self.sides[side];
        OpDiff {
            kind: side.kind(Node::Op(op)).to_owned(),
            op: side.op_text(op),
            location: side.node_names(side.f.op(op).loc),
            region: side.region_text(side.f.op(op).parent),
            ..OpDiff::default()
        }
    }

    /// Returns an entry for a constant, without its differences.
    fn constant(&self, side: usize, id: ConstId) -> ConstantDiff {
        let side = &self.sides[side];
        ConstantDiff {
            name: side.value_text(side.f.constant(id).value),
            region: side.region_text(side.constant_region(id)),
            ..ConstantDiff::default()
        }
    }

    fn constants(&mut self, ids: [ConstId; 2]) {
        let [old, new] = [0, 1].map(|side| self.contents.class(side, ids[side]));
        if old == new {
            return;
        }
        let fs = self.functions();
        let types = [0, 1].map(|side: usize| fs[side].constant(ids[side]).ty);
        let numeric_diff = match self.retyped(types) {
            None => {
                let count = fs[1].constant_elements(types[1]).ok().flatten();
                let data = [0, 1].map(|side: usize| fs[side].constant_data(ids[side]));
                let dtype = fs[1].ty(types[1]).dtype;
                count.and_then(|count| content::numeric_diff(dtype, count, data[0], data[1]))
            }
            Some(_) => None,
        };
        let [before, after] =
            [0, 1].map(|side: usize| Some(self.sides[side].constant_text(ids[side])));
        let listed = ConstantDiff {
            before,
            after,
            numeric_diff,
            ..self.constant(1, ids[1])
        };
        self.out.constants.push(listed);
    }
}
