//! Generates `docs/operators.md`: the op definitions of the standard plugins, one line each.
//!
//! `UPDATE_EXPECT=1 cargo test -p passdock-tests --test operator_docs` writes the page.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use expect_test::expect_file;
use passdock::plugin::OpInfo;
use passdock_tests::standard_registry;

#[test]
fn operators_page_is_up_to_date() {
    let (ops, failures) = standard_registry().op_defs().describe();
    assert!(failures.is_empty(), "{failures:?}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operators.md");
    expect_file![page].assert_eq(&render(&ops));
}

/// A part that a definition may have.
type Knows = fn(&OpInfo) -> bool;

const COLUMNS: [Knows; 4] = [
    |op| op.type_inference,
    |op| op.evaluation,
    |op| op.decomposition,
    |op| op.layouts,
];

fn render(ops: &[OpInfo]) -> String {
    let mut by_name: BTreeMap<(&str, &str), Vec<&OpInfo>> = BTreeMap::new();
    for op in ops {
        let (domain, name) = op.name.rsplit_once('.').expect("a domain");
        // ONNX's own domain comes first.
        let domain = if domain == "onnx" { "" } else { domain };
        by_name.entry((domain, name)).or_default().push(op);
    }
    let known = COLUMNS.map(|knows| {
        let rows = by_name.values();
        rows.filter(|rows| rows.iter().any(|op| knows(op))).count()
    });
    let mut text = format!(
        "\
# The operators

<!-- Generated from the op definitions by `UPDATE_EXPECT=1 cargo test -p passdock-tests --test operator_docs`. -->

The standard plugin `onnx-ops` defines {} operators. It infers the types of {}, evaluates {}, decomposes {}, and
describes other layouts of {}. A version is the first version of its domain for which a definition is valid. If only
some versions have a feature, the table lists them. In a version newer than all of them, an operator is treated as in
its newest known version, and a run prints a warning. `passdock list ops onnx.Conv` shows an operator's attributes with
their meaning, valid values and defaults.
",
        by_name.len(),
        known[0],
        known[1],
        known[2],
        known[3],
    );
    let mut last = None;
    for ((domain, name), rows) in by_name {
        if last != Some(domain) {
            let title = match domain {
                "" => "ONNX's own domain".to_owned(),
                domain => format!("`{domain}`"),
            };
            // Writing to a string doesn't fail.
            let _ = write!(
                text,
                "\n## {title}\n\n\
                 | operator | versions | traits | types | evaluation | decomposition | layouts |\n\
                 |---|---|---|:-:|:-:|:-:|:-:|\n"
            );
            last = Some(domain);
        }
        let versions = list(rows.iter().map(|op| op.since));
        let traits = rows.last().map(|op| op.traits.join(", "));
        let cells = COLUMNS.map(|knows| cell(&rows, knows));
        let _ = writeln!(
            text,
            "| {name} | {versions} | {} | {} |",
            traits.unwrap_or_default(),
            cells.join(" | ")
        );
    }
    text
}

fn cell(rows: &[&OpInfo], knows: Knows) -> String {
    let known = rows.iter().filter(|op| knows(op));
    if known.clone().count() == rows.len() {
        return "✓".to_owned();
    }
    list(known.map(|op| op.since))
}

fn list(versions: impl Iterator<Item = i64>) -> String {
    let versions: Vec<String> = versions.map(|version| version.to_string()).collect();
    versions.join(", ")
}
