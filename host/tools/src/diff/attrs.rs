//! Attributes of two functions side by side.

use passdock_abi::{Attr, AttrKind, ConstId, OpId, RegionId, SymbolId, TypeId};
use rustc_hash::FxHashMap;

use super::NONE;
use super::compare::Comparison;
use super::graph::Graph;
use super::hash::Context;
use super::report::OpChange;

impl Comparison<'_, '_, '_> {
    /// Compares the attributes of two ops (NONE: of the functions) by name; their order means nothing.
    pub(super) fn attributes(&mut self, ops: [OpId; 2], changes: &mut Vec<OpChange>) {
        let [old, new] = [0, 1].map(|side| self.graphs[side].f.attrs(ops[side]));
        let same = |m: &mut Self, pair: (&Attr, &Attr)| {
            m.name(0, pair.0) == m.name(1, pair.1) && m.same_attr(pair.0, pair.1)
        };
        if old.len() == new.len() && old.iter().zip(new).all(|pair| same(self, pair)) {
            return;
        }
        let mut olds: FxHashMap<u32, &Attr> = FxHashMap::default();
        for attr in old {
            olds.insert(self.name(0, attr), attr);
        }
        for attr in new {
            let before = olds.remove(&self.name(1, attr));
            if before.is_none_or(|before| !self.same_attr(before, attr)) {
                changes.push(OpChange::Attribute {
                    name: self.graphs[1].f.text(attr.name).to_owned(),
                    old: before.map(|before| self.lines[0].attr(ops[0], before)),
                    new: Some(self.lines[1].attr(ops[1], attr)),
                });
            }
        }
        for attr in old {
            if olds.remove(&self.name(0, attr)).is_some() {
                changes.push(OpChange::Attribute {
                    name: self.graphs[0].f.text(attr.name).to_owned(),
                    old: Some(self.lines[0].attr(ops[0], attr)),
                    new: None,
                });
            }
        }
    }

    fn name(&mut self, side: usize, attr: &Attr) -> u32 {
        self.symbols.of(side, attr.name)
    }

    fn same_attr(&mut self, old: &Attr, new: &Attr) -> bool {
        let mut content = |side: usize, attr: &Attr| {
            let mut cx = Context {
                contents: &self.contents,
                symbols: self.symbols,
                types: &mut self.types,
            };
            content(&self.graphs[side], attr, &mut cx)
        };
        old.kind == new.kind && old.flags == new.flags && content(0, old) == content(1, new)
    }
}

/// The value of an attribute as bytes: equal values of one kind are equal bytes in either function.
pub(super) fn content(graph: &Graph<'_>, attr: &Attr, cx: &mut Context<'_, '_>) -> Vec<u8> {
    let (f, side) = (graph.f, graph.side);
    let mut bytes = Vec::new();
    let id = |id: u32, cx: &mut Context<'_, '_>| match attr.kind {
        AttrKind::TENSOR | AttrKind::TENSORS => cx.contents.class(side, ConstId(id)),
        AttrKind::TYPE | AttrKind::TYPES => cx.types.of(side, f, TypeId(id)),
        AttrKind::REGION | AttrKind::REGIONS => graph.region_place(RegionId(id)).unwrap_or(NONE),
        AttrKind::REFERENCE => cx.symbols.of(side, SymbolId(id)),
        _ => id,
    };
    match attr.kind {
        AttrKind::NONE => {}
        AttrKind::INT => bytes.extend(attr.bits.to_le_bytes()),
        AttrKind::STRING | AttrKind::OPAQUE => bytes.extend(f.bytes_in(attr.list)),
        AttrKind::INTS => {
            let ints = f.ints_in(attr.list).iter();
            ints.for_each(|int| bytes.extend(int.to_le_bytes()));
        }
        AttrKind::FLOATS => {
            let floats = f.floats_in(attr.list).iter();
            floats.for_each(|float| bytes.extend(float.to_le_bytes()));
        }
        AttrKind::STRINGS => f.strings_in(attr.list).for_each(|text| {
            bytes.extend(text.len().to_le_bytes());
            bytes.extend(text);
        }),
        AttrKind::TENSORS | AttrKind::TYPES | AttrKind::REGIONS => {
            let ids = f.ids_in(attr.list).iter();
            ids.for_each(|&each| bytes.extend(id(each, cx).to_le_bytes()));
        }
        _ => bytes.extend(id(attr.bits as u32, cx).to_le_bytes()),
    }
    bytes
}
