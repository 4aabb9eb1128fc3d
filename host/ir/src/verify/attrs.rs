//! Attributes of ops and of the function.

use passdock_abi::{Attr, AttrKind, ConstId, Op, OpId, Range, SymbolId, TypeId};
use rustc_hash::FxHashSet;

use super::tables::entries;
use super::{Checker, Invariant};

impl Checker<'_> {
    pub(super) fn attributes(&mut self) {
        let f = self.f;
        let mut seen = FxHashSet::default();
        self.attr_list(OpId::NONE, f.function_attrs, Range::EMPTY, &mut seen);
        for (at, op) in f.ops.iter().enumerate() {
            if op.flags & Op::DEAD == 0 {
                self.attr_list(OpId(at as u32), op.attrs, op.regions, &mut seen);
            }
        }
    }

    fn attr_list(
        &mut self,
        op: OpId,
        attrs: Range,
        regions: Range,
        seen: &mut FxHashSet<SymbolId>,
    ) {
        let f = self.f;
        let Some(attrs) = entries(&f.attrs, attrs) else {
            let message = "a list of attributes is outside its pool".to_owned();
            self.report(Invariant::Attributes, op, message);
            return;
        };
        // Clearing a set takes time linear in its capacity.
        if seen.capacity() > 64 + 4 * attrs.len() {
            *seen = FxHashSet::default();
        }
        seen.clear();
        let regions: FxHashSet<u32> = entries(&f.ids, regions)
            .unwrap_or(&[])
            .iter()
            .copied()
            .collect();
        for attr in attrs {
            let param = attr.flags & Attr::PARAM != 0;
            let right = self.is_symbol(attr.name)
                && seen.insert(attr.name)
                && (!param || op.is_none())
                && self.attr_value(attr, &regions);
            if !right {
                let of = match op.option() {
                    Some(op) => f.describe_op(op),
                    None => "the function".to_owned(),
                };
                let message = format!(
                    "attribute `{}` of {of} is duplicate, or its kind or value is invalid",
                    f.text(attr.name)
                );
                self.report(Invariant::Attributes, op, message);
            }
        }
    }

    fn attr_value(&self, attr: &Attr, regions: &FxHashSet<u32>) -> bool {
        let f = self.f;
        let id = u32::try_from(attr.bits);
        let constant = |id: u32| f.live_constant(ConstId(id)).is_ok();
        let ty = |id: u32| f.live_type(TypeId(id)).is_ok();
        let ids = || entries(&f.ids, attr.list);
        match attr.kind {
            AttrKind::NONE | AttrKind::INT | AttrKind::FLOAT => true,
            AttrKind::STRING | AttrKind::OPAQUE => entries(&f.pools.bytes, attr.list).is_some(),
            AttrKind::INTS => entries(&f.pools.ints, attr.list).is_some(),
            AttrKind::FLOATS => entries(&f.pools.floats, attr.list).is_some(),
            AttrKind::STRINGS => entries(&f.pools.strings, attr.list).is_some_and(|strings| {
                strings
                    .iter()
                    .all(|&text| entries(&f.pools.bytes, text).is_some())
            }),
            AttrKind::TENSOR => id.is_ok_and(constant),
            AttrKind::TYPE => id.is_ok_and(ty),
            AttrKind::REGION => id.is_ok_and(|id| regions.contains(&id)),
            AttrKind::TENSORS => ids().is_some_and(|ids| ids.iter().all(|&id| constant(id))),
            AttrKind::TYPES => ids().is_some_and(|ids| ids.iter().all(|&id| ty(id))),
            AttrKind::REGIONS => ids().is_some_and(|ids| ids.iter().all(|id| regions.contains(id))),
            AttrKind::REFERENCE => id.is_ok_and(|id| self.is_symbol(SymbolId(id))),
            _ => false,
        }
    }
}
