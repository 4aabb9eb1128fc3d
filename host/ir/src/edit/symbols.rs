//! Replacing dim symbols.

use passdock_abi::{
    Attr, AttrKind, Dim, DimKind, ExprId, OpId, Port, Range, Region, RegionId, SymbolId, TypeId,
    Value, ValueId,
};
use rustc_hash::FxHashMap;

use crate::error::{Edit, EditFailure, invalid};
use crate::function::Function;
use crate::pool::push_range;

/// The new type of each of a function's types.
struct Images {
    /// Indexed by old type; NONE if a size would be negative.
    types: Vec<TypeId>,
}

impl Images {
    fn of(&self, ty: TypeId) -> TypeId {
        self.types.get(ty.index()).copied().unwrap_or(ty)
    }

    fn changes(&self, ty: TypeId) -> bool {
        ty.is_some() && self.of(ty) != ty
    }
}

impl Function {
    /// Replaces symbols with dims, simultaneously, in all types of the function. Visits each type and expression once.
    ///
    /// # Errors
    /// If a symbol doesn't exist or is listed twice, a size would be negative, or consistent types would contradict
    /// each other.
    pub fn replace_symbols(&mut self, replacements: &[(SymbolId, Dim)]) -> Edit {
        let mut dims = FxHashMap::default();
        for &(symbol, dim) in replacements {
            let text = self.live_symbol(symbol)?;
            if dims.insert(i64::from(symbol.0), dim).is_some() {
                invalid!("duplicate replacement of symbol `{text}`");
            }
        }
        let images = self.images(&dims)?;
        self.check_images(&images)?;
        self.replace_types(&images);
        Ok(())
    }

    /// Returns the dim symbols in types, without duplicates.
    pub fn dim_symbols(&self, types: impl IntoIterator<Item = TypeId>) -> Vec<SymbolId> {
        let mut seen = vec![false; self.types.len()];
        let mut symbols = Vec::new();
        let mut pending: Vec<TypeId> = Vec::new();
        for ty in types {
            pending.push(ty);
            while let Some(ty) = pending.pop() {
                if ty.is_none() || std::mem::replace(&mut seen[ty.index()], true) {
                    continue;
                }
                let record = self.ty(ty);
                pending.extend(self.items_of(record));
                let dims = self.dims_in(record.dims).iter();
                let mut dims: Vec<Dim> = dims.chain(self.layout_of(record)).copied().collect();
                dims.reverse();
                while let Some(dim) = dims.pop() {
                    match dim.kind {
                        DimKind::SYMBOL => symbols.push(SymbolId(dim.value as u32)),
                        DimKind::EXPR => {
                            let expr = self.expr(ExprId(dim.value as u32));
                            dims.extend([expr.rhs, expr.lhs]);
                        }
                        _ => {}
                    }
                }
            }
        }
        let mut known = rustc_hash::FxHashSet::default();
        symbols.retain(|&symbol| known.insert(symbol));
        symbols
    }

    fn images(&mut self, replacements: &FxHashMap<i64, Dim>) -> Edit<Images> {
        // Entries interned meanwhile are after these and already mapped.
        let (expr_count, type_count) = (self.exprs.len(), self.types.len());
        let mut exprs: Vec<Dim> = Vec::with_capacity(expr_count);
        let image = |exprs: &[Dim], dim: Dim| {
            let image = match dim.kind {
                DimKind::SYMBOL => replacements.get(&dim.value).copied(),
                DimKind::EXPR => exprs.get(dim.value as usize).copied(),
                _ => None,
            };
            image.map_or(dim, |image| Dim {
                denotation: dim.denotation,
                ..image
            })
        };
        for at in 0..expr_count {
            let expr = self.exprs[at];
            let sides = (image(&exprs, expr.lhs), image(&exprs, expr.rhs));
            let own = Dim {
                kind: DimKind::EXPR,
                denotation: SymbolId::NONE,
                value: at as i64,
            };
            exprs.push(match sides == (expr.lhs, expr.rhs) {
                true => own,
                false => self.add_expr(expr.kind, sides.0, sides.1)?,
            });
        }
        let old_types = (0..type_count as u32).map(TypeId);
        let types = old_types.map(|old| {
            let new = self.map_dims(old, &mut |_, dim| image(&exprs, dim));
            let negative = new != old && self.has_negative_dim(new);
            if negative { TypeId::NONE } else { new }
        });
        Ok(Images {
            types: types.collect(),
        })
    }

    fn has_negative_dim(&self, ty: TypeId) -> bool {
        let record = self.ty(ty);
        let negative = |dim: &Dim| dim.kind == DimKind::CONST && dim.value < 0;
        let mut items = self.items_of(record);
        self.dims_in(record.dims).iter().any(negative)
            || items.any(|item| self.has_negative_dim(item))
    }

