//! [`Retype`]: types that name dims as another function does, in which they are now.

use std::collections::HashMap;

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

/// Puts a type in the place of another, whether or not it says less; none: it is unknown then.
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

/// Types of a function, some of which name dims as another function does.
pub(crate) struct Retype {
    /// The dims by the other function's symbols; what isn't listed is unknown.
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

    /// A type in the function's own names.
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
        // Types are made of types a few levels deep.
        for item in &mut items {
            *item = self.ty(f, *item)?;
        }
        let made = f.add_type(&spec.with_dims(dims).with_items(items))?;
        self.known.insert(ty, made);
        Ok(made)
    }

    fn dim(&self, f: &mut Function, dim: Dim) -> Result<Dim, EditError> {
        match dim.kind {
            DimKind::SYMBOL => Ok(self.dims.get(&dim.value).copied().unwrap_or(Dim::UNKNOWN)),
            DimKind::EXPR => {
                let Some(expr) = f.dim_expr(dim) else {
                    return Ok(Dim::UNKNOWN);
                };
                // Expressions are made of few terms.
                let (lhs, rhs) = (self.dim(f, expr.lhs)?, self.dim(f, expr.rhs)?);
                f.add_expr(expr.kind, lhs, rhs)
            }
            _ => Ok(dim),
        }
    }
}

/// Whether a type names dims.
pub(crate) fn names_dims(f: &Function, ty: TypeId) -> bool {
    !f.ty(ty).symbols().is_empty()
}
