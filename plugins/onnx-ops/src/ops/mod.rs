//! What each operator is: one row in the table of its family.

mod create;
mod elementwise;
mod movement;
mod reduce;
mod shape;

use crate::eval::{Call, Evaluate, NotFolded};

/// The newest version of ONNX's own domain that these definitions know.
pub const NEWEST_OPSET: i64 = 28;

/// Any number of operands.
const MANY: usize = usize::MAX;

/// An operator of ONNX's own domain.
#[derive(Clone, Copy)]
pub struct Operator {
    /// Its name, without the domain.
    pub name: &'static str,
    /// The first version of the domain that this row holds for.
    pub since: i64,
    /// The fewest and the most operands.
    pub operands: (usize, usize),
    /// The attributes it has in any version; one that isn't here changes the meaning unknowably.
    pub attrs: &'static [&'static str],
    /// How it is evaluated.
    pub evaluate: Option<Evaluate>,
}

impl Operator {
    /// A row.
    const fn new(name: &'static str, since: i64, operands: (usize, usize)) -> Operator {
        Operator {
            name,
            since,
            operands,
            attrs: &[],
            evaluate: None,
        }
    }

    /// With these attributes.
    const fn attrs(self, attrs: &'static [&'static str]) -> Operator {
        Operator { attrs, ..self }
    }

    /// With this evaluation.
    const fn folds(self, evaluate: Evaluate) -> Operator {
        Operator {
            evaluate: Some(evaluate),
            ..self
        }
    }

    /// Whether this row says what the call means.
    pub(crate) fn check(&self, call: &Call) -> Result<(), NotFolded> {
        let refuse = |reason: String| Err(NotFolded::new(reason));
        if !(self.since..=NEWEST_OPSET).contains(&call.version) {
            return refuse(format!(
                "{} of opset {} isn't known",
                self.name, call.version
            ));
        }
        let (fewest, most) = self.operands;
        if !(fewest..=most).contains(&call.inputs.len()) {
            return refuse(format!(
                "{} can't have {} operands",
                self.name,
                call.inputs.len()
            ));
        }
        match call
            .attrs
            .names()
            .iter()
            .find(|name| !self.attrs.contains(name))
        {
            Some(name) => refuse(format!("{} has an unknown attribute `{name}`", self.name)),
            None => Ok(()),
        }
    }
}

/// All operators.
pub fn all() -> impl Iterator<Item = &'static Operator> {
    [
        create::OPERATORS,
        elementwise::OPERATORS,
        movement::OPERATORS,
        reduce::OPERATORS,
        shape::OPERATORS,
    ]
    .into_iter()
    .flatten()
}

/// The operator of that name.
pub fn find(name: &str) -> Option<&'static Operator> {
    all().find(|operator| operator.name == name)
}
