//! The differences of the parameters and results of two functions.

use passdock_abi::{SymbolId, TypeId};
use passdock_ir::{Function, text};
use rustc_hash::FxHashSet;

use super::compare::Comparison;
use super::matching::moved;
use super::report::{PortChange, PortDiff};
use super::side::Node;

impl Comparison<'_> {
    /// Compares the parameters, and the names and types of results.
    pub(super) fn ports(&mut self) {
        let params = self.sides.each_ref().map(|side| side.params());
        let pairs = self.interface.params.clone();
        self.list_ports("input", &params, &pairs);
        for (old, new) in pairs {
            self.default(old, new);
        }
        let results = self.sides.each_ref().map(|side| side.results());
        self.list_ports("output", &results, &self.interface.results.clone());
    }

    fn list_ports(
        &mut self,
        port: &'static str,
        [old_items, new_items]: &[Vec<(SymbolId, TypeId)>; 2],
        pairs: &[(usize, usize)],
    ) {
        let [f, g] = self.functions();
        let paired_old: FxHashSet<usize> = pairs.iter().map(|&(old, _)| old).collect();
        for (index, &(name, ty)) in old_items.iter().enumerate() {
            if !paired_old.contains(&index) {
                let ty = text::type_text(f, ty);
                let name = port_name(f, name, index);
                self.port(port, index, name, PortChange::Removed { ty });
            }
        }
        let mut paired = pairs.to_vec();
        paired.sort_unstable_by_key(|&(_, new)| new);
        let order: Vec<usize> = paired.iter().map(|&(old, _)| old).collect();
        let moved = moved(&order);
        let mut paired = paired.into_iter().peekable();
        for (index, &(name, ty)) in new_items.iter().enumerate() {
            let mut changes = Vec::new();
            match paired.next_if(|&(_, new)| new == index) {
                None => changes.push(PortChange::Added {
                    ty: text::type_text(g, ty),
                }),
                Some((before, after)) => {
                    if moved.contains(&before) {
                        changes.push(PortChange::Moved { before, after });
                    }
                    let (old_name, old_ty) = old_items[before];
                    let renamed = self.renamed([old_name, name]);
                    changes.extend(
                        renamed.map(|[before, after]| PortChange::Renamed { before, after }),
                    );
                    let retyped = self.retyped([old_ty, ty]);
                    changes
                        .extend(retyped.map(|[before, after]| PortChange::Type { before, after }));
                }
            }
            for change in changes {
                self.port(port, index, port_name(g, name, index), change);
            }
        }
    }

    /// Compares the defaults of two parameters.
    fn default(&mut self, old: usize, new: usize) {
        let indices = [old, new];
        let args = [0, 1].map(|side: usize| {
            let f = self.sides[side].f;
            f.args(f.body()).nth(indices[side])
        });
        let [Some(from), Some(to)] = args else { return };
        let values = [from, to];
        let constants =
            [0, 1].map(|side: usize| self.sides[side].f.value(values[side]).constant.option());
        let class = |side: usize| constants[side].and_then(|id| self.contents.class(side, id));
        if class(0) != class(1) {
            let text = |side: usize| constants[side].map(|id| self.sides[side].constant_text(id));
            let (before, after) = (text(0), text(1));
            let name = self.sides[1].value_text(to);
            let change = PortChange::Default { before, after };
            self.port("input", new, name, change);
        }
    }

    /// Compares the values that the bodies return.
    pub(super) fn outputs(&mut self, nodes: [Node; 2]) {
        let [old_items, new_items] = self.values_of(nodes);
        let g = self.sides[1].f;
        let ports = g.ports(g.body());
        for (from, to) in self.interface.results.clone() {
            let (Some(&old), Some(&new)) = (old_items.get(from), new_items.get(to)) else {
                continue;
            };
            if self.is_same(old, new) {
                continue;
            }
            let name = ports.get(to).map_or(SymbolId::NONE, |port| port.name);
            let name = port_name(g, name, to);
            if let Some(texts) = self.not_rewired(old, new, to, |_| format!("output {name}")) {
                let [before, after] = texts.map(Option::unwrap_or_default);
                self.port("output", to, name, PortChange::Value { before, after });
            }
        }
    }

    fn port(&mut self, port: &'static str, index: usize, name: String, change: PortChange) {
        self.out.interface.push(PortDiff {
            port,
            index,
            name,
            change,
        });
    }
}

/// Returns the name of a port in a report.
fn port_name(f: &Function, name: SymbolId, index: usize) -> String {
    match name.option() {
        Some(name) => text::value_text(f.text(name)),
        None => format!("#{index}"),
    }
}
