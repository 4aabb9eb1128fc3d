//! Detection of conditions that contradict each other.

use std::ops::Range;

use super::parse::{Parsed, Parser};
use super::rule::{Condition, Literal, Opset, Relation, RuleError, Term, Test};

/// The range of a number that conditions allow.
struct Bounds<'r> {
    term: &'r Term,
    name: &'static str,
    /// The minimum without conditions.
    minimum: f64,
    least: f64,
    most: f64,
    at: Range<usize>,
}

impl<'r> Bounds<'r> {
    /// Returns the range without conditions; `None` if the term isn't an integer.
    fn new(term: &'r Term) -> Option<Bounds<'r>> {
        let (name, minimum) = match term {
            Term::Opset(_) => ("opset", 1.0),
            Term::Rank(_) => ("rank", 0.0),
            Term::Size(_) => ("size", 0.0),
            Term::Uses(_) => ("uses", 0.0),
            Term::Dim(..) => ("dim", 0.0),
            _ => return None,
        };
        Some(Bounds {
            term,
            name,
            minimum,
            least: minimum,
            most: f64::INFINITY,
            at: 0..0,
        })
    }
}

impl Parser<'_> {
    /// Returns the opsets that the rule's conditions require. Fails if the conditions contradict each other.
    pub(crate) fn opsets(&self) -> Parsed<Vec<Opset>> {
        let mut all: Vec<Bounds<'_>> = Vec::new();
        for condition in &self.rule.conditions {
            let (number, least, most) = match limits(condition) {
                Some(limits) => limits,
                None => continue,
            };
            let position = all.iter().position(|other| other.term == number.term);
            let at = position.unwrap_or_else(|| {
                all.push(number);
                all.len() - 1
            });
            let bounds = &mut all[at];
            let before = (bounds.least, bounds.most);
            bounds.least = bounds.least.max(least);
            bounds.most = bounds.most.min(most);
            bounds.at = condition.at.clone();
            if bounds.least > bounds.most {
                return Err(self.never(&all[at], before));
            }
        }
        let opset = |bounds: Bounds<'_>| match bounds.term {
            // Casts saturate.
            Term::Opset(domain) => Some(Opset {
                domain: domain.clone(),
                at_least: bounds.least as i64,
                at_most: bounds.most as i64,
                at: bounds.at,
            }),
            _ => None,
        };
        Ok(all.into_iter().filter_map(opset).collect())
    }

    fn never(&self, bounds: &Bounds<'_>, (least, most): (f64, f64)) -> RuleError {
        let holds = if least == most {
            format!(
                "an earlier condition requires `{}` = {}",
                bounds.name, least
            )
        } else if bounds.least > most {
            format!("an earlier condition requires `{}` ≤ {}", bounds.name, most)
        } else if least > bounds.minimum {
            format!(
                "an earlier condition requires `{}` ≥ {}",
                bounds.name, least
            )
        } else {
            format!("`{}` is an integer of at least {}", bounds.name, least)
        };
        let message = format!("condition is never true: {}", holds);
        self.error(bounds.at.clone(), message)
    }
}

/// Returns the minimum and maximum that a condition allows for a number.
fn limits(condition: &Condition) -> Option<(Bounds<'_>, f64, f64)> {
    match &condition.test {
        Test::Compare(left, relation, right) => {
            let (bounds, relation, number) = match (Bounds::new(left), Bounds::new(right)) {
                (Some(bounds), None) => (bounds, *relation, number(right)?),
                (None, Some(bounds)) => (bounds, turned(*relation), number(left)?),
                _ => return None,
            };
            let relation = match condition.negated {
                true => opposite(relation),
                false => relation,
            };
            let (least, most) = match relation {
                Relation::Equal => (number.ceil(), number.floor()),
                Relation::Less => (f64::NEG_INFINITY, number.ceil() - 1.0),
                Relation::AtMost => (f64::NEG_INFINITY, number.floor()),
                Relation::Greater => (number.floor() + 1.0, f64::INFINITY),
                Relation::AtLeast => (number.ceil(), f64::INFINITY),
                Relation::Unequal => return None,
            };
            Some((bounds, least, most))
        }
        Test::OneOf(term, literals) if !condition.negated => {
            let bounds = Bounds::new(term)?;
            let numbers: Option<Vec<f64>> = literals.iter().map(Literal::number).collect();
            let numbers = numbers?;
            let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            Some((bounds, least, most))
        }
        _ => None,
    }
}

fn number(term: &Term) -> Option<f64> {
    match term {
        Term::Literal(literal) => literal.number(),
        _ => None,
    }
}

/// Returns the relation with its sides exchanged.
fn turned(relation: Relation) -> Relation {
    match relation {
        Relation::Less => Relation::Greater,
        Relation::AtMost => Relation::AtLeast,
        Relation::Greater => Relation::Less,
        Relation::AtLeast => Relation::AtMost,
        same => same,
    }
}

/// Returns the negated relation.
fn opposite(relation: Relation) -> Relation {
    match relation {
        Relation::Equal => Relation::Unequal,
        Relation::Unequal => Relation::Equal,
        Relation::Less => Relation::AtLeast,
        Relation::AtMost => Relation::Greater,
        Relation::Greater => Relation::AtMost,
        Relation::AtLeast => Relation::Less,
    }
}
