//! What each operator is: one row in the table of its family, its type rule below the table.
//!
//! To add an operator: a row, a rule if no other operator's fits, an evaluation in `eval` if it can
//! be folded.

mod attention;
pub(crate) mod attributes;
mod control;
mod convolution;
mod create;
mod elementwise;
mod loss;
mod matrix;
mod ml;
mod movement;
mod normalize;
mod optional;
mod preview;
mod quantize;
mod random;
mod recurrent;
mod reduce;
mod resize;
mod sequence;
mod shape;
mod signal;
mod text;
mod vision;

use std::collections::HashMap;
use std::sync::OnceLock;

use passdock_plugin_api::{AttrDef, AttrKind, OpDef, OpTraits};

use crate::define;
use crate::eval::{Call, Evaluate, NotFolded, refuse};
use crate::infer::{Body, Rule};

/// The newest version of ONNX's own domain that these definitions know.
pub const NEWEST_OPSET: i64 = 28;

/// Any number of operands.
const MANY: u32 = u32::MAX;

/// No effect but the results.
const PURE: OpTraits = OpTraits::PURE;

/// Which operands an operator only moves the elements of, without looking at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// None.
    Nothing,
    /// All.
    All,
    /// These.
    These(&'static [usize]),
}

impl Moves {
    /// Whether that operand is one of them.
    pub(crate) fn has(self, index: usize) -> bool {
        match self {
            Moves::Nothing => false,
            Moves::All => true,
            Moves::These(list) => list.contains(&index),
        }
    }
}

/// An operator from one version of its domain on.
#[derive(Clone, Copy)]
pub struct Operator {
    /// Its name, with the domain: `onnx.Add`.
    pub name: &'static str,
    /// The first version of the domain that this row holds for.
    pub since: u32,
    /// The fewest and the most operands.
    pub operands: (u32, u32),
    /// All attributes it has, with their defaults; `None`: they aren't listed. With an attribute
    /// that isn't here, an op isn't folded.
    pub attrs: Option<&'static [AttrDef]>,
    /// What is always true of it.
    pub traits: OpTraits,
    /// How it is evaluated.
    pub evaluate: Option<Evaluate>,
    rule: Option<Rule>,
    moves: Moves,
    body: Option<Body>,
}

impl Operator {
    /// A row: an operator without effects and attributes, about whose types nothing is known.
    const fn new(name: &'static str, since: u32, operands: (u32, u32)) -> Operator {
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

    /// With these attributes.
    const fn attrs(self, attrs: &'static [AttrDef]) -> Operator {
        Operator {
            attrs: Some(attrs),
            ..self
        }
    }

    /// With attributes that aren't listed: of versions before 7.
    const fn any_attrs(self) -> Operator {
        Operator {
            attrs: None,
            ..self
        }
    }

    /// With these traits too.
    const fn with(self, traits: OpTraits) -> Operator {
        Operator {
            traits: self.traits.with(traits),
            ..self
        }
    }

    /// With these traits only.
    const fn only(self, traits: OpTraits) -> Operator {
        Operator { traits, ..self }
    }

    /// With this type rule.
    const fn infers(self, rule: Rule) -> Operator {
        Operator {
            rule: Some(rule),
            ..self
        }
    }

    /// With this evaluation.
    const fn folds(self, evaluate: Evaluate) -> Operator {
        Operator {
            evaluate: Some(evaluate),
            ..self
        }
    }

    /// Moving the elements of these operands.
    const fn moves(self, moves: Moves) -> Operator {
        Operator { moves, ..self }
    }

    /// Made of other operators: ONNX's function body, as text for the op that is asked about.
    const fn decomposes(self, body: Body) -> Operator {
        Operator {
            body: Some(body),
            ..self
        }
    }

    /// How it is made of others.
    pub(crate) fn body(&self) -> Option<Body> {
        self.body
    }

    /// An attribute of it.
    pub fn attr(&self, name: &str) -> Option<&'static AttrDef> {
        self.attrs?.iter().find(|attr| attr.name == name)
    }

    /// Its type rule.
    pub(crate) fn rule(&self) -> Option<Rule> {
        self.rule
    }

    /// The operands that it only moves.
    pub(crate) fn moved(&self) -> Moves {
        self.moves
    }

