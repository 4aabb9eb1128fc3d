//! Types in the words of another function: a dim's name belongs to the function that it stands in.

use std::collections::HashMap;

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

/// The names of one function's dims in another.
pub(crate) enum Words {
    /// The same names.
    Same,
    /// Names by the symbol; what isn't listed is unknown.
    Listed(HashMap<i64, Dim>),
}

/// Types of one function, made in another.
pub(crate) struct Retype<'s> {
    /// The function that the types are of; `None`: copies that the other function has already.
    source: Option<&'s Function>,
    words: Words,
    known: HashMap<TypeId, TypeId>,
}

impl<'s> Retype<'s> {
    pub(crate) fn new(source: Option<&'s Function>, words: Words) -> Retype<'s> {
        Retype {
            source,
            words,
            known: HashMap::new(),
        }
    }

    /// A type, as the function says it.
    pub(crate) fn ty(&mut self, into: &mut Function, ty: TypeId) -> Result<TypeId, EditError> {
        if ty.is_none() || (self.source.is_none() && !names_dims(into, ty)) {
            return Ok(ty);
        }
        if let Some(&made) = self.known.get(&ty) {
            return Ok(made);
        }
        let own = self.source.unwrap_or(into).ty(ty);
        let (spec, items) = (TypeSpec::from(own), own.items().to_vec());
        let own: Vec<Dim> = own.dims().map_or(Vec::new(), Iterator::collect);
        let mut dims = Vec::with_capacity(own.len());
        for dim in own {
            let made = self.dim(into, dim)?;
            dims.push(Dim {
                denotation: dim.denotation,
                ..made
            });
        }
        let mut parts = Vec::with_capacity(items.len());
        // Types are made of types a few levels deep.
        for item in items {
            parts.push(self.ty(into, item)?);
        }
        let made = into.add_type(&spec.with_dims(dims).with_items(parts))?;
        self.known.insert(ty, made);
        Ok(made)
    }

    fn dim(&self, into: &mut Function, dim: Dim) -> Result<Dim, EditError> {
        match (dim.kind, &self.words) {
            (DimKind::SYMBOL, Words::Listed(words)) => {
                Ok(words.get(&dim.value).copied().unwrap_or(Dim::UNKNOWN))
            }
            (DimKind::EXPR, _) => {
                let Some(expr) = self.source.unwrap_or(into).dim_expr(dim) else {
                    return Ok(Dim::UNKNOWN);
                };
                // Expressions are made of few terms.
                let (lhs, rhs) = (self.dim(into, expr.lhs)?, self.dim(into, expr.rhs)?);
                into.add_expr(expr.kind, lhs, rhs)
            }
            _ => Ok(dim),
        }
    }
}

/// Whether a type names dims.
pub(crate) fn names_dims(f: &Function, ty: TypeId) -> bool {
    let mut pending = vec![ty];
    while let Some(ty) = pending.pop() {
        let ty = f.ty(ty);
        let is_named = |dim: Dim| matches!(dim.kind, DimKind::SYMBOL | DimKind::EXPR);
        if ty.dims().is_some_and(|mut dims| dims.any(is_named)) {
            return true;
        }
        pending.extend(ty.items());
    }
    false
}
