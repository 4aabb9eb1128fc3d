//! Types that are independent of a function, which can be moved between functions and merged.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{DimKind, ExprKind};

use crate::shared::retype::retype;

/// The dims of a tensor, if its rank is known.
type Sizes = Option<Vec<PortableDim>>;

/// Returns the types of values.
pub(crate) fn portable_types(f: &Function, values: &[ValueId]) -> Vec<PortableType> {
    values
        .iter()
        .map(|&value| PortableType::from_value(f, value))
        .collect()
}

/// The maximum nesting depth of types; deeper items are unknown.
const MAX_DEPTH: usize = 64;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PortableType {
    /// The unknown type, or a type that has no representation outside its function.
    Unknown,
    /// A tensor. Without dims, its rank is unknown.
    Tensor(Option<DType>, Sizes),
    /// A sequence, optional or tuple, and the types of its items.
    Compound(TypeKind, Vec<PortableType>),
}

/// A dim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PortableDim {
    /// The unknown size `?`.
    Unknown,
    /// A number.
    Const(i64),
    /// A symbol. Symbol ids are valid in the whole module.
    Symbol(i64),
    /// An expression.
    Expr(ExprKind, Box<[PortableDim; 2]>),
}

impl PortableType {
    /// Returns the type of a value.
    pub(crate) fn from_value(f: &Function, value: ValueId) -> PortableType {
        PortableType::read(f, f.type_id(value), 0)
    }

    /// Returns a type of a function's type table.
    pub(crate) fn from_type(f: &Function, ty: TypeId) -> PortableType {
        PortableType::read(f, ty, 0)
    }

    fn read(f: &Function, id: TypeId, depth: usize) -> PortableType {
        let ty = f.ty(id);
        let item = |&item: &TypeId| match depth < MAX_DEPTH {
            true => PortableType::read(f, item, depth + 1),
            false => PortableType::Unknown,
        };
        match ty.kind() {
            TypeKind::TENSOR => {
                let dims = ty
                    .dims()
                    .map(|dims| dims.map(|dim| PortableDim::read(f, dim)));
                PortableType::Tensor(ty.dtype(), dims.map(Iterator::collect))
            }
            kind @ (TypeKind::SEQUENCE | TypeKind::OPTIONAL | TypeKind::TUPLE) => {
                PortableType::Compound(kind, ty.items().iter().map(item).collect())
            }
            _ => PortableType::Unknown,
        }
    }

    /// Adds the type to a function's type table.
    pub(crate) fn write(&self, f: &mut Function) -> Result<TypeId, EditError> {
        let spec = match self {
            PortableType::Unknown => TypeSpec::unknown(),
            PortableType::Tensor(dtype, None) => TypeSpec::unranked(dtype.unwrap_or(DType::NONE)),
            PortableType::Tensor(dtype, Some(sizes)) => {
                let dims: Result<Vec<Dim>, _> = sizes.iter().map(|size| size.write(f)).collect();
                TypeSpec::tensor(dtype.unwrap_or(DType::NONE), dims?)
            }
            PortableType::Compound(kind, items) => {
                let items: Result<Vec<TypeId>, _> =
                    items.iter().map(|item| item.write(f)).collect();
                match (*kind, &items?[..]) {
                    (TypeKind::SEQUENCE, &[item]) => TypeSpec::sequence(item),
                    (TypeKind::OPTIONAL, &[item]) => TypeSpec::optional(item),
                    (_, items) => TypeSpec::tuple(items.iter().copied()),
                }
            }
        };
        f.add_type(&spec)
    }

    /// Sets the type of a value, even if it is less precise than the previous type.
    pub(crate) fn assign(&self, f: &mut Function, value: ValueId) -> Result<(), EditError> {
        let ty = self.write(f)?;
        retype(f, value, ty)
    }