    /// Whether this row says what a call of it means: a newer version or an attribute that isn't
    /// known here may change the results.
    pub(crate) fn check(&self, call: &Call) -> Result<(), NotFolded> {
        let (name, version) = (self.name, call.version);
        if !(i64::from(self.since)..=NEWEST_OPSET).contains(&version) {
            return refuse!("{name} of opset {version} isn't known");
        }
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

    /// How many attributes are listed.
    const fn attr_count(&self) -> usize {
        match self.attrs {
            Some(attrs) => attrs.len(),
            None => 0,
        }
    }

    /// As the host takes it; these are its attributes with what they mean.
    const fn definition(&self, attrs: &'static [AttrDef]) -> OpDef {
        let (fewest, most) = self.operands;
        let mut definition = OpDef::new(self.name, self.since)
            .operands(fewest, most)
            .traits(self.traits);
        if self.attrs.is_some() {
            definition = definition.attrs(attrs);
        }
        if self.rule.is_some() {
            definition = definition.infer(define::infer);
        }
        if self.evaluate.is_some() {
            definition = definition.evaluate(define::evaluate);
        }
        if self.body.is_some() {
            definition = definition.decompose(define::decompose);
        }
        definition
    }
}

/// The tables.
const FAMILIES: &[&[Operator]] = &[
    attention::OPERATORS,
    control::OPERATORS,
    convolution::OPERATORS,
    create::OPERATORS,
    elementwise::OPERATORS,
    loss::OPERATORS,
    matrix::OPERATORS,
    ml::OPERATORS,
    movement::OPERATORS,
    normalize::OPERATORS,
    optional::OPERATORS,
    preview::OPERATORS,
    quantize::OPERATORS,
    random::OPERATORS,
    recurrent::OPERATORS,
    reduce::OPERATORS,
    resize::OPERATORS,
    sequence::OPERATORS,
    shape::OPERATORS,
    signal::OPERATORS,
    text::OPERATORS,
    vision::OPERATORS,
];

/// How many rows there are, and how many attributes of all.
const fn count() -> (usize, usize) {
    let (mut family, mut rows, mut attrs) = (0, 0, 0);
    while family < FAMILIES.len() {
        let mut row = 0;
        while row < FAMILIES[family].len() {
            attrs += FAMILIES[family][row].attr_count();
            row += 1;
        }
        rows += row;
        family += 1;
    }
    (rows, attrs)
}

/// The attributes of all rows, one row after the other, with what they mean.
const fn documented() -> [AttrDef; count().1] {
    let mut documented = [AttrDef::new("", AttrKind::INT); count().1];
    let (mut family, mut next) = (0, 0);
    while family < FAMILIES.len() {
        let mut row = 0;
        while row < FAMILIES[family].len() {
            let operator = &FAMILIES[family][row];
            let mut at = 0;
            while at < operator.attr_count() {
                if let Some(attrs) = operator.attrs {
                    documented[next] = attributes::documented(operator.name, attrs[at]);
                }
                next += 1;
                at += 1;
            }
            row += 1;
        }
        family += 1;
    }
    documented
}

const fn definitions() -> [OpDef; count().0] {
    const ATTRS: &[AttrDef] = &documented();
    let mut definitions = [OpDef::new("", 0); count().0];
    let (mut family, mut next, mut rest) = (0, 0, ATTRS);
    while family < FAMILIES.len() {
        let mut row = 0;
        while row < FAMILIES[family].len() {
            let operator = &FAMILIES[family][row];
            let (attrs, more) = rest.split_at(operator.attr_count());
            definitions[next] = operator.definition(attrs);
            rest = more;
            next += 1;
            row += 1;
        }
        family += 1;
    }
    definitions
}

/// All operators as the host takes them.
pub const DEFINITIONS: &[OpDef] = &definitions();

/// All operators.
pub fn all() -> impl Iterator<Item = &'static Operator> {
    FAMILIES.iter().copied().flatten()
}

/// What an operator is in a version of its domain.
pub fn find(name: &str, version: i64) -> Option<&'static Operator> {
    static BY_NAME: OnceLock<HashMap<&'static str, Vec<&'static Operator>>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let mut by_name = HashMap::<_, Vec<_>>::new();
        all().for_each(|operator| by_name.entry(operator.name).or_default().push(operator));
        by_name
            .values_mut()
            .for_each(|rows| rows.sort_by_key(|row| row.since));
        by_name
    });
    by_name
        .get(name)?
        .iter()
        .rev()
        .find(|row| i64::from(row.since) <= version)
        .copied()
}
