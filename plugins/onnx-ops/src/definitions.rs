//! The tables as the host takes them: put together while this is compiled.

use passdock_plugin_api::{AttrDef, AttrKind, OpDef};

use crate::attributes;
use crate::callbacks;
use crate::layout;
use crate::ops::{FAMILIES, Operator};

/// All operators as the host takes them.
pub const DEFINITIONS: &[OpDef] = &definitions();

/// The number of rows, and of the attributes of all.
const fn count() -> (usize, usize) {
    let (mut family, mut rows, mut attrs) = (0, 0, 0);
    while family < FAMILIES.len() {
        let mut row = 0;
        while row < FAMILIES[family].len() {
            attrs += attr_count(&FAMILIES[family][row]);
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
            while at < attr_count(operator) {
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
            let (attrs, more) = rest.split_at(attr_count(operator));
            definitions[next] = definition(operator, attrs);
            rest = more;
            next += 1;
            row += 1;
        }
        family += 1;
    }
    definitions
}

/// The number of attributes that are listed.
const fn attr_count(operator: &Operator) -> usize {
    match operator.attrs {
        Some(attrs) => attrs.len(),
        None => 0,
    }
}

/// An operator as the host takes it, given its attributes with what they mean.
const fn definition(operator: &Operator, attrs: &'static [AttrDef]) -> OpDef {
    let (fewest, most) = operator.operands;
    let mut definition = OpDef::new(operator.name, operator.since)
        .operands(fewest, most)
        .traits(operator.traits);
    if operator.attrs.is_some() {
        definition = definition.attrs(attrs);
    }
    if operator.rule().is_some() {
        definition = definition.infer(callbacks::infer);
    }
    if operator.evaluate.is_some() {
        definition = definition.evaluate(callbacks::evaluate);
    }
    if operator.body().is_some() {
        definition = definition.decompose(callbacks::decompose);
    }
    if layout::rule(operator).is_some() {
        definition = definition.layout(callbacks::layout);
    }
    definition
}
