//! How ONNX's operators changed from version to version: `versions.txt`, which
//! `tests/opset_versions.py` makes of ONNX's schemas.

use std::collections::HashMap;
use std::sync::OnceLock;

use passdock_plugin_api::prelude::*;

const TABLE: &str = include_str!("versions.txt");

/// A version of an operator beside the one before it.
pub(super) struct Step {
    pub(super) version: i64,
    pub(super) takes: Takes,
}

/// The ops of the version before that mean the same in this one.
pub(super) enum Takes {
    All,
    /// Those whose attributes have these values, or aren't there.
    Without(Vec<Value>),
    /// Those whose first operand has one of these element types.
    Types(Vec<&'static str>),
    /// None: it means something else, or is written otherwise.
    None,
    /// The operator is gone.
    Gone,
}

/// An attribute with the value that it may have, if it may be there.
pub(super) struct Value {
    pub(super) name: &'static str,
    value: Option<&'static str>,
}

impl Value {
    pub(super) fn is_met(&self, f: &Function, op: OpId) -> bool {
        match (f.attr(op, self.name), self.value) {
            (None, _) => true,
            (Some(Attr::Int(int)), Some(value)) => int.to_string() == value,
            (Some(Attr::String(text)), Some(value)) => text == value.as_bytes(),
            _ => false,
        }
    }
}

/// The versions of an operator after an opset, up to another one; `None` if the opset hasn't the operator.
pub(super) fn steps(
    operator: &str,
    from: i64,
    to: i64,
) -> Option<impl Iterator<Item = &'static Step>> {
    let (first, steps) = table().get(operator)?;
    let is_there = *first <= from;
    let between = move |step: &&Step| (from + 1..=to).contains(&step.version);
    is_there.then(|| steps.iter().filter(between))
}

/// Of each operator its first version, and those after it.
type Table = HashMap<&'static str, (i64, Vec<Step>)>;

fn table() -> &'static Table {
    static ROWS: OnceLock<Table> = OnceLock::new();
    ROWS.get_or_init(|| {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        let row = |line: &'static str| {
            let mut words = line.split(' ');
            let (name, first) = (words.next()?, words.next()?.parse().ok()?);
            Some((name, (first, words.filter_map(step).collect())))
        };
        lines.filter_map(row).collect()
    })
}

fn step(word: &'static str) -> Option<Step> {
    let end = word
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(word.len());
    let (version, mark) = word.split_at(end);
    let takes = match (mark.get(..1), mark.get(1..).unwrap_or_default()) {
        (None, _) => Takes::All,
        (Some("?"), attrs) => {
            let attrs = attrs.split(',').map(|attr| match attr.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (attr, None),
            });
            Takes::Without(attrs.map(|(name, value)| Value { name, value }).collect())
        }
        (Some(":"), dtypes) => Takes::Types(dtypes.split(',').collect()),
        (Some("x"), _) => Takes::Gone,
        _ => Takes::None,
    };
    Some(Step {
        version: version.parse().ok()?,
        takes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            let words = line.split(' ').count();
            let name = line.split(' ').next().unwrap_or_default();
            assert_eq!(table()[name].1.len() + 2, words, "{line}");
        }
    }

    #[test]
    fn the_option_goes_up_to_the_newest_opset_that_the_table_knows() {
        let header = TABLE.lines().next().unwrap_or_default();
        let (_, rest) = header.split_once("opset ").unwrap_or_default();
        let newest = rest.split(';').next().unwrap_or_default().parse();
        let option = &<super::super::RaiseOpset as Options>::OPTIONS[0];
        assert_eq!(option.range.map(|(_, most)| most), newest.ok());
    }

    #[test]
    fn each_adapter_is_for_a_version_that_changed() {
        for (operator, version) in super::super::adapter::all() {
            let steps = &table()[operator].1;
            let step = steps.iter().find(|step| step.version == version);
            let is_changed = step.is_some_and(|step| matches!(step.takes, Takes::None));
            assert!(is_changed, "{operator} {version}");
        }
    }
}
