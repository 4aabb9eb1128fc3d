//! Dim expressions in canonical form, so that equal sizes usually have equal ids.
//!
//! A sum is a list of distinct terms with factors, followed by a constant. A product is a sorted list, followed by its
//! constant factor. A quotient by a constant has no divisible terms. `min`, `max` and `broadcast` are sorted lists of
//! distinct operands. All rewrites are exact for integers; the only assumption on symbols is that they aren't negative.
//! Expressions that overflow or have too many operands become `?`.

use std::cmp::Ordering;

use passdock_abi::{Dim, DimExpr, DimKind, ExprKind, SymbolId};

use crate::error::{Edit, invalid};
use crate::function::Function;
use crate::pool::intern_record;

/// The maximum number of terms of a dim expression; larger ones become `?`.
pub const MAX_DIM_TERMS: u32 = 256;

/// A sum: distinct sorted terms with nonzero factors, and a constant.
struct Sum {
    terms: Vec<(Dim, i64)>,
    number: i64,
}

impl Function {
    /// Interns a dim expression in canonical form.
    ///
    /// # Errors
    /// If an operand isn't a dim of this function.
    pub fn add_expr(&mut self, kind: ExprKind, lhs: Dim, rhs: Dim) -> Edit<Dim> {
        for side in [lhs, rhs] {
            let known = match side.kind {
                DimKind::UNKNOWN => return Ok(Dim::UNKNOWN),
                DimKind::CONST | DimKind::SYMBOL => true,
                DimKind::EXPR => (side.value as usize) < self.exprs.len(),
                _ => false,
            };
            if !known {
                invalid!("invalid operand {side:?} of a dim expression");
            }
        }
        let plain = |dim: Dim| Dim {
            denotation: SymbolId::NONE,
            ..dim
        };
        let (lhs, rhs) = (plain(lhs), plain(rhs));
        let created = match kind {
            ExprKind::ADD => self.add(lhs, rhs),
            ExprKind::MUL => self.multiply(lhs, rhs),
            ExprKind::FLOORDIV => self.divide(lhs, rhs),
            ExprKind::MOD => self.remainder(lhs, rhs),
            _ => self.choose(kind, lhs, rhs),
        };
        Ok(created.unwrap_or(Dim::UNKNOWN))
    }

    fn add(&mut self, lhs: Dim, rhs: Dim) -> Option<Dim> {
        let sum = self.sum_of(&[(lhs, 1), (rhs, 1)])?;
        self.intern_sum(sum)
    }

    fn multiply(&mut self, lhs: Dim, rhs: Dim) -> Option<Dim> {
        for (side, other) in [(lhs, rhs), (rhs, lhs)] {
            if let Some(factor) = number(side) {
                let sum = self.sum_of(&[(other, factor)])?;
                return self.intern_sum(sum);
            }
        }
        let (mut factors, mut factor) = (Vec::new(), 1_i64);
        for side in [lhs, rhs] {
            let sum = self.sum_of(&[(side, 1)])?;
            match sum.terms[..] {
                [(term, times)] if sum.number == 0 => {
                    factor = factor.checked_mul(times)?;
                    self.list_of(ExprKind::MUL, term, &mut factors);
                }
                _ => factors.push(side),
            }
        }
        let product = self.intern_list(ExprKind::MUL, factors)?;
        self.times(product, factor)
    }

    fn divide(&mut self, lhs: Dim, rhs: Dim) -> Option<Dim> {
        if lhs == rhs {
            return Some(Dim::constant(1));
        }
        let Some(by) = number(rhs) else {
            return self.divide_by_dim(lhs, rhs);
        };
        if by <= 0 {
            let whole = fold(ExprKind::FLOORDIV, number(lhs)?, by)?;
            return Some(Dim::constant(whole));
        }
        let all = self.sum_of(&[(lhs, 1)])?;
        // Divisible terms move out of the quotient, and so does the constant except for its remainder.
        let (whole, parts): (Vec<_>, Vec<_>) = all
            .terms
            .into_iter()
            .partition(|(_, times)| times % by == 0);
        let mut whole: Vec<(Dim, i64)> = whole
            .into_iter()
            .map(|(t, times)| (t, times / by))
            .collect();
        let number_out = Dim::constant(all.number.div_euclid(by));
        whole.push((number_out, 1));
        let rest = all.number.rem_euclid(by);
        if !parts.is_empty() {
            let quotient = self.divide_parts(parts, rest, by)?;
            whole.push((quotient, 1));
        }
        let sum = self.sum_of(&whole)?;
        self.intern_sum(sum)
    }

