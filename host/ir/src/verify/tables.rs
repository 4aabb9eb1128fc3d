//! The tables that the other records refer to.

use passdock_abi::{
    Dim, DimExpr, DimKind, ExprKind, FunctionKind, LocKind, OpId, Range, SymbolId, Type, TypeId,
    TypeKind,
};
use rustc_hash::FxHashSet;

use super::{Checker, Invariant};
use crate::edit::MAX_OPSETS;
use crate::function::expr::MAX_DIM_TERMS;
use crate::function::locs::loc_range;
use crate::function::types::MAX_TYPE_DEPTH;

/// Returns the entries of a range, or `None` if it is out of bounds. An empty range may start anywhere.
pub(super) fn entries<T>(pool: &[T], range: Range) -> Option<&[T]> {
    if range.len == 0 {
        return Some(&[]);
    }
    let start = range.start as usize;
    pool.get(start..start.checked_add(range.len as usize)?)
}

impl Checker<'_> {
    pub(super) fn tables(&mut self) {
        self.columns();
        self.function();
        self.dims();
        self.types();
        self.locations();
    }

    fn columns(&mut self) {
        let f = self.f;
        let columns = [
            ("constants", f.constants.len(), f.data.len()),
            ("dim expressions", f.exprs.len(), f.expr_terms.len()),
        ];
        for (what, records, paired) in columns {
            if records != paired {
                let message =
                    format!("the tables of {what} differ in length: {records} and {paired}");
                self.report(Invariant::Columns, OpId::NONE, message);
            }
        }
    }

    fn function(&mut self) {
        let f = self.f;
        let rule = Invariant::Function;
        if !matches!(f.kind, FunctionKind::GRAPH | FunctionKind::PRIM) {
            let message = format!("unknown function kind {}", f.kind.0);
            self.report(rule, OpId::NONE, message);
        }
        if !self.is_symbol(f.name) {
            let message = format!("function name {} is not a symbol", f.name);
            self.report(rule, OpId::NONE, message);
        }
        let mut domains = FxHashSet::default();
        if f.opsets.len() > MAX_OPSETS {
            let message = format!(
                "the function has opsets of {} domains; the limit is {MAX_OPSETS}",
                f.opsets.len()
            );
            self.report(rule, OpId::NONE, message);
        }
        for opset in &f.opsets {
            if !self.is_symbol(opset.domain) || !domains.insert(opset.domain) {
                let domain = f.text(opset.domain);
                let message = format!("invalid or duplicate opset domain {domain:?}");
                self.report(rule, OpId::NONE, message);
            }
        }
    }

    fn dims(&mut self) {
        let f = self.f;
        for (at, expr) in f.exprs.iter().enumerate() {
            let DimExpr { kind, lhs, rhs, .. } = expr;
            let known = (ExprKind::ADD.0..=ExprKind::BROADCAST.0).contains(&kind.0);
            let sides = [lhs, rhs].into_iter().all(|side| self.is_dim(side, at));
            let counted = f.dim_terms(lhs).saturating_add(f.dim_terms(rhs));
            let kept = f.expr_terms.get(at).copied();
            if !known || !sides || kept != Some(counted) || counted > MAX_DIM_TERMS {
                let message = format!(
                    "invalid dim expression expr{at}: unknown kind, invalid operand or too many terms"
                );
                self.report(Invariant::Dims, OpId::NONE, message);
            }
        }
        for (at, dim) in f.dims.iter().enumerate() {
            if !self.is_dim(dim, f.exprs.len()) {
                let message = format!("invalid dim {at} of the pool");
                self.report(Invariant::Dims, OpId::NONE, message);
            }
        }
    }

    /// Whether a dim is valid and refers only to expressions before `limit`.
    fn is_dim(&self, dim: &Dim, limit: usize) -> bool {
        let value = match dim.kind {
            DimKind::UNKNOWN | DimKind::CONST => true,
            DimKind::SYMBOL => {
                u32::try_from(dim.value).is_ok_and(|id| self.is_symbol(SymbolId(id)))
            }
            DimKind::EXPR => usize::try_from(dim.value).is_ok_and(|id| id < limit),
            _ => false,
        };
        value && self.is_symbol_or_none(dim.denotation)
    }

    fn types(&mut self) {
        let f = self.f;
        if f.types.first().map(|ty| ty.kind) != Some(TypeKind::UNKNOWN) {
            let message = "type0 is not `?`".to_owned();
            self.report(Invariant::Types, OpId::NONE, message);
        }
        let mut depths: Vec<u32> = Vec::with_capacity(f.types.len());
        for (at, ty) in f.types.iter().enumerate() {
            let depth = self.type_depth(ty, &depths);
            depths.push(depth.unwrap_or(0));
            if depth.is_none_or(|depth| depth > MAX_TYPE_DEPTH) {
                let message = format!(
                    "{} is invalid: unknown kind, invalid parts, or nested deeper than {MAX_TYPE_DEPTH} levels",
                    TypeId(at as u32)
                );
                self.report(Invariant::Types, OpId::NONE, message);
            }
        }
    }

    /// Returns the depth of a type; `None` if it is invalid.
    fn type_depth(&self, ty: &Type, before: &[u32]) -> Option<u32> {
        let f = self.f;
        let dims = entries(&f.dims, ty.dims)?;
        if !self.is_symbol_or_none(ty.name) {
            return None;
        }
        let items: &[u32] = match ty.kind {
            TypeKind::BUFFER => {
                let layout = entries(&f.dims, ty.aux)?;
                let whole = layout.is_empty() || layout.len() == dims.len() + 1;
                return whole.then_some(0);
            }
            // An empty list may start anywhere: a tensor's starts where its strides would be.
            _ if ty.aux.len == 0 => &[],
            _ => entries(&f.ids, ty.aux)?,
        };
        let count = match ty.kind {
            TypeKind::UNKNOWN | TypeKind::TENSOR | TypeKind::SPARSE | TypeKind::SCALAR => 0,
            TypeKind::OPAQUE if ty.name.is_some() => 0,
            TypeKind::SEQUENCE | TypeKind::OPTIONAL | TypeKind::MAP => 1,
            TypeKind::TUPLE => items.len(),
            TypeKind::FUNCTION if ty.lanes as usize <= items.len() => items.len(),
            _ => return None,
        };
        if count != items.len() {
            return None;
        }
        let mut depth = 0;
        for &item in items {
            depth = depth.max(before.get(item as usize)? + 1);
        }
        Some(depth)
    }

    fn locations(&mut self) {
        let f = self.f;
        for (at, loc) in f.locs.iter().enumerate() {
            let right = match loc.kind {
                LocKind::NAME | LocKind::TEXT => self.is_symbol(loc.name),
                LocKind::FUSED => {
                    let parts = entries(&f.ids, loc_range(loc)).unwrap_or(&[]);
                    let single = |&part: &u32| {
                        let part = f.locs.get(part as usize);
                        part.is_some_and(|part| part.kind != LocKind::FUSED)
                    };
                    !parts.is_empty() && parts.iter().all(single)
                }
                _ => false,
            };
            if !right {
                let message = format!("loc{at} is invalid: unknown kind, or invalid name or parts");
                self.report(Invariant::Locations, OpId::NONE, message);
            }
        }
    }
}
