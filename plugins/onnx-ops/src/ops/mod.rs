//! The tables of operators. Each operator has a row in the table of its family, with its type rule below the table.
//!
//! To add an operator, add a row, a rule if no existing one fits, and an evaluation in `eval` if it can be folded.

mod attention;
mod control;
mod convolution;
mod create;
mod elementwise;
mod loss;
mod matrix;
mod ml;
mod movement;
mod normalize;
mod operator;
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

pub use operator::Operator;

/// The tables, one per family.
pub(crate) const FAMILIES: &[&[Operator]] = &[
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

/// Iterates over all operators.
pub fn all() -> impl Iterator<Item = &'static Operator> {
    FAMILIES.iter().copied().flatten()
}

/// Finds the newest row of an operator that isn't newer than a version of its domain.
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
        .find(|row| row.since <= version)
        .copied()
}