    /// Divides a sum of terms none of which is divisible, plus a constant smaller than `by`.
    fn divide_parts(&mut self, parts: Vec<(Dim, i64)>, rest: i64, by: i64) -> Option<Dim> {
        // ⌊(g·x + r) / (g·b)⌋ = ⌊(x + ⌊r / g⌋) / b⌋
        let common = parts.iter().fold(by, |g, (_, times)| gcd(g, *times));
        if common > 1 {
            let terms = parts
                .into_iter()
                .map(|(term, times)| (term, times / common));
            let sum = Sum {
                terms: terms.collect(),
                number: rest / common,
            };
            let inner = self.intern_sum(sum)?;
            return self.divide(inner, Dim::constant(by / common));
        }
        // ⌊(⌊x / a⌋ + r) / b⌋ = ⌊(x + a·r) / (a·b)⌋
        if let [(only, 1)] = parts[..]
            && let Some((ExprKind::FLOORDIV, inner, divisor)) = self.sides(only)
            && let Some(divisor @ 1..) = number(divisor)
        {
            let inner = self.add(inner, Dim::constant(divisor.checked_mul(rest)?))?;
            return self.divide(inner, Dim::constant(divisor.checked_mul(by)?));
        }
        let sum = Sum {
            terms: parts,
            number: rest,
        };
        let dividend = self.intern_sum(sum)?;
        self.intern(ExprKind::FLOORDIV, dividend, Dim::constant(by))
    }

    /// Divides by a dim that isn't a constant: a common factor cancels out, since division by 0 doesn't occur.
    fn divide_by_dim(&mut self, lhs: Dim, rhs: Dim) -> Option<Dim> {
        let (a, b) = (self.sum_of(&[(lhs, 1)])?, self.sum_of(&[(rhs, 1)])?);
        if let ([(x, times)], [(y, 1)]) = (&a.terms[..], &b.terms[..])
            && (a.number, b.number) == (0, 0)
        {
            let (mut factors, mut by) = (Vec::new(), Vec::new());
            self.list_of(ExprKind::MUL, *x, &mut factors);
            self.list_of(ExprKind::MUL, *y, &mut by);
            let found = by.iter().all(|factor| {
                let at = factors.iter().position(|other| other == factor);
                at.map(|at| factors.remove(at)).is_some()
            });
            if found && factors.is_empty() {
                return Some(Dim::constant(*times));
            }
            if found {
                let left = self.intern_list(ExprKind::MUL, factors)?;
                return self.times(left, *times);
            }
        }
        self.intern(ExprKind::FLOORDIV, lhs, rhs)
    }

    fn remainder(&mut self, lhs: Dim, rhs: Dim) -> Option<Dim> {
        if lhs == rhs {
            return Some(Dim::constant(0));
        }
        let Some(by) = number(rhs) else {
            return self.intern(ExprKind::MOD, lhs, rhs);
        };
        if by <= 0 {
            return Some(Dim::constant(fold(ExprKind::MOD, number(lhs)?, by)?));
        }
        let mut sum = self.sum_of(&[(lhs, 1)])?;
        sum.terms
            .iter_mut()
            .for_each(|(_, times)| *times = times.rem_euclid(by));
        sum.terms.retain(|(_, times)| *times != 0);
        sum.number = sum.number.rem_euclid(by);
        if sum.terms.is_empty() {
            return Some(Dim::constant(sum.number));
        }
        let dividend = self.intern_sum(sum)?;
        self.intern(ExprKind::MOD, dividend, rhs)
    }

    /// Builds `min`, `max` or `broadcast`.
    fn choose(&mut self, kind: ExprKind, lhs: Dim, rhs: Dim) -> Option<Dim> {
        let mut sides = Vec::new();
        self.list_of(kind, lhs, &mut sides);
        self.list_of(kind, rhs, &mut sides);
        sides.sort_by(|a, b| self.compare_dims(a, b));
        sides.dedup();
        let numbers: Vec<i64> = sides.iter().filter_map(|&side| number(side)).collect();
        sides.retain(|&side| number(side).is_none());
        let limit = match kind {
            ExprKind::BROADCAST => match numbers.iter().find(|&&number| number != 1) {
                // If a size isn't 1, each other one has to be equal to it, or 1.
                Some(&size) => return Some(Dim::constant(size)),
                None if sides.is_empty() => return Some(Dim::constant(1)),
                None => None,
            },
            _ => numbers
                .into_iter()
                .reduce(|a, b| fold(kind, a, b).unwrap_or(a)),
        };
        let all = sides.clone();
        sides.retain(|&side| !all.iter().any(|&other| self.covers(kind, other, side)));
        if let Some(limit) = limit {
            let limit = Dim::constant(limit);
            sides.retain(|&side| !self.covers(kind, limit, side));
            if !sides.iter().any(|&side| self.covers(kind, side, limit)) {
                sides.push(limit);
            }
        }
        self.intern_list(kind, sides)
    }