    /// Rejects images that are negative or contradict each other.
    fn check_images(&self, images: &Images) -> Edit {
        let live = self.values.iter().enumerate();
        let live = live.filter(|(_, value)| value.flags & Value::DEAD == 0);
        for (at, value) in live.filter(|(_, value)| images.changes(value.ty)) {
            let id = ValueId(at as u32);
            let new = images.of(value.ty);
            if new.is_none() {
                return Err(self.negative(&self.describe(id), value.ty));
            }
            if let Some(constant) = value.constant.option() {
                let ty = self.constant(constant).ty;
                if !self.is_compatible(ty, new) {
                    return Err(self.contradicts(
                        &format!("default of {}", self.describe(id)),
                        ty,
                        new,
                    ));
                }
            }
        }
        for region in self.live_regions() {
            let operands = self.terminator(region).map(|op| self.operands(op));
            let given = operands.unwrap_or_default();
            for (index, port) in self.ports(region).iter().enumerate() {
                let new = images.of(port.ty);
                let what = || match port.name.option() {
                    Some(name) => format!("result `{}`", self.text(name)),
                    None => format!("result {index} of {region}"),
                };
                if new.is_none() && port.ty.is_some() {
                    return Err(self.negative(&what(), port.ty));
                }
                let Some(value) = given.get(index).and_then(|slot| slot.value.option()) else {
                    continue;
                };
                let held = self.value(value).ty;
                let fits = self.is_compatible(new, images.of(held));
                // Contradictions that existed before aren't reported.
                if !fits && self.is_compatible(port.ty, held) {
                    let what = format!("value of {}", what());
                    return Err(self.contradicts(&what, images.of(held), new));
                }
            }
        }
        Ok(())
    }

    fn negative(&self, what: &str, ty: TypeId) -> EditFailure {
        EditFailure::rejected(format!(
            "{what} of type `{}` would have a negative dim",
            crate::text::type_text(self, ty)
        ))
    }

    fn contradicts(&self, what: &str, is: TypeId, would: TypeId) -> EditFailure {
        EditFailure::rejected(format!(
            "the {what} has type `{}`, which contradicts the new type `{}`",
            crate::text::type_text(self, is),
            crate::text::type_text(self, would)
        ))
    }

    fn live_regions(&self) -> impl Iterator<Item = RegionId> + '_ {
        let live = |(_, region): &(usize, &Region)| region.flags & Region::DEAD == 0;
        let regions = self.regions.iter().enumerate().filter(live);
        regions.map(|(at, _)| RegionId(at as u32))
    }

    fn replace_types(&mut self, images: &Images) {
        for at in 0..self.values.len() {
            let value = &mut self.values[at];
            if value.flags & Value::DEAD == 0 && images.changes(value.ty) {
                value.ty = images.of(value.ty);
                self.touch_value(ValueId(at as u32));
            }
        }
        let regions: Vec<RegionId> = self.live_regions().collect();
        for region in regions {
            let Range { start, len } = self.regions[region.index()].ports;
            let mut changed = false;
            for port in &mut self.ports[start as usize..(start + len) as usize] {
                if images.changes(port.ty) {
                    port.ty = images.of(port.ty);
                    port.flags |= Port::TOUCHED;
                    changed = true;
                }
            }
            if changed {
                self.touch_region(region);
            }
        }
        for at in 0..self.ops.len() {
            let op = OpId(at as u32);
            if self.live_op(op).is_ok() && self.replace_attr_types(self.ops[at].attrs, images) {
                self.touch_op(op);
            }
        }
        if self.replace_attr_types(self.function_attrs, images) {
            self.touch_function();
        }
    }

    /// Replaces the types in a range of attributes; returns whether any changed.
    fn replace_attr_types(&mut self, range: Range, images: &Images) -> bool {
        let mut changed = false;
        for at in range.start as usize..(range.start + range.len) as usize {
            let attr: Attr = self.attrs[at];
            match attr.kind {
                AttrKind::TYPE => {
                    let new = images.of(TypeId(attr.bits as u32));
                    if new.is_some() && u64::from(new.0) != attr.bits {
                        self.attrs[at].bits = u64::from(new.0);
                        changed = true;
                    }
                }
                AttrKind::TYPES => {
                    let old: Vec<u32> = crate::pool::slice(&self.ids, attr.list).to_vec();
                    let image = |&id: &u32| images.of(TypeId(id)).option().map_or(id, |ty| ty.0);
                    let new: Vec<u32> = old.iter().map(image).collect();
                    if new != old {
                        self.attrs[at].list = push_range(&mut self.ids, new);
                        changed = true;
                    }
                }
                _ => {}
            }
        }
        changed
    }
}
