//! Whether attributes of two functions are the same.

use passdock_abi::{Attr, AttrKind, ConstId, OpId, RegionId, SymbolId, TypeId};
use rustc_hash::FxHashMap;

use super::compare::{Comparison, SIDES};
use super::report::OpChange;
use super::shared::Side;

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
        self.symbols.of(SIDES[side], attr.name)
    }

    fn same_attr(&mut self, old: &Attr, new: &Attr) -> bool {
        let [f, g] = [self.graphs[0].f, self.graphs[1].f];
        if old.kind != new.kind || old.flags != new.flags {
            return false;
        }
        let ids = |side: usize, attr: &Attr| -> Vec<u32> {
            match attr.kind {
                AttrKind::TENSORS | AttrKind::TYPES | AttrKind::REGIONS => {
                    self.graphs[side].f.ids_in(attr.list).to_vec()
                }
                _ => vec![attr.bits as u32],
            }
        };
        match old.kind {
            AttrKind::NONE => true,
            AttrKind::INT => old.bits == new.bits,
            AttrKind::FLOAT => old.bits as u32 == new.bits as u32,
            AttrKind::STRING | AttrKind::OPAQUE => f.bytes_in(old.list) == g.bytes_in(new.list),
            AttrKind::INTS => f.ints_in(old.list) == g.ints_in(new.list),
            AttrKind::FLOATS => {
                let bits = |floats: &[f32]| -> Vec<u32> {
                    floats.iter().map(|float| float.to_bits()).collect()
                };
                bits(f.floats_in(old.list)) == bits(g.floats_in(new.list))
            }
            AttrKind::STRINGS => f.strings_in(old.list).eq(g.strings_in(new.list)),
            _ => {
                let (old_ids, new_ids) = (ids(0, old), ids(1, new));
                old_ids.len() == new_ids.len()
                    && old_ids
                        .into_iter()
                        .zip(new_ids)
                        .all(|pair| self.same_id(old.kind, pair))
            }
        }
    }

    /// Whether two ids of an attribute's kind mean the same.
    fn same_id(&mut self, kind: AttrKind, (old, new): (u32, u32)) -> bool {
        let [a, b] = &self.graphs;
        match kind {
            AttrKind::TENSOR | AttrKind::TENSORS => {
                let old = self.contents.class(Side::A, ConstId(old));
                old == self.contents.class(Side::B, ConstId(new))
            }
            AttrKind::TYPE | AttrKind::TYPES => {
                let old = self.types.of(Side::A, a.f, TypeId(old));
                old == self.types.of(Side::B, b.f, TypeId(new))
            }
            AttrKind::REGION | AttrKind::REGIONS => {
                a.region_place(RegionId(old)) == b.region_place(RegionId(new))
            }
            AttrKind::REFERENCE => {
                let old = self.symbols.of(Side::A, SymbolId(old));
                old == self.symbols.of(Side::B, SymbolId(new))
            }
            _ => old == new,
        }
    }
}