    /// Whether one operand of `min`, `max` or `broadcast` makes another one redundant.
    fn covers(&self, kind: ExprKind, one: Dim, other: Dim) -> bool {
        if one == other {
            return false;
        }
        if kind == ExprKind::BROADCAST {
            // `min(x, 2)` is x, or at least 2; then x has to be equal to it.
            let mut sides = Vec::new();
            self.list_of(ExprKind::MIN, other, &mut sides);
            let enough = sides
                .iter()
                .any(|&side| number(side).is_some_and(|size| size >= 2));
            return enough && sides.len() == 2 && sides.contains(&one);
        }
        let Some(difference) = self.sum_of(&[(one, 1), (other, -1)]) else {
            return false;
        };
        let known = difference.terms.is_empty();
        match kind {
            ExprKind::MIN if known => difference.number < 0,
            ExprKind::MAX if known => difference.number > 0,
            ExprKind::MIN => number(one).is_some_and(|n| n <= 0) && self.is_size(other),
            _ => number(other).is_some_and(|n| n <= 0) && self.is_size(one),
        }
    }

    /// Whether a dim is never negative.
    fn is_size(&self, dim: Dim) -> bool {
        let Some((kind, lhs, rhs)) = self.sides(dim) else {
            return number(dim).is_none_or(|number| number >= 0);
        };
        match kind {
            ExprKind::MOD => number(rhs).is_some_and(|by| by > 0),
            ExprKind::MAX => self.is_size(lhs) || self.is_size(rhs),
            _ => self.is_size(lhs) && self.is_size(rhs),
        }
    }

    /// Adds dims with factors.
    fn sum_of(&self, parts: &[(Dim, i64)]) -> Option<Sum> {
        let mut sum = Sum {
            terms: Vec::new(),
            number: 0,
        };
        let mut pending = parts.to_vec();
        while let Some((dim, times)) = pending.pop() {
            if let Some(number) = number(dim) {
                sum.number = sum.number.checked_add(number.checked_mul(times)?)?;
                continue;
            }
            match self.sides(dim) {
                Some((ExprKind::ADD, lhs, rhs)) => pending.extend([(lhs, times), (rhs, times)]),
                Some((ExprKind::MUL, lhs, rhs)) if number(rhs).is_some() => {
                    pending.push((lhs, times.checked_mul(rhs.value)?));
                }
                _ => sum.terms.push((dim, times)),
            }
        }
        sum.terms.sort_by(|(a, _), (b, _)| self.compare_dims(a, b));
        let mut merged: Vec<(Dim, i64)> = Vec::with_capacity(sum.terms.len());
        for (term, times) in sum.terms {
            match merged.last_mut() {
                Some((last, sum)) if *last == term => *sum = sum.checked_add(times)?,
                _ => merged.push((term, times)),
            }
        }
        merged.retain(|(_, times)| *times != 0);
        sum.terms = merged;
        Some(sum)
    }

    fn intern_sum(&mut self, sum: Sum) -> Option<Dim> {
        let mut created: Option<Dim> = None;
        // Negative terms come last, so that they print as `n-m`.
        let (more, less): (Vec<_>, Vec<_>) =
            sum.terms.into_iter().partition(|(_, times)| *times > 0);
        for (term, times) in more.into_iter().chain(less) {
            let term = self.times(term, times)?;
            created = Some(match created {
                Some(created) => self.intern(ExprKind::ADD, created, term)?,
                None => term,
            });
        }
        match created {
            None => Some(Dim::constant(sum.number)),
            Some(created) if sum.number == 0 => Some(created),
            Some(created) => self.intern(ExprKind::ADD, created, Dim::constant(sum.number)),
        }
    }

    /// Multiplies a term that isn't a sum by a factor.
    fn times(&mut self, term: Dim, factor: i64) -> Option<Dim> {
        match factor {
            0 => Some(Dim::constant(0)),
            1 => Some(term),
            _ => self.intern(ExprKind::MUL, term, Dim::constant(factor)),
        }
    }

    /// Flattens nested expressions of one kind into a list of operands.
    fn list_of(&self, kind: ExprKind, dim: Dim, list: &mut Vec<Dim>) {
        let mut pending = vec![dim];
        while let Some(dim) = pending.pop() {
            match self.sides(dim) {
                Some((own, lhs, rhs)) if own == kind => pending.extend([lhs, rhs]),
                _ => list.push(dim),
            }
        }
    }

