//! [`Operator`]: a row of a table.

use passdock_plugin_api::{AttrDef, OpTraits};

use crate::eval::{Call, Evaluate, Evaluation, EvaluationOfAll, NotFolded, refuse};
use crate::infer::{Moves, Rule};

/// Returns the template of an operator's body.
macro_rules! body {
    ($name:literal) => {
        include_str!(concat!("../decompose/", $name, ".ir.jinja"))
    };
}
pub(super) use body;

/// Any number of operands.
pub(super) const MANY: u32 = u32::MAX;

/// No effect but the results.
const PURE: OpTraits = OpTraits::PURE;

/// An operator from one version of its domain on.
#[derive(Clone, Copy)]
pub struct Operator {
    /// The name, with the domain: `onnx.Add`.
    pub name: &'static str,
    /// The first version of the domain that this row holds for.
    pub since: i64,
    /// The fewest and the most operands.
    pub operands: (u32, u32),
    /// The attributes, with their defaults; `None`: they aren't listed. With an attribute that
    /// isn't here, an op isn't folded.
    pub attrs: Option<&'static [AttrDef]>,
    /// The traits that it always has.
    pub traits: OpTraits,
    /// The evaluation, if it is ever folded.
    pub evaluate: Option<Evaluate>,
    /// The type rule.
    pub(crate) rule: Option<Rule>,
    /// The operands that it only moves.
    pub(crate) moves: Moves,
    /// The template of the body, if it is made of other operators.
    pub(crate) body: Option<&'static str>,
}

impl Operator {
    /// A row: an operator without effects and attributes, about whose types nothing is known.
    pub(super) const fn new(name: &'static str, since: i64, operands: (u32, u32)) -> Operator {
        Operator {
            name,
            since,
            operands,
            attrs: Some(&[]),
            traits: PURE,
            evaluate: None,
            rule: None,
            moves: Moves::Nothing,
            body: None,
        }
    }

    /// The same from a later version on, but for what is said next.
    pub(super) const fn again(self, since: i64) -> Operator {
        Operator { since, ..self }
    }

    /// Sets the fewest and the most operands.
    pub(super) const fn takes(self, operands: (u32, u32)) -> Operator {
        Operator { operands, ..self }
    }

    /// Sets the attributes.
    pub(super) const fn attrs(self, attrs: &'static [AttrDef]) -> Operator {
        Operator {
            attrs: Some(attrs),
            ..self
        }
    }

    /// Leaves the attributes open: of versions before 7.
    pub(super) const fn any_attrs(self) -> Operator {
        Operator {
            attrs: None,
            ..self
        }
    }

    /// Adds traits.
    pub(super) const fn with(self, traits: OpTraits) -> Operator {
        Operator {
            traits: self.traits.with(traits),
            ..self
        }
    }

    /// Replaces the traits.
    pub(super) const fn only(self, traits: OpTraits) -> Operator {
        Operator { traits, ..self }
    }

    /// Sets the type rule.
    pub(super) const fn infers(self, rule: Rule) -> Operator {
        Operator {
            rule: Some(rule),
            ..self
        }
    }

    /// Sets the evaluation of the only result.
    pub(super) const fn folds(self, evaluate: Evaluation) -> Operator {
        Operator {
            evaluate: Some(Evaluate::One(evaluate)),
            ..self
        }
    }

    /// Sets the evaluation of all results.
    pub(super) const fn folds_all(self, evaluate: EvaluationOfAll) -> Operator {
        Operator {
            evaluate: Some(Evaluate::All(evaluate)),
            ..self
        }
    }

    /// Moving the elements of these operands.
    pub(super) const fn moves(self, moves: Moves) -> Operator {
        Operator { moves, ..self }.with(OpTraits::INJECTIVE)
    }

    /// Sets the function body: a template of IR text.
    pub(super) const fn decomposes(self, body: &'static str) -> Operator {
        Operator {
            body: Some(body),
            ..self
        }
    }

    /// An attribute of it.
    pub fn attr(&self, name: &str) -> Option<&'static AttrDef> {
        self.attrs?.iter().find(|attr| attr.name == name)
    }

    /// Whether this row says what a call of it means: an attribute that isn't known here may change
    /// the results. In a version newer than all rows, the host warns, and the newest row holds.
    pub(crate) fn check(&self, call: &Call) -> Result<(), NotFolded> {
        let name = self.name;
        match call
            .attrs
            .names()
            .iter()
            .find(|attr| self.attr(attr).is_none())
        {
            Some(attr) => refuse!("{name} has an unknown attribute `{attr}`"),
            None => Ok(()),
        }
    }

    /// Whether it may have so many operands.
    pub(crate) fn check_operands(&self, count: usize) -> Result<(), NotFolded> {
        let (fewest, most) = self.operands;
        if (fewest as usize..=most as usize).contains(&count) {
            Ok(())
        } else {
            refuse!("{} can't have {count} operands", self.name)
        }
    }
}
