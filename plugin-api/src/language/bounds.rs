//! Conditions that contradict each other: no number is as all of them ask.

use std::ops::Range;

use super::parse::{Parsed, Parser};
use super::rule::{Condition, Literal, Opset, Relation, RuleError, Term, Test};

/// A whole number that conditions are about.
#[derive(Clone, Copy)]
struct Subject<'r> {
    term: &'r Term,
    name: &'static str,
    /// The minimum that it may be.
    least: f64,
}

/// What conditions leave of a number.
struct Bounds<'r> {
    subject: Subject<'r>,
    least: f64,
    most: f64,
    at: Range<usize>,
}

impl<'r> Subject<'r> {
    /// The number that a term is; `None` if it isn't a whole number.
    fn new(term: &'r Term) -> Option<Subject<'r>> {
        let (name, least) = match term {
            Term::Opset(_) => ("opset", 1.0),
            Term::Rank(_) => ("rank", 0.0),
            Term::Size(_) => ("size", 0.0),
            Term::Uses(_) => ("uses", 0.0),
            Term::Dim(..) => ("dim", 0.0),
            _ => return None,
        };
        Some(Subject { term, name, least })
    }
}

impl Parser<'_> {
    /// The opsets that the rule's conditions ask for; an error if no number is as they ask.
    pub(crate) fn opsets(&self) -> Parsed<Vec<Opset>> {
        let mut all: Vec<Bounds<'_>> = Vec::new();
        for condition in &self.rule.conditions {
            let (subject, least, most) = match asked(condition) {
                Some(asked) => asked,
                None => continue,
            };
            let is_same = |bounds: &Bounds<'_>| bounds.subject.term == subject.term;
            let known = all.iter().position(is_same);
            let at = known.unwrap_or_else(|| {
                all.push(Bounds {
                    least: subject.least,
                    most: f64::INFINITY,
                    at: 0..0,
                    subject,
                });
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
        let opset = |bounds: Bounds<'_>| match bounds.subject.term {
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
            format!("has to be {} already", least)
        } else if bounds.least > most {
            format!("has to be at most {} already", most)
        } else if least > bounds.subject.least {
            format!("has to be at least {} already", least)
        } else {
            format!("is a whole number from {} on", least)
        };
        let message = format!("This never holds: `{}` {}.", bounds.subject.name, holds);
        self.error(bounds.at.clone(), message)
    }
}

/// What a condition says of a number: the least and the most that it may be.
fn asked(condition: &Condition) -> Option<(Subject<'_>, f64, f64)> {
    match &condition.test {
        Test::Compare(left, relation, right) => {
            let (subject, relation, number) = match (Subject::new(left), Subject::new(right)) {
                (Some(subject), None) => (subject, *relation, number(right)?),
                (None, Some(subject)) => (subject, turned(*relation), number(left)?),
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
            Some((subject, least, most))
        }
        Test::OneOf(term, literals) if !condition.negated => {
            let subject = Subject::new(term)?;
            let numbers: Option<Vec<f64>> = literals.iter().map(Literal::number).collect();
            let numbers = numbers?;
            let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            Some((subject, least, most))
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

/// The relation with its sides exchanged.
fn turned(relation: Relation) -> Relation {
    match relation {
        Relation::Less => Relation::Greater,
        Relation::AtMost => Relation::AtLeast,
        Relation::Greater => Relation::Less,
        Relation::AtLeast => Relation::AtMost,
        same => same,
    }
}

/// The relation that holds where this one doesn't.
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