    fn intern_list(&mut self, kind: ExprKind, mut list: Vec<Dim>) -> Option<Dim> {
        list.sort_by(|a, b| self.compare_dims(a, b));
        let mut list = list.into_iter();
        let first = list.next()?;
        list.try_fold(first, |created, side| self.intern(kind, created, side))
    }

    /// Returns the kind and the operands of a dim expression.
    fn sides(&self, dim: Dim) -> Option<(ExprKind, Dim, Dim)> {
        if dim.kind != DimKind::EXPR {
            return None;
        }
        let expr = self.exprs.get(dim.value as usize)?;
        Some((expr.kind, expr.lhs, expr.rhs))
    }

    /// Interns an expression without simplification.
    fn intern(&mut self, kind: ExprKind, lhs: Dim, rhs: Dim) -> Option<Dim> {
        // `?` is always correct, and printed expressions have to stay readable.
        let terms = self.dim_terms(&lhs) + self.dim_terms(&rhs);
        if terms > MAX_DIM_TERMS {
            return None;
        }
        let record = DimExpr {
            kind,
            reserved: 0,
            lhs,
            rhs,
        };
        let id = intern_record(&mut self.exprs, &mut self.expr_index, record);
        if self.expr_terms.len() < self.exprs.len() {
            self.expr_terms.push(terms);
        }
        Some(Dim {
            kind: DimKind::EXPR,
            denotation: SymbolId::NONE,
            value: i64::from(id),
        })
    }

    /// Compares operands: expressions first, then symbols by text, then constants. Ids aren't compared, so the order is
    /// the same in every function.
    fn compare_dims(&self, a: &Dim, b: &Dim) -> Ordering {
        let rank = |dim: &Dim| match dim.kind {
            DimKind::EXPR => 0,
            DimKind::SYMBOL => 1,
            _ => 2,
        };
        let text = |dim: &Dim| self.symbols.text(SymbolId(dim.value as u32));
        rank(a).cmp(&rank(b)).then_with(|| match a.kind {
            // Expressions are interned, so only different ones are compared, down to the first difference.
            DimKind::EXPR if a.value == b.value => Ordering::Equal,
            DimKind::EXPR => {
                let (a, b) = (self.exprs[a.value as usize], self.exprs[b.value as usize]);
                let sides = |a: &Dim, b: &Dim| self.compare_dims(a, b);
                a.kind
                    .0
                    .cmp(&b.kind.0)
                    .then_with(|| sides(&a.lhs, &b.lhs))
                    .then_with(|| sides(&a.rhs, &b.rhs))
            }
            DimKind::SYMBOL => text(a).cmp(text(b)),
            _ => a.value.cmp(&b.value),
        })
    }

    /// Whether a dim depends on a generated symbol for an unnamed size: `_1`, `_2`, …
    pub(crate) fn is_generated(&self, dim: Dim) -> bool {
        if dim.kind == DimKind::SYMBOL {
            let digits = self.text(SymbolId(dim.value as u32)).strip_prefix('_');
            let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
            return digits.is_some_and(|digits| {
                is_number(digits) && !digits.starts_with(['0']) && !digits.is_empty()
            });
        }
        let sides = self.sides(dim);
        sides.is_some_and(|(_, lhs, rhs)| self.is_generated(lhs) || self.is_generated(rhs))
    }

    /// Returns the number of terms of a dim.
    pub(crate) fn dim_terms(&self, dim: &Dim) -> u32 {
        match dim.kind {
            DimKind::EXPR => *self.expr_terms.get(dim.value as usize).unwrap_or(&1),
            _ => 1,
        }
    }
}

fn number(dim: Dim) -> Option<i64> {
    (dim.kind == DimKind::CONST).then_some(dim.value)
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b.checked_abs().unwrap_or(1));
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Folds two constants; `None` on overflow and on division by zero.
fn fold(kind: ExprKind, a: i64, b: i64) -> Option<i64> {
    match kind {
        ExprKind::FLOORDIV => {
            let quotient = a.checked_div(b)?;
            Some(quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)))
        }
        ExprKind::MOD => {
            let rest = a.checked_rem(b)?;
            Some(if rest != 0 && (rest < 0) != (b < 0) {
                rest + b
            } else {
                rest
            })
        }
        ExprKind::MIN => Some(a.min(b)),
        ExprKind::MAX => Some(a.max(b)),
        _ => None,
    }
}
