//! What differs between the parameters and results of two functions.

use passdock_abi::{SymbolId, TypeId, ValueId};
use passdock_ir::{Function, text};

use super::compare::Comparison;
use super::matching::moved;
use super::report::{PortChange, PortDiff};

impl Comparison<'_> {
    /// Compares parameters, and the names and types of results.
    pub(super) fn ports(&mut self) {
        let params = [0, 1].map(|side: usize| self.graphs[side].params());
        let pairs = self.interface.params.clone();
        self.list_ports("input", &params, &pairs);
        let functions = self.functions();
        let args = functions.map(|f| f.args(f.body()).collect::<Vec<_>>());
        for (old, new) in pairs {
            self.default([args[0][old], args[1][new]], new);
        }
        let results = [0, 1].map(|side: usize| self.graphs[side].results());
        let pairs = self.interface.results.clone();
        self.list_ports("output", &results, &pairs);
    }

    fn list_ports(
        &mut self,
        port: &'static str,
        [olds, news]: &[Vec<(SymbolId, TypeId)>; 2],
        pairs: &[(usize, usize)],
    ) {
        let [f, g] = self.functions();
        let mut from = vec![None; news.len()];
        let mut gone = vec![true; olds.len()];
        for &(old, new) in pairs {
            from[new] = Some(old);
            gone[old] = false;
        }
        for (index, &(name, ty)) in olds.iter().enumerate() {
            if gone[index] {
                let ty = text::type_text(f, ty);
                let name = shown(f, name, index);
                self.port(port, index, name, PortChange::Removed { ty });
            }
        }
        let paired: Vec<usize> = from.iter().flatten().copied().collect();
        let moved = moved(&paired);
        for (index, &(name, ty)) in news.iter().enumerate() {
            let shown = || shown(g, name, index);
            let Some(old) = from[index] else {
                let ty = text::type_text(g, ty);
                self.port(port, index, shown(), PortChange::Added { ty });
                continue;
            };
            if moved.contains(&old) {
                self.port(port, index, shown(), PortChange::Moved { old, new: index });
            }
            let (old_name, old_ty) = olds[old];
            if let Some([old, new]) = self.renamed([old_name, name]) {
                self.port(port, index, shown(), PortChange::Renamed { old, new });
            }
            if let Some([old, new]) = self.retyped([old_ty, ty]) {
                self.port(port, index, shown(), PortChange::Type { old, new });
            }
        }
    }

    fn default(&mut self, values: [ValueId; 2], index: usize) {
        let constants = [0, 1].map(|side| self.graphs[side].f.value(values[side]).constant);
        let [old, new] = [0, 1].map(|side| self.contents.class(side, constants[side]));
        if old != new {
            let [old, new] = [0, 1].map(|side: usize| {
                let default = constants[side].option();
                default.map(|id| self.lines[side].constant(id))
            });
            let name = self.lines[1].value(values[1]);
            self.port("input", index, name, PortChange::Default { old, new });
        }
    }

    /// Compares what the bodies give out.
    pub(super) fn outputs(&mut self, nodes: [u32; 2]) {
        let [olds, news] = self.values_of(nodes);
        let g = self.graphs[1].f;
        let ports = g.ports(g.body());
        for (from, to) in self.interface.results.clone() {
            let (Some(&old), Some(&new)) = (olds.get(from), news.get(to)) else {
                continue;
            };
            if self.is_same(old, new) {
                continue;
            }
            let name = ports.get(to).map_or(SymbolId::NONE, |port| port.name);
            let name = shown(g, name, to);
            if let Some(texts) = self.not_rewired(old, new, to, |_| format!("output {name}")) {
                let [old, new] = texts.map(Option::unwrap_or_default);
                self.port("output", to, name, PortChange::Value { old, new });
            }
        }
    }

    fn port(&mut self, port: &'static str, index: usize, name: String, what: PortChange) {
        self.out.interface.push(PortDiff {
            port,
            index,
            name,
            what,
        });
    }
}

/// A port as a report names it.
fn shown(f: &Function, name: SymbolId, index: usize) -> String {
    match name.option() {
        Some(name) => text::value_text(f.text(name)),
        None => format!("#{index}"),
    }
}
