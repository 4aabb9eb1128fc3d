//! Types that are independent of a function, which can be moved between functions and merged.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{DimKind, ExprKind};

use crate::shared::retype::retype;

/// The dims of a tensor, if its rank is known.
type Sizes = Option<Vec<Size>>;

/// Returns the types of values.
pub(crate) fn sorts(f: &Function, values: &[ValueId]) -> Vec<Sort> {
    values
        .iter()
        .map(|&value| Sort::from_value(f, value))
        .collect()
}

/// The maximum nesting depth of types; deeper items are unknown.
const MAX_DEPTH: usize = 64;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sort {
    /// The unknown type, or a type that has no representation outside its function.
    Unknown,
    /// A tensor. Without dims, its rank is unknown.
    Tensor(DType, Sizes),
    /// A sequence, optional or tuple, and the types of its items.
    Compound(TypeKind, Vec<Sort>),
}

/// A dim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Size {
    /// The unknown size `?`.
    Unknown,
    /// A number.
    Const(i64),
    /// A symbol. Symbol ids are valid in the whole module.
    Symbol(i64),
    /// An expression.
    Expr(ExprKind, Box<[Size; 2]>),
}

impl Sort {
    /// Returns the type of a value.
    pub(crate) fn from_value(f: &Function, value: ValueId) -> Sort {
        Sort::read(f, f.type_id(value), 0)
    }

    /// Returns a type of a function's type table.
    pub(crate) fn from_type(f: &Function, ty: TypeId) -> Sort {
        Sort::read(f, ty, 0)
    }

    fn read(f: &Function, id: TypeId, depth: usize) -> Sort {
        let ty = f.ty(id);
        let item = |&item: &TypeId| match depth < MAX_DEPTH {
            true => Sort::read(f, item, depth + 1),
            false => Sort::Unknown,
        };
        match ty.kind() {
            TypeKind::TENSOR => {
                let dims = ty.dims().map(|dims| dims.map(|dim| Size::read(f, dim)));
                Sort::Tensor(ty.dtype(), dims.map(Iterator::collect))
            }
            kind @ (TypeKind::SEQUENCE | TypeKind::OPTIONAL | TypeKind::TUPLE) => {
                Sort::Compound(kind, ty.items().iter().map(item).collect())
            }
            _ => Sort::Unknown,
        }
    }

