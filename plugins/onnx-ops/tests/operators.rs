//! Compares the operator tables with ONNX's schemas: every operator, in every version from 7 on, with its arity,
//! attributes, their kinds and defaults. `operators.py` writes the list of the schemas.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::collections::HashSet;

use passdock_plugin_api::{AttrDef, AttrDefault, AttrKind};
use passdock_plugins_onnx_ops::ops::{self, Operator};

const LIST: &str = include_str!("operators.txt");

#[test]
fn operator_tables_match_onnx() {
    let mut differences = Vec::new();
    let mut compared = HashSet::new();
    let mut versions = 0;
    for line in LIST.lines().filter(|line| !line.starts_with('#')) {
        let (head, expected) = line.split_at(line.find('(').expect("an arity"));
        let mut words = head.split_whitespace();
        let name = words.next().expect("a name");
        for version in words {
            versions += 1;
            let version: i64 = version.parse().expect("a version");
            match ops::find(name, version) {
                None => differences.push(format!("{name} {version} is missing")),
                Some(row) => {
                    compared.insert((row.name, row.since));
                    let actual = signature(row);
                    if actual != expected {
                        differences.push(format!("{name} {version} is {actual}, not {expected}"));
                    }
                }
            }
        }
    }
    for row in ops::all() {
        if row.attrs.is_some() && !compared.contains(&(row.name, row.since)) {
            differences.push(format!("{} {} isn't ONNX's", row.name, row.since));
        }
    }
    assert_eq!(differences, Vec::<String>::new());
    assert!(versions > 400, "{versions} versions were compared");
}

/// A run warns of opsets newer than the newest row of ONNX's own domain.
#[test]
fn newest_row_matches_opset_of_the_list() {
    let header = LIST.lines().next().expect("a header");
    let own = ops::all().filter(|row| row.name.starts_with("onnx."));
    let newest = own.map(|row| row.since).max().expect("a row");
    assert!(header.contains(&format!(", opset {newest};")), "{header}");
}

#[test]
fn rows_are_unique() {
    let mut seen = HashSet::new();
    for row in ops::all() {
        assert!(seen.insert((row.name, row.since)), "{}", row.name);
        let attrs = row.attrs.unwrap_or_default();
        assert!(
            attrs.is_sorted_by_key(|attr| attr.name),
            "the attributes of {} aren't in order",
            row.name
        );
    }
}

/// Formats the minimum and maximum number of operands or results.
fn arity((fewest, most): (u32, u32)) -> String {
    match most {
        u32::MAX => format!("({fewest}, MANY)"),
        most => format!("({fewest}, {most})"),
    }
}

/// Formats a row as `operators.py` does.
fn signature(row: &Operator) -> String {
    let Some(attrs) = row.attrs else {
        return "attributes that aren't listed".to_owned();
    };
    let attrs: Vec<String> = attrs.iter().map(attribute).collect();
    let counts = match row.results {
        (1, 1) => arity(row.operands),
        results => format!("{} -> {}", arity(row.operands), arity(results)),
    };
    let text = format!("{counts} {}", attrs.join(", "));
    text.trim_end().to_owned()
}

fn attribute(attr: &AttrDef) -> String {
    let required = if attr.required { "required " } else { "" };
    let mut text = format!("{}: {required}{}", attr.name, kind(attr.kind));
    if let Some(default) = attr.default {
        text += &match default {
            AttrDefault::Int(value) => format!(" = {value}"),
            AttrDefault::Float(value) => format!(" = {value:?}"),
            AttrDefault::String(value) => format!(" = {value:?}"),
            AttrDefault::Ints(values) => format!(" = {values:?}"),
            AttrDefault::Floats(values) => format!(" = {values:?}"),
            AttrDefault::Strings(values) => format!(" = {values:?}"),
            other => format!(" = {other:?}"),
        };
    }
    text
}

fn kind(kind: AttrKind) -> &'static str {
    match kind {
        AttrKind::INT => "int",
        AttrKind::FLOAT => "float",
        AttrKind::STRING => "string",
        AttrKind::TENSOR => "tensor",
        AttrKind::TYPE => "type",
        AttrKind::REGION => "graph",
        AttrKind::INTS => "ints",
        AttrKind::FLOATS => "floats",
        AttrKind::STRINGS => "strings",
        AttrKind::OPAQUE => "opaque",
        _ => "?",
    }
}
