//! The documentation of an operator's attributes, and the check of their values.

use passdock_plugin_api::{Attr, AttrDef};

use super::entry::Entry;
use super::{others, standard};
use crate::infer::{Infer, Inferred, invalid};
use crate::ops::Operator;

/// Finds the entry of an operator's attribute by binary search.
const fn find(operator: &str, attr: &str) -> Option<&'static Entry> {
    let (table, short) = match operator.as_bytes() {
        [b'o', b'n', b'n', b'x', b'.', short @ ..] => (standard::TABLE, short),
        other => (others::TABLE, after_dot(other)),
    };
    let (mut low, mut high) = (0, table.len());
    while low < high {
        let middle = (low + high) / 2;
        if is_less(table[middle].name.as_bytes(), attr.as_bytes()) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let mut general = None;
    while low < table.len() && is_equal(table[low].name.as_bytes(), attr.as_bytes()) {
        let of = table[low].of;
        if of.is_empty() && general.is_none() {
            general = Some(&table[low]);
        }
        let mut at = 0;
        while at < of.len() {
            if is_equal(of[at].as_bytes(), short) {
                return Some(&table[low]);
            }
            at += 1;
        }
        low += 1;
    }
    general
}

const fn after_dot(mut name: &[u8]) -> &[u8] {
    let mut rest = name;
    while let [byte, more @ ..] = rest {
        rest = more;
        if *byte == b'.' {
            name = more;
        }
    }
    name
}

const fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

const fn is_less(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    a.len() < b.len()
}

/// Returns an attribute with its documentation.
pub(crate) const fn documented(operator: &str, attr: AttrDef) -> AttrDef {
    match find(operator, attr.name) {
        Some(entry) => attr.doc(entry.doc),
        None => attr,
    }
}

/// Returns the values of an enum attribute of an operator, empty for other attributes.
pub(crate) fn enum_values(operator: &str, attr: &str) -> &'static [&'static str] {
    find(operator, attr).map_or(&[], |entry| entry.enum_values)
}

/// Rejects an op whose attribute has a value out of range. Ops with unknown attributes aren't checked.
pub(crate) fn check(operator: &Operator, op: &Infer) -> Inferred {
    let mut attrs = op.host.attrs(op.host.op()).peekable();
    if attrs.peek().is_none() || operator.check(op).is_err() {
        return Ok(());
    }
    for (name, value) in attrs {
        let name = op.host.text(name);
        let Some(entry) = find(operator.name, name) else {
            continue;
        };
        let (least, most) = entry.range;
        let out = |value: &i64| !(least..=most).contains(value);
        let beyond = match value {
            Attr::Int(value) => Some(value).filter(out),
            Attr::Ints(values) => values.iter().copied().find(out),
            Attr::String(value) => {
                let is_value = |enum_value: &&str| enum_value.as_bytes() == value;
                if !entry.enum_values.is_empty() && !entry.enum_values.iter().any(is_value) {
                    let value = String::from_utf8_lossy(value);
                    return invalid!(
                        "invalid attribute `{name}`: expected one of `{}`, found `{value}`",
                        entry.enum_values.join("`, `")
                    );
                }
                None
            }
            _ => None,
        };
        match beyond {
            Some(value) if most == i64::MAX => {
                return invalid!(
                    "invalid attribute `{name}`: expected at least {least}, found {value}"
                );
            }
            Some(value) => {
                return invalid!(
                    "invalid attribute `{name}`: expected {least} to {most}, found {value}"
                );
            }
            None => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ops::all;

    #[test]
    fn attributes_and_docs_correspond() {
        let mut documented_attrs = HashSet::new();
        for operator in all() {
            for attr in operator.attrs.unwrap_or_default() {
                let entry = find(operator.name, attr.name);
                let entry = entry.unwrap_or_else(|| panic!("{} of {}", attr.name, operator.name));
                documented_attrs.insert((entry.name, entry.of));
                assert!(!documented(operator.name, *attr).doc.is_empty());
            }
        }
        for table in [standard::TABLE, others::TABLE] {
            assert!(table.is_sorted_by_key(|entry| entry.name));
            let unused = |entry: &&Entry| !documented_attrs.contains(&(entry.name, entry.of));
            let unused: Vec<_> = table
                .iter()
                .filter(unused)
                .map(|entry| entry.name)
                .collect();
            assert!(unused.is_empty(), "{unused:?}");
        }
    }

    #[test]
    fn documented_operators_have_the_attribute() {
        for entry in standard::TABLE.iter().chain(others::TABLE) {
            for of in entry.of {
                let has = |operator: &&Operator| {
                    operator.name.rsplit('.').next() == Some(of)
                        && operator.attr(entry.name).is_some()
                };
                assert!(
                    all().any(|operator| has(&operator)),
                    "{} of {of}",
                    entry.name
                );
            }
        }
    }

    #[test]
    fn attribute_defaults_are_allowed_values() {
        use passdock_plugin_api::AttrDefault;
        for operator in all() {
            for attr in operator.attrs.unwrap_or_default() {
                let entry = find(operator.name, attr.name).expect("there is one");
                match attr.default {
                    Some(AttrDefault::Int(value)) => {
                        assert!(
                            (entry.range.0..=entry.range.1).contains(&value),
                            "{}",
                            attr.name
                        );
                    }
                    Some(AttrDefault::String(enum_value)) if !entry.enum_values.is_empty() => {
                        assert!(
                            entry.enum_values.contains(&enum_value),
                            "{} of {}",
                            attr.name,
                            operator.name
                        );
                    }
                    _ => {}
                }
            }
        }
    }
}
