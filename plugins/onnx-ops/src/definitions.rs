//! The op definitions, built from the operator tables at compile time.

use passdock_plugin_api::{AttrDef, AttrKind, OpDef};

use crate::attributes;
use crate::callbacks;
use crate::layout;
use crate::ops::{FAMILIES, Operator};

/// The definitions of all operators.
pub const DEFINITIONS: &[OpDef] = &definitions();

/// The rows of all families.
const ROWS: &[Operator] = &rows();

/// The attributes of all rows in order, with their documentation.
const ATTRS: &[AttrDef] = &attrs();

const fn row_count() -> usize {
    let (mut family, mut count) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
}

const fn rows() -> [Operator; row_count()] {
    let mut rows = [FAMILIES[0][0]; row_count()];
    let (mut family, mut row, mut next) = (0, 0, 0);
    while next < rows.len() {
        if row == FAMILIES[family].len() {
            (family, row) = (family + 1, 0);
        } else {
            rows[next] = FAMILIES[family][row];
            (row, next) = (row + 1, next + 1);
        }
    }
    rows
}

/// Returns the attributes of a row.
const fn listed(operator: &Operator) -> &'static [AttrDef] {
    match operator.attrs {
        Some(attrs) => attrs,
        None => &[],
    }
}

const fn attr_count() -> usize {
    let (mut row, mut count) = (0, 0);
    while row < ROWS.len() {
        count += listed(&ROWS[row]).len();
        row += 1;
    }
    count
}

const fn attrs() -> [AttrDef; attr_count()] {
    let mut attrs = [AttrDef::new("", AttrKind::INT); attr_count()];
    let (mut row, mut at, mut next) = (0, 0, 0);
    while next < attrs.len() {
        if at == listed(&ROWS[row]).len() {
            (row, at) = (row + 1, 0);
        } else {
            attrs[next] = attributes::documented(ROWS[row].name, listed(&ROWS[row])[at]);
            (at, next) = (at + 1, next + 1);
        }
    }
    attrs
}

const fn definitions() -> [OpDef; row_count()] {
    let mut definitions = [OpDef::new("", 0); row_count()];
    let (mut row, mut rest) = (0, ATTRS);
    while row < ROWS.len() {
        let (attrs, more) = rest.split_at(listed(&ROWS[row]).len());
        definitions[row] = definition(&ROWS[row], attrs);
        (row, rest) = (row + 1, more);
    }
    definitions
}

/// Builds the definition of an operator with documented attributes.
const fn definition(operator: &Operator, attrs: &'static [AttrDef]) -> OpDef {
    let (operands, results) = (operator.operands, operator.results);
    let mut definition = OpDef::new(operator.name, operator.since)
        .operands(operands.0, operands.1)
        .results(results.0, results.1)
        .traits(operator.traits);
    if operator.attrs.is_some() {
        definition = definition.attrs(attrs);
    }
    if operator.rule.is_some() {
        definition = definition.infer(callbacks::infer);
    }
    if operator.evaluate.is_some() {
        definition = definition.evaluate(callbacks::evaluate);
    }
    if operator.body.is_some() {
        definition = definition.decompose(callbacks::decompose);
    }
    if layout::rule(operator).is_some() {
        definition = definition.layout(callbacks::layout);
    }
    definition
}
