//! Changes of ONNX's operators between versions, from `versions.txt`. `tests/opset_versions.py` generates it from
//! ONNX's schemas.

use std::collections::HashMap;
use std::sync::OnceLock;

use passdock_plugin_api::prelude::*;

const TABLE: &str = include_str!("versions.txt");

/// A version of an operator, compared with the previous one.
pub(super) struct Step {
    pub(super) version: i64,
    pub(super) unchanged: Unchanged,
}

/// The ops of the previous version that have the same semantics in this one.
pub(super) enum Unchanged {
    All,
    /// Ops whose attributes have these values or are absent.
    Without(Vec<Value>),
    /// Ops whose first operand has one of these element types.
    Types(Vec<&'static str>),
    /// None: the semantics or the form changed.
    None,
    /// The operator was removed.
    Removed,
}

/// An attribute, and its permitted value, if any.
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

/// Returns the versions of an operator after one opset, up to another. `None` if the first opset doesn't have the
/// operator.
pub(super) fn steps(
    operator: &str,
    from: i64,
    to: i64,
) -> Option<impl Iterator<Item = &'static Step>> {
    let (first, steps) = table().get(operator)?;
    let is_known = *first <= from;
    let between = move |step: &&Step| (from + 1..=to).contains(&step.version);
    is_known.then(|| steps.iter().filter(between))
}

/// The first version of each operator, and the later ones.
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
    let unchanged = match (mark.get(..1), mark.get(1..).unwrap_or_default()) {
        (None, _) => Unchanged::All,
        (Some("?"), attrs) => {
            let attrs = attrs.split(',').map(|attr| match attr.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (attr, None),
            });
            Unchanged::Without(attrs.map(|(name, value)| Value { name, value }).collect())
        }
        (Some(":"), dtypes) => Unchanged::Types(dtypes.split(',').collect()),
        (Some("x"), _) => Unchanged::Removed,
        _ => Unchanged::None,
    };
    Some(Step {
        version: version.parse().ok()?,
        unchanged,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_parsed() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            let words = line.split(' ').count();
            let name = line.split(' ').next().unwrap_or_default();
            assert_eq!(table()[name].1.len() + 2, words, "{line}");
        }
    }

    #[test]
    fn option_range_ends_at_newest_opset() {
        let header = TABLE.lines().next().unwrap_or_default();
        let (_, rest) = header.split_once("opset ").unwrap_or_default();
        let newest = rest.split(';').next().unwrap_or_default().parse();
        let option = &<super::super::RaiseOpset as Options>::OPTIONS[0];
        assert_eq!(option.range.map(|(_, most)| most), newest.ok());
    }

    #[test]
    fn adapters_exist_only_for_changed_versions() {
        for (operator, version) in super::super::adapter::all() {
            let steps = &table()[operator].1;
            let step = steps.iter().find(|step| step.version == version);
            let is_changed = step.is_some_and(|step| matches!(step.unchanged, Unchanged::None));
            assert!(is_changed, "{operator} {version}");
        }
    }
}