    /// Whether no value can have both types.
    pub(crate) fn contradicts(&self, other: &PortableType) -> bool {
        match (self, other) {
            (PortableType::Unknown, _) | (_, PortableType::Unknown) => false,
            (PortableType::Tensor(a, x), PortableType::Tensor(b, y)) => {
                let differ = |(x, y): (&PortableDim, &PortableDim)| match (x, y) {
                    (PortableDim::Const(x), PortableDim::Const(y)) => x != y,
                    _ => false,
                };
                let dims = x.as_ref().zip(y.as_ref());
                dims.is_some_and(|(x, y)| x.len() != y.len() || x.iter().zip(y).any(differ))
                    || a.zip(*b).is_some_and(|(a, b)| a != b)
            }
            (PortableType::Compound(kind, a), PortableType::Compound(other, b)) => {
                kind != other
                    || a.len() != b.len()
                    || a.iter().zip(b).any(|(a, b)| a.contradicts(b))
            }
            _ => true,
        }
    }

    /// Returns the most precise type that includes both types.
    pub(crate) fn common(&self, other: &PortableType) -> PortableType {
        match (self, other) {
            (PortableType::Tensor(a, x), PortableType::Tensor(b, y)) => {
                let dtype = if a == b { *a } else { None };
                PortableType::Tensor(dtype, zip(x, y, PortableDim::common))
            }
            (PortableType::Compound(kind, a), PortableType::Compound(other, b))
                if kind == other && a.len() == b.len() =>
            {
                PortableType::Compound(*kind, a.iter().zip(b).map(|(a, b)| a.common(b)).collect())
            }
            _ => PortableType::Unknown,
        }
    }

    /// Returns the type with unknown parts taken from another type.
    pub(crate) fn or(&self, other: &PortableType) -> PortableType {
        match (self, other) {
            (PortableType::Unknown, _) => other.clone(),
            (PortableType::Tensor(a, x), PortableType::Tensor(b, y)) => {
                let dims = zip(x, y, PortableDim::or).or_else(|| x.clone().or(y.clone()));
                PortableType::Tensor(a.or(*b), dims)
            }
            _ => self.clone(),
        }
    }

    /// Returns the type, with parts that are unknown or depend on a `invented` symbol taken from the previous type.
    pub(crate) fn over(
        &self,
        known: &PortableType,
        invented: &impl Fn(i64) -> bool,
    ) -> PortableType {
        let size = |own: &PortableDim, known: &PortableDim| match known {
            PortableDim::Unknown => own.clone(),
            known if own.mentions(invented) && !known.mentions(invented) => known.clone(),
            known => own.or(known),
        };
        match (self, known) {
            (PortableType::Tensor(dtype, x), PortableType::Tensor(_, y)) => {
                let sizes = zip(x, y, size).or_else(|| x.clone());
                PortableType::Tensor(*dtype, sizes).or(known)
            }
            _ => self.or(known),
        }
    }

    /// Whether the type has a number for a size that the other type leaves open.
    pub(crate) fn narrows(&self, other: &PortableType) -> bool {
        let narrows = |(own, other): (&PortableDim, &PortableDim)| {
            matches!(own, PortableDim::Const(_)) && !matches!(other, PortableDim::Const(_))
        };
        match (self, other) {
            (PortableType::Tensor(_, Some(x)), PortableType::Tensor(_, Some(y))) => {
                x.iter().zip(y).any(narrows)
            }
            (PortableType::Compound(kind, a), PortableType::Compound(other, b)) => {
                kind == other && a.iter().zip(b).any(|(a, b)| a.narrows(b))
            }
            _ => false,
        }
    }

    /// Returns the type with an unknown element type, and the names of unknown sizes, taken from another type. A size
    /// is unknown if none of its symbols `is_known`.
    pub(crate) fn named_as(
        &self,
        other: &PortableType,
        is_known: &impl Fn(i64) -> bool,
    ) -> PortableType {
        let size = |own: &PortableDim, name: &PortableDim| match (own, name) {
            (PortableDim::Const(_), _) | (_, PortableDim::Unknown | PortableDim::Const(_)) => {
                own.clone()
            }
            (own, _) if own.mentions(is_known) => own.clone(),
            (_, name) => name.clone(),
        };
        match (self, other) {
            (PortableType::Tensor(own, x), PortableType::Tensor(dtype, y)) => {
                let sizes = zip(x, y, size).or_else(|| x.clone());
                PortableType::Tensor(*own, sizes).or(&PortableType::Tensor(*dtype, None))
            }
            // Only dims of tensors are unreliable; other parts of declared types are checked.
            (PortableType::Unknown, other) => other.without_sizes(),
            _ => self.clone(),
        }
    }

