//! Arithmetic on dims. Dims are sizes, so symbols and expressions are never negative. An expression that could be
//! negative becomes `?`.

use passdock_plugin_api::{Dim, DimKind, ExprKind, SymbolId};

use super::rule::{Infer, Inferred, invalid};

impl Infer<'_> {
    /// Returns the sum of a size and a non-negative dim.
    pub(crate) fn add(&self, a: Dim, b: Dim) -> Dim {
        match (a.as_const(), b.as_const()) {
            (Some(a), Some(b)) => a.checked_add(b).map_or(Dim::UNKNOWN, Dim::constant),
            (_, Some(0)) => a,
            (Some(0), _) => b,
            (Some(i64::MIN..0), _) | (_, Some(i64::MIN..0)) => Dim::UNKNOWN,
            _ if a.is_same(b) => self.mul(a, Dim::constant(2)),
            _ => self.expr(ExprKind::ADD, a, b),
        }
    }

    /// Returns the product.
    pub(crate) fn mul(&self, a: Dim, b: Dim) -> Dim {
        match (a.as_const(), b.as_const()) {
            (Some(a), Some(b)) => a.checked_mul(b).map_or(Dim::UNKNOWN, Dim::constant),
            (_, Some(1)) => a,
            (Some(1), _) => b,
            (Some(0), _) | (_, Some(0)) => Dim::constant(0),
            (Some(i64::MIN..0), _) | (_, Some(i64::MIN..0)) => Dim::UNKNOWN,
            _ => self.expr(ExprKind::MUL, a, b),
        }
    }

    /// Returns the quotient of a size and a constant, rounded down.
    pub(crate) fn div(&self, a: Dim, by: i64) -> Dim {
        match (a.as_const(), by) {
            (_, i64::MIN..=0) => Dim::UNKNOWN,
            (_, 1) => a,
            (Some(a), _) => Dim::constant(a.div_euclid(by)),
            _ => self.expr(ExprKind::FLOORDIV, a, Dim::constant(by)),
        }
    }

    /// Returns an expression of two dims, or `?` if one of them is unknown.
    pub(crate) fn expr(&self, kind: ExprKind, a: Dim, b: Dim) -> Dim {
        if !a.is_known() || !b.is_known() {
            return Dim::UNKNOWN;
        }
        self.host.add_expr(kind, a, b).unwrap_or(Dim::UNKNOWN)
    }

    /// Returns the number of positions of a window along a dim: `(dim + extra) / step`, rounded down, plus one.
    /// Intermediate values are negative only for invalid ops.
    pub(crate) fn windows(&self, dim: Dim, extra: i64, step: i64) -> Dim {
        if step <= 0 {
            return Dim::UNKNOWN;
        }
        let Some(size) = dim.as_const() else {
            let padded = match extra {
                0 => dim,
                _ => self.expr(ExprKind::ADD, dim, Dim::constant(extra)),
            };
            let steps = self.div(padded, step);
            return self.expr(ExprKind::ADD, steps, Dim::constant(1));
        };
        match size.checked_add(extra) {
            Some(span) if span >= 0 => Dim::constant((span / step).saturating_add(1)),
            _ => Dim::UNKNOWN,
        }
    }

    /// Returns the product of several dims.
    pub(crate) fn product(&self, dims: &[Dim]) -> Dim {
        dims.iter()
            .fold(Dim::constant(1), |product, &dim| self.mul(product, dim))
    }

    /// Splits products into their factors.
    pub(crate) fn factors(&self, dims: Vec<Dim>) -> Vec<Dim> {
        let (mut pending, mut factors) = (dims, Vec::new());
        while let Some(dim) = pending.pop() {
            let sides = self.host.dim_expr(dim);
            match sides.filter(|expr| expr.kind == ExprKind::MUL) {
                Some(expr) => pending.extend([expr.rhs, expr.lhs]),
                None => factors.push(dim),
            }
        }
        factors.reverse();
        factors
    }

    /// Returns the difference, or `?` if it could be negative.
    pub(crate) fn sub(&self, a: Dim, b: Dim) -> Dim {
        if let (Some(a), Some(b)) = (a.as_const(), b.as_const()) {
            return a.checked_sub(b).map_or(Dim::UNKNOWN, Dim::constant);
        }
        let minus = self.expr(ExprKind::MUL, b, Dim::constant(-1));
        let rest = self.expr(ExprKind::ADD, a, minus);
        if self.is_size(rest) {
            rest
        } else {
            Dim::UNKNOWN
        }
    }

    /// Whether a dim is a constant, a symbol, or an expression without negative constants.
    fn is_size(&self, dim: Dim) -> bool {
        let Some(expr) = self.host.dim_expr(dim) else {
            return dim.is_known();
        };
        let positive = |dim: Dim| dim.as_const().is_none_or(|number| number >= 0);
        let sides = [expr.lhs, expr.rhs];
        sides
            .into_iter()
            .all(|side| positive(side) && self.is_size(side))
    }

    /// Whether a size could be 0. As in ONNX's inference, the model's symbols are assumed to be positive. A symbol that
    /// passdock invented could be anything.
    pub(crate) fn may_be_zero(&self, dim: Dim) -> bool {
        match dim.kind {
            DimKind::CONST => dim.value == 0,
            DimKind::SYMBOL => self.is_invented(dim),
            DimKind::EXPR => self.host.dim_expr(dim).is_none_or(|expr| {
                let sides = [expr.lhs, expr.rhs];
                let is_more = expr.kind == ExprKind::ADD
                    && sides.iter().all(|&side| self.is_size(side))
                    && sides.iter().any(|&side| side.as_const() > Some(0));
                !is_more && sides.iter().any(|&side| self.may_be_zero(side))
            }),
            _ => true,
        }
    }

    /// Returns the saturating difference: `max(a - b, 0)`.
    pub(crate) fn less(&self, a: Dim, b: Dim) -> Dim {
        if let (Some(a), Some(b)) = (a.as_const(), b.as_const()) {
            return a
                .checked_sub(b)
                .map_or(Dim::UNKNOWN, |rest| Dim::constant(rest.max(0)));
        }
        let minus = self.expr(ExprKind::MUL, b, Dim::constant(-1));
        let rest = self.expr(ExprKind::ADD, a, minus);
        self.expr(ExprKind::MAX, rest, Dim::constant(0))
    }

    /// Returns the smaller of two sizes.
    pub(crate) fn min(&self, a: Dim, b: Dim) -> Dim {
        self.expr(ExprKind::MIN, a, b)
    }

    /// Returns the shape that several shapes broadcast to.
    pub(crate) fn broadcast(&self, shapes: &[Vec<Dim>]) -> Inferred<Vec<Dim>> {
        let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
        let mut result = vec![Dim::constant(1); rank];
        for shape in shapes {
            for (slot, &dim) in result[rank - shape.len()..].iter_mut().zip(shape) {
                *slot = match (slot.as_const(), dim.as_const()) {
                    (Some(1), _) => dim,
                    (_, Some(1)) => *slot,
                    (Some(a), Some(b)) if a != b => {
                        return invalid!("cannot broadcast dims {a} and {b}");
                    }
                    // The other dim is equal or 1.
                    (Some(_), _) => *slot,
                    (_, Some(_)) => dim,
                    _ if slot.is_same(dim) => dim,
                    _ => self.expr(ExprKind::BROADCAST, *slot, dim),
                };
            }
        }
        Ok(result)
    }

    /// Returns the shape that the first operands broadcast to, if all ranks are known.
    pub(crate) fn broadcast_operands(&self, count: usize) -> Inferred<Option<Vec<Dim>>> {
        let shapes: Option<Vec<_>> = (0..count).map(|index| self.dims(index)).collect();
        shapes.map(|shapes| self.broadcast(&shapes)).transpose()
    }

    /// Merges two sources of the same dims. Each result is the more specific of two dims.
    pub(crate) fn agree_all(
        &self,
        a: Option<Vec<Dim>>,
        b: Option<Vec<Dim>>,
    ) -> Inferred<Option<Vec<Dim>>> {
        let (Some(x), Some(y)) = (&a, &b) else {
            return Ok(a.or(b));
        };
        if x.len() != y.len() {
            return invalid!("expected equal ranks, found {} and {}", x.len(), y.len());
        }
        let dims = x.iter().zip(y).map(|(&x, &y)| self.agree(x, y));
        Ok(Some(dims.collect::<Inferred<_>>()?))
    }

    /// Merges two sources of the same dim: the more specific one wins.
    pub(crate) fn agree(&self, a: Dim, b: Dim) -> Inferred<Dim> {
        match (a.as_const(), b.as_const()) {
            (Some(a), Some(b)) if a != b => invalid!("expected equal dims, found {a} and {b}"),
            (Some(_), _) => Ok(a),
            (_, Some(_)) => Ok(b),
            _ if a.is_known() && !(self.is_invented(a) && b.is_known()) => Ok(a),
            _ => Ok(b),
        }
    }

    fn is_invented(&self, dim: Dim) -> bool {
        let symbol = SymbolId(dim.value as u32);
        dim.kind == DimKind::SYMBOL && self.host.invented(symbol).is_some()
    }
}
