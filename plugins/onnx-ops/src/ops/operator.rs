//! [`Operator`]: a row in an operator table.

use passdock_plugin_api::{AttrDef, OpTraits};

use crate::eval::{Call, Evaluate, Evaluation, EvaluationOfAll, NotFolded, reject};
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

/// The trait of operators without side effects.
const PURE: OpTraits = OpTraits::PURE;

/// An operator, from one version of its domain on.
#[derive(Clone, Copy)]
pub struct Operator {
    /// The name, with the domain: `onnx.Add`.
    pub name: &'static str,
    /// The first version of the domain to which this row applies.
    pub since: i64,
    /// The minimum and maximum number of operands.
    pub operands: (u32, u32),
    /// The minimum and maximum number of results.
    pub results: (u32, u32),
    /// The attributes with their defaults, or `None` if they aren't listed. An op with an unlisted attribute isn't
    /// folded.
    pub attrs: Option<&'static [AttrDef]>,
    /// The traits of all its ops.
    pub traits: OpTraits,
    /// The evaluation, if the operator can be folded.
    pub evaluate: Option<Evaluate>,
    /// The type rule.
    pub(crate) rule: Option<Rule>,
    /// The operands whose elements are only moved.
    pub(crate) moves: Moves,
    /// The template of the body, if the operator decomposes into others.
    pub(crate) body: Option<&'static str>,
}

impl Operator {
    /// Creates a row of a pure operator with one result, without attributes and without a type rule.
    pub(super) const fn new(name: &'static str, since: i64, operands: (u32, u32)) -> Operator {
        Operator {
            name,
            since,
            operands,
            results: (1, 1),
            attrs: Some(&[]),
            traits: PURE,
            evaluate: None,
            rule: None,
            moves: Moves::Nothing,
            body: None,
        }
    }

    /// Copies the row for a later version. The following methods change it.
    pub(super) const fn since(self, since: i64) -> Operator {
        Operator { since, ..self }
    }

    /// Sets the minimum and maximum number of operands.
    pub(super) const fn operands(self, operands: (u32, u32)) -> Operator {
        Operator { operands, ..self }
    }

    /// Sets the minimum and maximum number of results.
    pub(super) const fn results(self, results: (u32, u32)) -> Operator {
        Operator { results, ..self }
    }

    /// Sets the attributes.
    pub(super) const fn attrs(self, attrs: &'static [AttrDef]) -> Operator {
        Operator {
            attrs: Some(attrs),
            ..self
        }
    }

    /// Leaves the attributes unlisted, for versions before 7.
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

    /// Sets the evaluation of an operator with one result.
    pub(super) const fn folds(self, evaluate: Evaluation) -> Operator {
        Operator {
            evaluate: Some(Evaluate::One(evaluate)),
            ..self
        }
    }

    /// Sets the evaluation of an operator with several results.
    pub(super) const fn folds_all(self, evaluate: EvaluationOfAll) -> Operator {
        Operator {
            evaluate: Some(Evaluate::All(evaluate)),
            ..self
        }
    }

    /// Sets the operands whose elements are only moved, and makes the operator injective.
    pub(super) const fn moves(self, moves: Moves) -> Operator {
        Operator { moves, ..self }.with(OpTraits::INJECTIVE)
    }

    /// Sets the function body, a template of IR text.
    pub(super) const fn decomposes(self, body: &'static str) -> Operator {
        Operator {
            body: Some(body),
            ..self
        }
    }

    /// Returns an attribute of the operator.
    pub fn attr(&self, name: &str) -> Option<&'static AttrDef> {
        self.attrs?.iter().find(|attr| attr.name == name)
    }

    /// Checks that the row lists all attributes of a call: an unknown attribute may change the results. In a version
    /// newer than all rows, the host warns and the newest row applies.
    pub(crate) fn check(&self, call: &Call) -> Result<(), NotFolded> {
        match call
            .attrs
            .names()
            .iter()
            .find(|attr| self.attr(attr).is_none())
        {
            Some(attr) => reject!("unknown attribute `{attr}`"),
            None => Ok(()),
        }
    }

    /// Checks the number of operands.
    pub(crate) fn check_operands(&self, count: usize) -> Result<(), NotFolded> {
        let (fewest, most) = self.operands;
        if (fewest as usize..=most as usize).contains(&count) {
            Ok(())
        } else {
            reject!("unsupported number of operands: {count}")
        }
    }
}
