//! [`Retype`]: translation of types with another function's dim symbols.

use std::collections::HashMap;

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

/// Replaces the type of a value, even with a less precise one. Without a type, it becomes unknown.
pub(crate) fn retype(f: &mut Function, value: ValueId, ty: TypeId) -> Result<(), EditError> {
    if f.type_id(value) == ty {
        return Ok(());
    }
    let unknown = f.add_type(&TypeSpec::unknown())?;
    f.set_type(value, unknown)?;
    match ty.is_none() {
        true => Ok(()),
        false => f.set_type(value, ty),
    }
}

/// A translation of types, some of which have another function's dim symbols.
pub(crate) struct Retype {
    /// The replacements of the other function's symbols. Other symbols become unknown.
    dims: HashMap<i64, Dim>,
    known: HashMap<TypeId, TypeId>,
}

impl Retype {
    pub(crate) fn new(dims: HashMap<i64, Dim>) -> Retype {
        Retype {
            dims,
            known: HashMap::new(),
        }
    }

    /// Translates a type.
    pub(crate) fn ty(&mut self, f: &mut Function, ty: TypeId) -> Result<TypeId, EditError> {
        if ty.is_none() || !names_dims(f, ty) {
            return Ok(ty);
        }
        if let Some(&known) = self.known.get(&ty) {
            return Ok(known);
        }
        let own = f.ty(ty);
        let (spec, mut items) = (TypeSpec::from(own), own.items().to_vec());
        let mut dims: Vec<Dim> = own.dims().map_or(Vec::new(), Iterator::collect);
        for dim in &mut dims {
            *dim = Dim {
                denotation: dim.denotation,
                ..self.dim(f, *dim)?
            };
        }
        // The recursion is shallow, as types are nested only a few levels deep.
        for item in &mut items {
            *item = self.ty(f, *item)?;
        }
        let created = f.add_type(&spec.with_dims(dims).with_items(items))?;
        self.known.insert(ty, created);
        Ok(created)
    }

    fn dim(&self, f: &mut Function, dim: Dim) -> Result<Dim, EditError> {
        match dim.kind {
            DimKind::SYMBOL => Ok(self.dims.get(&dim.value).copied().unwrap_or(Dim::UNKNOWN)),
            DimKind::EXPR => {
                let Some(expr) = f.dim_expr(dim) else {
                    return Ok(Dim::UNKNOWN);
                };
                // The recursion is shallow, as expressions have few terms.
                let (lhs, rhs) = (self.dim(f, expr.lhs)?, self.dim(f, expr.rhs)?);
                f.add_expr(expr.kind, lhs, rhs)
            }
            _ => Ok(dim),
        }
    }
}

/// Whether a type has dim symbols.
pub(crate) fn names_dims(f: &Function, ty: TypeId) -> bool {
    !f.ty(ty).symbols().is_empty()
}