    /// Adds the type to a function's type table.
    pub(crate) fn write(&self, f: &mut Function) -> Result<TypeId, EditError> {
        let spec = match self {
            Sort::Unknown => TypeSpec::unknown(),
            Sort::Tensor(dtype, None) => TypeSpec::unranked(*dtype),
            Sort::Tensor(dtype, Some(sizes)) => {
                let dims: Result<Vec<Dim>, _> = sizes.iter().map(|size| size.write(f)).collect();
                TypeSpec::tensor(*dtype, dims?)
            }
            Sort::Compound(kind, items) => {
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
    pub(crate) fn contradicts(&self, other: &Sort) -> bool {
        match (self, other) {
            (Sort::Unknown, _) | (_, Sort::Unknown) => false,
            (Sort::Tensor(a, x), Sort::Tensor(b, y)) => {
                let differ = |(x, y): (&Size, &Size)| match (x, y) {
                    (Size::Const(x), Size::Const(y)) => x != y,
                    _ => false,
                };
                let dims = x.as_ref().zip(y.as_ref());
                dims.is_some_and(|(x, y)| x.len() != y.len() || x.iter().zip(y).any(differ))
                    || a != b && *a != DType::NONE && *b != DType::NONE
            }
            (Sort::Compound(kind, a), Sort::Compound(other, b)) => {
                kind != other
                    || a.len() != b.len()
                    || a.iter().zip(b).any(|(a, b)| a.contradicts(b))
            }
            _ => true,
        }
    }

    /// Returns the most precise type that includes both types.
    pub(crate) fn common(&self, other: &Sort) -> Sort {
        match (self, other) {
            (Sort::Tensor(a, x), Sort::Tensor(b, y)) => {
                let dtype = if a == b { *a } else { DType::NONE };
                Sort::Tensor(dtype, zip(x, y, Size::common))
            }
            (Sort::Compound(kind, a), Sort::Compound(other, b))
                if kind == other && a.len() == b.len() =>
            {
                Sort::Compound(*kind, a.iter().zip(b).map(|(a, b)| a.common(b)).collect())
            }
            _ => Sort::Unknown,
        }
    }

    /// Returns the type with unknown parts taken from another type.
    pub(crate) fn or(&self, other: &Sort) -> Sort {
        match (self, other) {
            (Sort::Unknown, _) => other.clone(),
            (Sort::Tensor(a, x), Sort::Tensor(b, y)) => {
                let dims = zip(x, y, Size::or).or_else(|| x.clone().or(y.clone()));
                Sort::Tensor(if *a == DType::NONE { *b } else { *a }, dims)
            }
            _ => self.clone(),
        }
    }

    /// Returns the type, with parts that are unknown or depend on a `invented` symbol taken from the previous type.
    pub(crate) fn over(&self, known: &Sort, invented: &impl Fn(i64) -> bool) -> Sort {
        let size = |own: &Size, known: &Size| match known {
            Size::Unknown => own.clone(),
            known if own.mentions(invented) && !known.mentions(invented) => known.clone(),
            known => own.or(known),
        };
        match (self, known) {
            (Sort::Tensor(dtype, x), Sort::Tensor(_, y)) => {
                let sizes = zip(x, y, size).or_else(|| x.clone());
                Sort::Tensor(*dtype, sizes).or(known)
            }
            _ => self.or(known),
        }
    }

    /// Whether the type has a number for a size that the other type leaves open.
    pub(crate) fn narrows(&self, other: &Sort) -> bool {
        let narrows = |(own, other): (&Size, &Size)| {
            matches!(own, Size::Const(_)) && !matches!(other, Size::Const(_))
        };
        match (self, other) {
            (Sort::Tensor(_, Some(x)), Sort::Tensor(_, Some(y))) => x.iter().zip(y).any(narrows),
            (Sort::Compound(kind, a), Sort::Compound(other, b)) => {
                kind == other && a.iter().zip(b).any(|(a, b)| a.narrows(b))
            }
            _ => false,
        }
    }

    /// Returns the type with an unknown element type, and the names of unknown sizes, taken from another type. A size
    /// is unknown if none of its symbols `is_known`.
    pub(crate) fn named_as(&self, other: &Sort, is_known: &impl Fn(i64) -> bool) -> Sort {
        let size = |own: &Size, name: &Size| match (own, name) {
            (Size::Const(_), _) | (_, Size::Unknown | Size::Const(_)) => own.clone(),
            (own, _) if own.mentions(is_known) => own.clone(),
            (_, name) => name.clone(),
        };
        match (self, other) {
            (Sort::Tensor(own, x), Sort::Tensor(dtype, y)) => {
                let sizes = zip(x, y, size).or_else(|| x.clone());
                Sort::Tensor(*own, sizes).or(&Sort::Tensor(*dtype, None))
            }
            // Only dims of tensors are unreliable; other parts of declared types are checked.
            (Sort::Unknown, other) => other.without_sizes(),
            _ => self.clone(),
        }
    }

    /// Returns the type without dims and ranks, which an unknown number of iterations may change.
    pub(crate) fn without_sizes(&self) -> Sort {
        self.map(&|_| None)
    }

    /// Returns the type without sizes that depend on symbols. Symbols of another function have another meaning.
    pub(crate) fn without_symbols(&self) -> Sort {
        self.without(&|_| true)
    }

    /// Returns the type without sizes that depend on some symbols.
    pub(crate) fn without(&self, symbols: &impl Fn(i64) -> bool) -> Sort {
        let plain = |size: &Size| match size.mentions(symbols) {
            true => Size::Unknown,
            false => size.clone(),
        };
        self.map(&|sizes| Some(sizes?.iter().map(plain).collect()))
    }

    /// Returns the type with the sizes of each tensor mapped.
    fn map(&self, sizes: &dyn Fn(Option<&[Size]>) -> Sizes) -> Sort {
        match self {
            Sort::Unknown => Sort::Unknown,
            Sort::Tensor(dtype, own) => Sort::Tensor(*dtype, sizes(own.as_deref())),
            Sort::Compound(kind, items) => {
                Sort::Compound(*kind, items.iter().map(|item| item.map(sizes)).collect())
            }
        }
    }
}

/// Combines the sizes of two types of equal rank.
fn zip(x: &Sizes, y: &Sizes, size: impl Fn(&Size, &Size) -> Size) -> Sizes {
    let (x, y) = x
        .as_ref()
        .zip(y.as_ref())
        .filter(|(x, y)| x.len() == y.len())?;
    Some(x.iter().zip(y).map(|(x, y)| size(x, y)).collect())
}

impl Size {
    fn read(f: &Function, dim: Dim) -> Size {
        match dim.kind {
            DimKind::CONST => Size::Const(dim.value),
            DimKind::SYMBOL => Size::Symbol(dim.value),
            // The recursion is shallow, as expressions have few operands.
            DimKind::EXPR => f.dim_expr(dim).map_or(Size::Unknown, |expr| {
                let sides = [Size::read(f, expr.lhs), Size::read(f, expr.rhs)];
                Size::Expr(expr.kind, Box::new(sides))
            }),
            _ => Size::Unknown,
        }
    }

    fn write(&self, f: &mut Function) -> Result<Dim, EditError> {
        Ok(match self {
            Size::Unknown => Dim::UNKNOWN,
            Size::Const(size) => Dim::constant(*size),
            Size::Symbol(symbol) => Dim::symbol(SymbolId(*symbol as u32)),
            Size::Expr(kind, sides) => {
                let (left, right) = (sides[0].write(f)?, sides[1].write(f)?);
                f.add_expr(*kind, left, right)?
            }
        })
    }

    /// Whether the size depends on some symbols.
    pub(crate) fn mentions(&self, symbols: &impl Fn(i64) -> bool) -> bool {
        match self {
            Size::Symbol(symbol) => symbols(*symbol),
            Size::Expr(_, sides) => sides.iter().any(|side| side.mentions(symbols)),
            _ => false,
        }
    }

    /// Returns the symbols that occur in the size.
    pub(crate) fn symbols(&self) -> Vec<i64> {
        match self {
            Size::Symbol(symbol) => vec![*symbol],
            Size::Expr(_, sides) => sides.iter().flat_map(Size::symbols).collect(),
            _ => Vec::new(),
        }
    }

    fn or(&self, other: &Size) -> Size {
        match self {
            Size::Unknown => other.clone(),
            known => known.clone(),
        }
    }

    fn common(&self, other: &Size) -> Size {
        if self == other {
            self.clone()
        } else {
            Size::Unknown
        }
    }
}
