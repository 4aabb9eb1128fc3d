//! Carrying types, attributes and locations from one function's tables to another's.

use passdock_abi::{
    Attr, AttrKind, ConstId, Dim, DimKind, ExprId, Loc, LocId, LocKind, RegionId, SymbolId, TypeId,
    TypeKind,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::function::Function;
use crate::pool::push_range;

/// The types and expressions that were carried already. `source: None` everywhere means: the same
/// function, nothing to carry.
#[derive(Default)]
pub(crate) struct Transfer {
    types: FxHashMap<TypeId, TypeId>,
    exprs: FxHashMap<i64, Dim>,
}

impl Transfer {
    pub(crate) fn symbol(
        &self,
        source: Option<&Function>,
        into: &Function,
        id: SymbolId,
    ) -> SymbolId {
        match source {
            Some(source) if id.is_some() && !Arc::ptr_eq(&source.symbols, &into.symbols) => {
                into.symbols.intern(source.text(id))
            }
            _ => id,
        }
    }

    pub(crate) fn loc(&self, source: Option<&Function>, into: &mut Function, id: LocId) -> LocId {
        let Some(source) = source else { return id };
        let Some(&loc) = source.loc(id) else {
            return LocId::NONE;
        };
        let name = self.symbol(Some(source), into, loc.name);
        if loc.kind != LocKind::FUSED {
            return into.add_loc(Loc { name, ..loc });
        }
        let range = passdock_abi::Range {
            start: loc.a,
            len: loc.b,
        };
        let parts: Vec<LocId> = source
            .ids_in(range)
            .iter()
            .filter_map(|&part| source.loc(LocId(part)).copied())
            .filter(|part| part.kind != LocKind::FUSED)
            .map(|part| {
                let name = self.symbol(Some(source), into, part.name);
                into.add_loc(Loc { name, ..part })
            })
            .collect();
        into.fuse_locs(&parts)
    }

    /// Types nest only a few levels: each is made of ids that were interned before it.
    pub(crate) fn ty(
        &mut self,
        source: Option<&Function>,
        into: &mut Function,
        id: TypeId,
    ) -> TypeId {
        let Some(source) = source else { return id };
        if id.is_none() {
            return id;
        }
        if let Some(&known) = self.types.get(&id) {
            return known;
        }
        let mut record = *source.ty(id);
        let mut dims = source.dims_in(record.dims).to_vec();
        let mut layout = source.layout_of(&record).to_vec();
        for dim in dims.iter_mut().chain(&mut layout) {
            *dim = self.dim(source, into, *dim);
        }
        let items: Vec<TypeId> = source.items_of(&record).collect();
        let items: Vec<TypeId> = items
            .into_iter()
            .map(|item| self.ty(Some(source), into, item))
            .collect();
        record.name = self.symbol(Some(source), into, record.name);
        debug_assert!(record.kind == TypeKind::BUFFER || layout.is_empty());
        let made = into.intern_type(record, &dims, &layout, &items);
        self.types.insert(id, made);
        made
    }

    fn dim(&mut self, source: &Function, into: &mut Function, dim: Dim) -> Dim {
        let denotation = self.symbol(Some(source), into, dim.denotation);
        let carried = match dim.kind {
            DimKind::SYMBOL => {
                Dim::symbol(self.symbol(Some(source), into, SymbolId(dim.value as u32)))
            }
            DimKind::EXPR => match self.exprs.get(&dim.value) {
                Some(&known) => known,
                None => {
                    let expr = *source.expr(ExprId(dim.value as u32));
                    let lhs = self.dim(source, into, expr.lhs);
                    let rhs = self.dim(source, into, expr.rhs);
                    let made = into.add_expr(expr.kind, lhs, rhs).unwrap_or(Dim::UNKNOWN);
                    self.exprs.insert(dim.value, made);
                    made
                }
            },
            _ => dim,
        };
        Dim {
            denotation,
            ..carried
        }
    }

    /// An attribute's value in the other function; regions are the caller's.
    pub(crate) fn attr(
        &mut self,
        source: Option<&Function>,
        into: &mut Function,
        attr: &Attr,
    ) -> Attr {
        let mut made = *attr;
        let Some(source) = source else {
            match attr.kind {
                AttrKind::TENSOR => {
                    made.bits = u64::from(into.copy_tensor(ConstId(attr.bits as u32)).0);
                }
                AttrKind::TENSORS => {
                    let ids = into.ids_in(attr.list).to_vec();
                    let ids: Vec<u32> = ids
                        .into_iter()
                        .map(|id| into.copy_tensor(ConstId(id)).0)
                        .collect();
                    made.list = push_range(&mut into.ids, ids);
                }
                _ => {}
            }
            return made;
        };
        match attr.kind {
            AttrKind::STRING | AttrKind::OPAQUE => {
                let bytes = source.bytes_in(attr.list).iter().copied();
                made.list = push_range(&mut into.bytes, bytes);
            }
            AttrKind::INTS => {
                made.list = push_range(&mut into.ints, source.ints_in(attr.list).iter().copied());
            }
            AttrKind::FLOATS => {
                let floats = source.floats_in(attr.list).iter().copied();
                made.list = push_range(&mut into.floats, floats);
            }
            AttrKind::STRINGS => {
                let pool = &mut into.bytes;
                let texts = source.strings_in(attr.list);
                let ranges: Vec<_> = texts
                    .map(|text| push_range(pool, text.iter().copied()))
                    .collect();
                made.list = push_range(&mut into.strings, ranges);
            }
            AttrKind::TYPE => {
                made.bits = u64::from(self.ty(Some(source), into, TypeId(attr.bits as u32)).0);
            }
            AttrKind::TYPES => {
                let ids = source.ids_in(attr.list).to_vec();
                let ids: Vec<u32> = ids
                    .into_iter()
                    .map(|id| self.ty(Some(source), into, TypeId(id)).0)
                    .collect();
                made.list = push_range(&mut into.ids, ids);
            }
            AttrKind::TENSOR => {
                made.bits = u64::from(self.tensor(source, into, ConstId(attr.bits as u32)).0);
            }
            AttrKind::TENSORS => {
                let ids = source.ids_in(attr.list).to_vec();
                let ids: Vec<u32> = ids
                    .into_iter()
                    .map(|id| self.tensor(source, into, ConstId(id)).0)
                    .collect();
                made.list = push_range(&mut into.ids, ids);
            }
            AttrKind::REFERENCE => {
                let param = SymbolId(attr.bits as u32);
                made.bits = u64::from(self.symbol(Some(source), into, param).0);
            }
            _ => {}
        }
        made
    }

    fn tensor(&mut self, source: &Function, into: &mut Function, id: ConstId) -> ConstId {
        let ty = self.ty(Some(source), into, source.constant(id).ty);
        into.insert_tensor(ty, source.constant_data(id).clone(), RegionId(0))
    }
}
