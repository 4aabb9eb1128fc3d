//! Evaluation of a rule's conditions for a match.

use passdock_abi::{DType, Dim, DimKind, ValueId};

use super::matching::{is_literal, Match};
use crate::data::{AttrValue, EditError};
use crate::ir::Function;
use crate::language::{AttrTerm, Literal, Operand, Relation, Term, Test};

/// Whether all conditions of the rule hold. A condition on unknown data doesn't hold, negated or not. One on a name
/// that belongs to an alternative that isn't chosen isn't tested.
pub(super) fn hold(f: &Function, matched: &Match<'_>) -> Result<bool, EditError> {
    for condition in &matched.rule.conditions {
        if is_bound(matched, &condition.test)
            && test(f, matched, &condition.test)? != Some(!condition.negated)
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether all names of a condition are bound.
fn is_bound(matched: &Match<'_>, test: &Test) -> bool {
    let value = |operand: &Operand| matched.is_bound(operand);
    let term = |term: &Term| match term {
        Term::Literal(_) | Term::Opset(_) => true,
        Term::Attr(term) => is_attr_bound(matched, term),
        Term::Axis(term, a) => is_attr_bound(matched, term) && value(a),
        Term::Rank(a) | Term::Size(a) | Term::Uses(a) | Term::DType(a) | Term::Dim(a, _) => {
            value(a)
        }
    };
    match test {
        Test::Constant(a) | Test::Float(a) => value(a),
        Test::SameType(a, b)
        | Test::SameShape(a, b)
        | Test::SameDType(a, b)
        | Test::BroadcastsTo(a, b) => value(a) && value(b),
        Test::Identity(term) => is_attr_bound(matched, term),
        Test::OneOf(one, _) => term(one),
        Test::Compare(left, _, right) => term(left) && term(right),
    }
}

fn is_attr_bound(matched: &Match<'_>, term: &AttrTerm) -> bool {
    match term {
        AttrTerm::Bound(at) => matched.attrs[*at].is_some(),
        AttrTerm::Literal(_) => true,
        AttrTerm::List(items) => items.iter().all(|item| is_attr_bound(matched, item)),
        AttrTerm::Compose(a, b) => is_attr_bound(matched, a) && is_attr_bound(matched, b),
    }
}

fn test(f: &Function, matched: &Match<'_>, test: &Test) -> Result<Option<bool>, EditError> {
    let value = |operand: &Operand| matched.bound(f, operand);
    Ok(match test {
        Test::Constant(a) => Some(value(a).option().map_or(false, |a| f.constant(a).is_some())),
        Test::Float(a) => f.dtype(value(a)).map(is_float),
        Test::SameDType(a, b) => same_dtype(f, value(a), value(b)),
        Test::SameShape(a, b) => same_shape(f, value(a), value(b)),
        Test::SameType(a, b) => match same_dtype(f, value(a), value(b)) {
            Some(true) => same_shape(f, value(a), value(b)),
            other => other,
        },
        Test::BroadcastsTo(a, b) => broadcasts_to(f, value(a), value(b)),
        Test::Identity(term) => match attr(matched, term) {
            Some(AttrValue::Ints(perm)) => {
                Some(perm.iter().enumerate().all(|(at, from)| at as i64 == *from))
            }
            _ => None,
        },
        Test::OneOf(term, literals) => {
            let mut truth = Some(false);
            for literal in literals {
                match compare(
                    f,
                    matched,
                    term,
                    Relation::Equal,
                    &Term::Literal(literal.clone()),
                )? {
                    Some(true) => return Ok(Some(true)),
                    None => truth = None,
                    Some(false) => {}
                }
            }
            truth
        }
        Test::Compare(left, relation, right) => compare(f, matched, left, *relation, right)?,
    })
}

/// The value of a term.
enum TermValue {
    Number(f64),
    Attr(AttrValue),
    DType(DType),
    Literal(Literal),
}

fn compare(
    f: &Function,
    matched: &Match<'_>,
    left: &Term,
    relation: Relation,
    right: &Term,
) -> Result<Option<bool>, EditError> {
    let (left, right) = match (value_of(f, matched, left)?, value_of(f, matched, right)?) {
        (Some(left), Some(right)) => (left, right),
        _ => return Ok(None),
    };
    let number = |value: &TermValue| match value {
        TermValue::Number(number) => Some(*number),
        TermValue::Attr(AttrValue::Int(int)) => Some(*int as f64),
        TermValue::Attr(AttrValue::Float(float)) => Some(f64::from(*float)),
        TermValue::Literal(literal) => literal.number(),
        _ => None,
    };
    let is_float = |value: &TermValue| matches!(value, TermValue::Attr(AttrValue::Float(_)));
    let is_rounded = is_float(&left) || is_float(&right);
    if let (Some(left), Some(right)) = (number(&left), number(&right)) {
        // An attribute is a float32, so 0.1 is rounded before the comparison. Counts aren't.
        let (left, right) = match is_rounded {
            true => (f64::from(left as f32), f64::from(right as f32)),
            false => (left, right),
        };
        return Ok(Some(match relation {
            Relation::Equal => left == right,
            Relation::Unequal => left != right,
            Relation::Less => left < right,
            Relation::AtMost => left <= right,
            Relation::Greater => left > right,
            Relation::AtLeast => left >= right,
        }));
    }
    let equal = match (&left, &right) {
        (TermValue::Attr(a), TermValue::Attr(b)) => Some(a == b),
        (TermValue::Attr(value), TermValue::Literal(literal))
        | (TermValue::Literal(literal), TermValue::Attr(value)) => Some(is_literal(value, literal)),
        (TermValue::DType(dtype), TermValue::Literal(Literal::Ident(name)))
        | (TermValue::Literal(Literal::Ident(name)), TermValue::DType(dtype)) => {
            Some(dtype.name() == Some(name.as_str()))
        }
        (TermValue::DType(a), TermValue::DType(b)) => Some(a == b),
        _ => None,
    };
    Ok(match relation {
        Relation::Equal => equal,
        Relation::Unequal => equal.map(|equal| !equal),
        _ => None,
    })
}

fn value_of(
    f: &Function,
    matched: &Match<'_>,
    term: &Term,
) -> Result<Option<TermValue>, EditError> {
    let value = |operand: &Operand| matched.bound(f, operand);
    let count = |count: usize| Some(TermValue::Number(count as f64));
    Ok(match term {
        Term::Literal(literal) => Some(TermValue::Literal(literal.clone())),
        Term::Attr(term) => attr(matched, term).map(TermValue::Attr),
        Term::Opset(domain) => f
            .opset(domain)
            .map(|version| TermValue::Number(version as f64)),
        Term::Rank(a) => f.rank(value(a)).and_then(count),
        Term::Uses(a) => value(a).option().and_then(|a| count(f.use_count(a))),
        Term::Size(a) => f
            .type_of(value(a))
            .element_count()
            .map(|size| TermValue::Number(size as f64)),
        Term::DType(a) => f.dtype(value(a)).map(TermValue::DType),
        Term::Axis(term, a) => match attr(matched, term) {
            Some(AttrValue::Int(axis)) if axis < 0 => Some(TermValue::Number(axis as f64)),
            Some(AttrValue::Int(axis)) => f
                .rank(value(a))
                .map(|rank| TermValue::Number(axis as f64 - rank as f64)),
            _ => None,
        },
        Term::Dim(a, at) => {
            let dims = f.dims(value(a));
            let dim = dims.and_then(|dims| {
                let rank = dims.len() as i64;
                let at = if *at < 0 { rank + *at } else { *at };
                usize::try_from(at).ok().and_then(|at| dims.get(at))
            });
            match dim {
                Some(dim) if dim.kind == DimKind::CONST => {
                    Some(TermValue::Number(dim.value as f64))
                }
                _ => None,
            }
        }
    })
}

/// Returns the value of a term; `None` if an attribute is missing, or has an unsuitable value.
pub(super) fn attr(matched: &Match<'_>, term: &AttrTerm) -> Option<AttrValue> {
    Some(match term {
        AttrTerm::Bound(at) => matched.attrs[*at].clone()??,
        AttrTerm::Literal(Literal::Int(int)) => AttrValue::Int(*int),
        AttrTerm::Literal(Literal::Float(float)) => AttrValue::Float(*float as f32),
        AttrTerm::Literal(Literal::String(text)) => AttrValue::String(text.clone().into_bytes()),
        AttrTerm::Literal(Literal::Ints(ints)) => AttrValue::Ints(ints.clone()),
        AttrTerm::Literal(Literal::Floats(floats)) => {
            AttrValue::Floats(floats.iter().map(|x| *x as f32).collect())
        }
        AttrTerm::Literal(Literal::Ident(_)) => return None,
        AttrTerm::List(items) => {
            let ints = items.iter().map(|item| match attr(matched, item)? {
                AttrValue::Int(int) => Some(int),
                _ => None,
            });
            AttrValue::Ints(ints.collect::<Option<_>>()?)
        }
        AttrTerm::Compose(first, second) => match (attr(matched, first)?, attr(matched, second)?) {
            (AttrValue::Ints(first), AttrValue::Ints(second)) => {
                AttrValue::Ints(compose(&first, &second)?)
            }
            _ => return None,
        },
    })
}

/// Returns the permutation that applies `first`, then `second`, as `compose($p, $q)` in [rules](crate::rules!). `None`
/// if they have different lengths, or an axis is out of range.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::rewrite::compose;
///
/// assert_eq!(compose(&[1, 2, 0], &[1, 0, 2]), Some(vec![2, 1, 0]));
/// assert_eq!(compose(&[1, 0], &[1, 0, 2]), None);
/// ```
pub fn compose(first: &[i64], second: &[i64]) -> Option<Vec<i64>> {
    if first.len() != second.len() {
        return None;
    }
    let axis = |at: &i64| first.get(usize::try_from(*at).ok()?).copied();
    second.iter().map(axis).collect()
}

fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F16 | DType::BF16 | DType::F64)
}

