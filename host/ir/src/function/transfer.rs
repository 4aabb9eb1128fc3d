//! Copying types, attributes and locations from one function's tables to another's.

use std::sync::Arc;

use passdock_abi::{
    Attr, AttrKind, ConstId, Dim, DimKind, ExprId, Loc, LocId, LocKind, RegionId, SymbolId, TypeId,
    TypeKind, ValueId,
};
use rustc_hash::FxHashMap;

use super::Function;
use crate::pool::push_range;

/// A transfer of a region between two functions. Without a source it is within one function, and only copies tensors of
/// attributes.
pub(crate) struct Transfer<'f> {
    pub(crate) source: Option<&'f Function>,
    pub(crate) into: &'f mut Function,
    pub(crate) root: RegionId,
    /// The replacements of the source's values.
    pub(crate) values: FxHashMap<ValueId, ValueId>,
    /// The copies of regions.
    pub(crate) regions: FxHashMap<RegionId, RegionId>,
    /// The dims that replace dim symbols of the source; other symbols become unknown. `None`: symbols are kept.
    pub(crate) dim_symbols: Option<FxHashMap<SymbolId, Dim>>,
    types: FxHashMap<TypeId, TypeId>,
    exprs: FxHashMap<i64, Dim>,
}

impl<'f> Transfer<'f> {
    pub(crate) fn new(
        source: Option<&'f Function>,
        into: &'f mut Function,
        root: RegionId,
        values: FxHashMap<ValueId, ValueId>,
    ) -> Transfer<'f> {
        Transfer {
            source,
            into,
            root,
            values,
            regions: FxHashMap::default(),
            dim_symbols: None,
            types: FxHashMap::default(),
            exprs: FxHashMap::default(),
        }
    }

    /// Returns the function that is read.
    pub(crate) fn source(&self) -> &Function {
        self.source.unwrap_or(self.into)
    }

    pub(crate) fn symbol(&self, id: SymbolId) -> SymbolId {
        match self.source {
            Some(source) if id.is_some() && !Arc::ptr_eq(&source.symbols, &self.into.symbols) => {
                self.into.symbols.intern(source.text(id))
            }
            _ => id,
        }
    }

    pub(crate) fn loc(&mut self, id: LocId) -> LocId {
        let Some(source) = self.source else { return id };
        let Some(&loc) = source.loc(id) else {
            return LocId::NONE;
        };
        if loc.kind != LocKind::FUSED {
            return self.single_loc(loc);
        }
        let parts = source.single_locs(id);
        let parts: Vec<LocId> = parts.map(|&part| self.single_loc(part)).collect();
        self.into.fuse_locs(&parts)
    }

    fn single_loc(&mut self, loc: Loc) -> LocId {
        let name = self.symbol(loc.name);
        self.into.add_loc(Loc { name, ..loc })
    }

    /// Converts a type. The recursion is shallow: types nest only a few levels, and contain only types interned before
    /// them.
    pub(crate) fn ty(&mut self, id: TypeId) -> TypeId {
        let Some(source) = self.source.filter(|_| id.is_some()) else {
            return id;
        };
        if let Some(&known) = self.types.get(&id) {
            return known;
        }
        let mut record = *source.ty(id);
        let mut dims = source.dims_in(record.dims).to_vec();
        let mut layout = source.layout_of(&record).to_vec();
        for dim in dims.iter_mut().chain(&mut layout) {
            *dim = self.dim(source, *dim);
        }
        let items: Vec<TypeId> = source.items_of(&record).map(|item| self.ty(item)).collect();
        record.name = self.symbol(record.name);
        debug_assert!(record.kind == TypeKind::BUFFER || layout.is_empty());
        let created = self.into.intern_type(record, &dims, &layout, &items);
        self.types.insert(id, created);
        created
    }

    fn dim(&mut self, source: &Function, dim: Dim) -> Dim {
        let carried = match dim.kind {
            DimKind::SYMBOL => {
                let name = SymbolId(dim.value as u32);
                match &self.dim_symbols {
                    None => Dim::symbol(self.symbol(name)),
                    Some(known_symbols) => {
                        known_symbols.get(&name).copied().unwrap_or(Dim::UNKNOWN)
                    }
                }
            }
            DimKind::EXPR => match self.exprs.get(&dim.value) {
                Some(&known) => known,
                None => {
                    let expr = *source.expr(ExprId(dim.value as u32));
                    let lhs = self.dim(source, expr.lhs);
                    let rhs = self.dim(source, expr.rhs);
                    let created = self.into.add_expr(expr.kind, lhs, rhs);
                    let created = created.unwrap_or(Dim::UNKNOWN);
                    self.exprs.insert(dim.value, created);
                    created
                }
            },
            _ => dim,
        };
        Dim {
            denotation: self.symbol(dim.denotation),
            ..carried
        }
    }

    /// Converts an attribute whose regions are copied already.
    pub(crate) fn attr(&mut self, attr: &Attr) -> Attr {
        let mut created = *attr;
        created.name = self.symbol(attr.name);
        match (attr.kind, self.source) {
            (AttrKind::TENSOR, _) => {
                created.bits = u64::from(self.tensor(ConstId(attr.bits as u32)).0);
            }
            (AttrKind::TENSORS, _) => {
                let ids = self.source().ids_in(attr.list).to_vec();
                let ids: Vec<u32> = ids.iter().map(|&id| self.tensor(ConstId(id)).0).collect();
                created.list = push_range(&mut self.into.ids, ids);
            }
            (AttrKind::REGION, _) => created.bits = u64::from(self.region(attr.bits as u32)),
            (AttrKind::REGIONS, _) => {
                let ids = self.source().ids_in(attr.list).iter();
                let ids: Vec<u32> = ids.map(|&id| self.region(id)).collect();
                created.list = push_range(&mut self.into.ids, ids);
            }
            (AttrKind::TYPE, Some(_)) => {
                created.bits = u64::from(self.ty(TypeId(attr.bits as u32)).0);
            }
            (AttrKind::TYPES, Some(source)) => {
                let ids = source.ids_in(attr.list).iter();
                let ids: Vec<u32> = ids.map(|&id| self.ty(TypeId(id)).0).collect();
                created.list = push_range(&mut self.into.ids, ids);
            }
            (AttrKind::REFERENCE, Some(_)) => {
                created.bits = u64::from(self.symbol(SymbolId(attr.bits as u32)).0);
            }
            (_, Some(source)) => self.into.pools.copy_list(&source.pools, &mut created),
            (_, None) => {}
        }
        created
    }

    fn region(&self, id: u32) -> u32 {
        let copy = self.regions.get(&RegionId(id));
        copy.map_or(RegionId::NONE.0, |copy| copy.0)
    }

    fn tensor(&mut self, id: ConstId) -> ConstId {
        let ty = self.ty(self.source().constant(id).ty);
        let data = self.source().constant_data(id).clone();
        self.into.insert_tensor(ty, data, RegionId(0))
    }
}
