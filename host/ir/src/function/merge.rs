//! Merging two types of one value.

use passdock_abi::{DType, Dim, DimKind, SymbolId, Type, TypeId, TypeKind};

use crate::function::Function;
use crate::function::types::TypeData;

/// The type to prefer where both specify a part.
#[derive(Clone, Copy, PartialEq)]
enum Wins {
    /// The known type, except that a constant size beats a symbol.
    Known,
    /// The inferred type, unless it depends on a generated symbol.
    Inferred,
}

/// The depth to which nested types are merged. Below it, the known type is kept.
const MAX_DEPTH: u32 = 64;

impl Function {
    /// Merges two types; `None` if they contradict each other.
    ///
    /// A constant size takes precedence over a symbol or an expression, and these over `?`. Of two symbols the known
    /// one is kept, because the author of the model chose it.
    pub fn merge_types(&mut self, known: TypeId, found: TypeId) -> Option<TypeId> {
        self.is_compatible(known, found)
            .then(|| join(self, known, found, Wins::Known, MAX_DEPTH))
    }

    /// Returns the type of a value after inference. Known parts stay if nothing is inferred for them, or if the
    /// inferred dim depends on a generated symbol and the known one doesn't.
    pub(crate) fn override_type(&mut self, known: TypeId, inferred: TypeId) -> TypeId {
        join(self, known, inferred, Wins::Inferred, MAX_DEPTH)
    }
}

fn join(f: &mut Function, known: TypeId, inferred: TypeId, wins: Wins, depth: u32) -> TypeId {
    if known == inferred || inferred.is_none() || depth == 0 {
        return known;
    }
    if known.is_none() {
        return inferred;
    }
    let (a, b) = (*f.ty(known), *f.ty(inferred));
    match (a.kind, b.kind) {
        (TypeKind::UNKNOWN, _) => inferred,
        (TypeKind::TENSOR, TypeKind::TENSOR) => join_tensors(f, (known, a), (inferred, b), wins),
        (TypeKind::SEQUENCE | TypeKind::OPTIONAL, kind) if kind == a.kind => {
            let items: Option<(TypeId, TypeId)> = f.items_of(&a).zip(f.items_of(&b)).next();
            let Some((x, y)) = items else { return known };
            let item = join(f, x, y, wins, depth - 1);
            f.add_type(match kind {
                TypeKind::SEQUENCE => TypeData::Sequence(item),
                _ => TypeData::Optional(item),
            })
        }
        (TypeKind::TUPLE, TypeKind::TUPLE) if a.aux.len == b.aux.len => {
            let items: Vec<(TypeId, TypeId)> = f.items_of(&a).zip(f.items_of(&b)).collect();
            let joined: Vec<TypeId> = items
                .into_iter()
                .map(|(x, y)| join(f, x, y, wins, depth - 1))
                .collect();
            f.add_type(TypeData::Tuple(&joined))
        }
        (kind, other) if kind != other && other != TypeKind::UNKNOWN && wins == Wins::Inferred => {
            inferred
        }
        _ => known,
    }
}

fn join_tensors(
    f: &mut Function,
    (known, a): (TypeId, Type),
    (inferred, b): (TypeId, Type),
    wins: Wins,
) -> TypeId {
    let (first, second) = match wins {
        Wins::Known => (a.dtype, b.dtype),
        Wins::Inferred => (b.dtype, a.dtype),
    };
    let dtype = if first == DType::NONE { second } else { first };
    let name = if a.name.is_none() { b.name } else { a.name };
    let dims: Option<Vec<Dim>> = match (f.shape(known), f.shape(inferred)) {
        (Some(a), Some(b)) if a.len() != b.len() && wins == Wins::Inferred => Some(b.to_vec()),
        (Some(a), Some(b)) => {
            let pairs = a.iter().zip(b);
            Some(pairs.map(|(a, b)| join_dims(f, a, b, wins)).collect())
        }
        (Some(only), None) | (None, Some(only)) => Some(only.to_vec()),
        (None, None) => None,
    };
    f.add_denoted_type(TypeData::Tensor(dtype, dims.as_deref()), name)
}

fn join_dims(f: &Function, known: &Dim, inferred: &Dim, wins: Wins) -> Dim {
    let keeps = match (known.kind, inferred.kind) {
        (DimKind::UNKNOWN, _) => false,
        (_, DimKind::SYMBOL | DimKind::EXPR) if wins == Wins::Inferred => {
            f.is_generated(*inferred) && !f.is_generated(*known)
        }
        (_, DimKind::CONST) if wins == Wins::Inferred => false,
        (DimKind::CONST, _) => true,
        (_, kind) => kind != DimKind::CONST,
    };
    let chosen = if keeps { known } else { inferred };
    let denotation = match known.denotation {
        SymbolId::NONE => inferred.denotation,
        known => known,
    };
    Dim {
        denotation,
        ..*chosen
    }
}