fn same_dtype(f: &Function, a: ValueId, b: ValueId) -> Option<bool> {
    Some(f.dtype(a)? == f.dtype(b)?)
}

/// Whether two values have the same shape; `None` if unknown.
pub(super) fn same_shape(f: &Function, a: ValueId, b: ValueId) -> Option<bool> {
    if a == b {
        return Some(true);
    }
    let (a, b) = (f.dims(a)?, f.dims(b)?);
    if a.len() != b.len() {
        return Some(false);
    }
    same_dims(a.zip(b))
}

/// Whether `a` broadcasts to the shape of `b` without changing it; `None` if unknown.
pub fn broadcasts_to(f: &Function, a: ValueId, b: ValueId) -> Option<bool> {
    let a = f.dims(a)?;
    if a.is_empty() {
        // A scalar broadcasts to any shape.
        return Some(true);
    }
    let b = f.dims(b)?;
    if a.len() > b.len() {
        return Some(false);
    }
    let skipped = b.len() - a.len();
    let pairs = a.zip(b.skip(skipped));
    same_dims(pairs.filter(|(a, _)| a.as_const() != Some(1)))
}

/// Whether the dims of each pair are equal; `None` if unknown.
fn same_dims(pairs: impl Iterator<Item = (Dim, Dim)>) -> Option<bool> {
    for (a, b) in pairs {
        match (a.kind, b.kind) {
            (DimKind::CONST, DimKind::CONST) if a.value != b.value => return Some(false),
            (DimKind::UNKNOWN, _) => return None,
            _ if a != b => return None,
            _ => {}
        }
    }
    Some(true)
}