    /// Returns the type without dims and ranks, which an unknown number of iterations may change.
    pub(crate) fn without_sizes(&self) -> PortableType {
        self.map(&|_| None)
    }

    /// Returns the type without sizes that depend on symbols. Symbols of another function have another meaning.
    pub(crate) fn without_symbols(&self) -> PortableType {
        self.without(&|_| true)
    }

    /// Returns the type without sizes that depend on some symbols.
    pub(crate) fn without(&self, symbols: &impl Fn(i64) -> bool) -> PortableType {
        let plain = |size: &PortableDim| match size.mentions(symbols) {
            true => PortableDim::Unknown,
            false => size.clone(),
        };
        self.map(&|sizes| Some(sizes?.iter().map(plain).collect()))
    }

    /// Returns the type with the sizes of each tensor mapped.
    fn map(&self, sizes: &dyn Fn(Option<&[PortableDim]>) -> Sizes) -> PortableType {
        match self {
            PortableType::Unknown => PortableType::Unknown,
            PortableType::Tensor(dtype, own) => PortableType::Tensor(*dtype, sizes(own.as_deref())),
            PortableType::Compound(kind, items) => {
                PortableType::Compound(*kind, items.iter().map(|item| item.map(sizes)).collect())
            }
        }
    }
}

/// Combines the sizes of two types of equal rank.
fn zip(x: &Sizes, y: &Sizes, size: impl Fn(&PortableDim, &PortableDim) -> PortableDim) -> Sizes {
    let (x, y) = x
        .as_ref()
        .zip(y.as_ref())
        .filter(|(x, y)| x.len() == y.len())?;
    Some(x.iter().zip(y).map(|(x, y)| size(x, y)).collect())
}

impl PortableDim {
    fn read(f: &Function, dim: Dim) -> PortableDim {
        match dim.kind {
            DimKind::CONST => PortableDim::Const(dim.value),
            DimKind::SYMBOL => PortableDim::Symbol(dim.value),
            // The recursion is shallow, as expressions have few operands.
            DimKind::EXPR => f.dim_expr(dim).map_or(PortableDim::Unknown, |expr| {
                let sides = [
                    PortableDim::read(f, expr.lhs),
                    PortableDim::read(f, expr.rhs),
                ];
                PortableDim::Expr(expr.kind, Box::new(sides))
            }),
            _ => PortableDim::Unknown,
        }
    }

    fn write(&self, f: &mut Function) -> Result<Dim, EditError> {
        Ok(match self {
            PortableDim::Unknown => Dim::UNKNOWN,
            PortableDim::Const(size) => Dim::constant(*size),
            PortableDim::Symbol(symbol) => Dim::symbol(SymbolId(*symbol as u32)),
            PortableDim::Expr(kind, sides) => {
                let (left, right) = (sides[0].write(f)?, sides[1].write(f)?);
                f.add_expr(*kind, left, right)?
            }
        })
    }

    /// Whether the size depends on some symbols.
    pub(crate) fn mentions(&self, symbols: &impl Fn(i64) -> bool) -> bool {
        match self {
            PortableDim::Symbol(symbol) => symbols(*symbol),
            PortableDim::Expr(_, sides) => sides.iter().any(|side| side.mentions(symbols)),
            _ => false,
        }
    }

    /// Returns the symbols that occur in the size.
    pub(crate) fn symbols(&self) -> Vec<i64> {
        match self {
            PortableDim::Symbol(symbol) => vec![*symbol],
            PortableDim::Expr(_, sides) => sides.iter().flat_map(PortableDim::symbols).collect(),
            _ => Vec::new(),
        }
    }

    fn or(&self, other: &PortableDim) -> PortableDim {
        match self {
            PortableDim::Unknown => other.clone(),
            known => known.clone(),
        }
    }

    fn common(&self, other: &PortableDim) -> PortableDim {
        if self == other {
            self.clone()
        } else {
            PortableDim::Unknown
        }
    }
}
