//! What differs between the parameters and results of two functions.

use passdock_abi::{OpId, SymbolId, TypeId, ValueId};
use passdock_ir::{Function, text};

use super::align;
use super::compare::{Comparison, text_of};
use super::report::{PortChange, PortDiff};
use super::shared::Side;

impl Comparison<'_, '_, '_> {
    /// Compares parameters, and the names and types of results.
    pub(super) fn ports(&mut self) {
        let functions = [self.graphs[0].f, self.graphs[1].f];
        let params = functions.map(|f| {
            let port = |value: ValueId| (f.value(value).name, f.value(value).ty);
            f.args(f.body()).map(port).collect::<Vec<_>>()
        });
        let pairs = self.interface.params.clone();
        self.list_ports("input", &params, &pairs);
        let args = functions.map(|f| f.args(f.body()).collect::<Vec<_>>());
        for (old, new) in pairs {
            self.default(args[0][old], args[1][new], new);
        }
        let results = functions.map(|f| {
            let ports = f.ports(f.body()).iter();
            ports.map(|port| (port.name, port.ty)).collect::<Vec<_>>()
        });
        let pairs = self.interface.results.clone();
        self.list_ports("output", &results, &pairs);
    }

    fn list_ports(
        &mut self,
        port: &'static str,
        [olds, news]: &[Vec<(SymbolId, TypeId)>; 2],
        pairs: &[(usize, usize)],
    ) {
        let [f, g] = [self.graphs[0].f, self.graphs[1].f];
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
                let what = PortChange::Removed { ty };
                self.out.interface.push(PortDiff {
                    port,
                    index,
                    name,
                    what,
                });
            }
        }
        let paired: Vec<u32> = from.iter().flatten().map(|&old| old as u32).collect();
        let mut kept = align::longest_increasing(&paired).into_iter().peekable();
        let mut at = 0;
        for (index, &(name, ty)) in news.iter().enumerate() {
            let shown_name = shown(g, name, index);
            let mut add = |what| {
                let name = shown_name.clone();
                self.out.interface.push(PortDiff {
                    port,
                    index,
                    name,
                    what,
                });
            };
            let Some(old) = from[index] else {
                add(PortChange::Added {
                    ty: text::type_text(g, ty),
                });
                continue;
            };
            if kept.next_if_eq(&at).is_none() {
                add(PortChange::Moved { old, new: index });
            }
            at += 1;
            let (old_name, old_ty) = olds[old];
            if self.symbols.of(Side::A, old_name) != self.symbols.of(Side::B, name) {
                add(PortChange::Renamed {
                    old: text_of(f, old_name),
                    new: text_of(g, name),
                });
            }
            if self.types.of(Side::A, f, old_ty) != self.types.of(Side::B, g, ty) {
                add(PortChange::Type {
                    old: text::type_text(f, old_ty),
                    new: text::type_text(g, ty),
                });
            }
        }
    }

    fn default(&mut self, old: ValueId, new: ValueId, index: usize) {
        let [f, g] = [self.graphs[0].f, self.graphs[1].f];
        let constants = [f.value(old).constant, g.value(new).constant];
        let classes = [
            self.contents.class(Side::A, constants[0]),
            self.contents.class(Side::B, constants[1]),
        ];
        if classes[0] != classes[1] {
            let shown = [0, 1].map(|side: usize| {
                constants[side]
                    .option()
                    .map(|id| self.lines[side].constant(id))
            });
            let name = self.lines[1].value(new);
            let [old, new] = shown;
            let what = PortChange::Default { old, new };
            self.out.interface.push(PortDiff {
                port: "input",
                index,
                name,
                what,
            });
        }
    }

    /// Compares what the bodies give out.
    pub(super) fn outputs(&mut self, nodes: [u32; 2]) {
        let [olds, news]: [Vec<ValueId>; 2] =
            [0, 1].map(|side: usize| self.graphs[side].operands(nodes[side]).collect());
        for (from, to) in self.interface.results.clone() {
            let (Some(&old), Some(&new)) = (olds.get(from), news.get(to)) else {
                continue;
            };
            if self.is_same(old, new) {
                continue;
            }
            let g = self.graphs[1].f;
            let port = g
                .ports(g.body())
                .get(to)
                .map_or(SymbolId::NONE, |port| port.name);
            let name = shown(g, port, to);
            let texts = [self.lines[0].operand(old), self.lines[1].operand(new)];
            let user = || Some(format!("output {name}"));
            if !self.rewire(old, new, to, OpId::NONE, user, &texts) {
                let [old, new] = texts.map(Option::unwrap_or_default);
                let what = PortChange::Value { old, new };
                self.out.interface.push(PortDiff {
                    port: "output",
                    index: to,
                    name,
                    what,
                });
            }
        }
    }
}

/// A port as a report names it.
fn shown(f: &Function, name: SymbolId, index: usize) -> String {
    match name.option() {
        Some(name) => text::value_text(f.text(name)),
        None => format!("#{index}"),
    }
}
