//! The types that ONNX's operators support, by version. `tests/operator_types.py` writes the table.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::Low;

const TABLE: &str = include_str!("operators.txt");

/// The operands and results of an operator that change type in low precision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) operands: Slots,
    pub(super) results: Slots,
}

/// A subset of the operands or results. The last entry may repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Slots {
    listed: Vec<bool>,
    repeats: bool,
}

impl Slots {
    pub(super) fn new(listed: Vec<bool>) -> Slots {
        Slots {
            listed,
            repeats: false,
        }
    }

    fn read(signs: &str) -> Slots {
        let repeats = signs.ends_with('+');
        let listed = signs.trim_end_matches('+').chars().map(|sign| sign == 'x');
        Slots {
            listed: listed.collect(),
            repeats,
        }
    }

    /// Whether the operand or result with an index is in the subset.
    pub(super) fn contains(&self, index: usize) -> bool {
        match self.listed.get(index) {
            Some(&is) => is,
            None => self.repeats && self.listed.last() == Some(&true),
        }
    }

    /// Returns the number of listed entries that are in the subset.
    pub(super) fn count(&self) -> usize {
        self.listed.iter().filter(|is| **is).count()
    }
}

/// The types that an operator supports from one version on.
struct Row {
    since: i64,
    f16: bool,
    bf16: bool,
    signature: Signature,
}

impl Row {
    fn supports(&self, low: Low) -> bool {
        if low == Low::F16 { self.f16 } else { self.bf16 }
    }
}

/// Returns the rows of each operator, in ascending order of version.
fn table() -> &'static HashMap<&'static str, Vec<Row>> {
    static ROWS: OnceLock<HashMap<&str, Vec<Row>>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut rows: HashMap<&str, Vec<Row>> = HashMap::new();
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split(' ');
            let mut word = || words.next().unwrap_or_default();
            let (name, since, dtypes) = (word(), word(), word());
            let row = Row {
                since: since.parse().unwrap_or(i64::MAX),
                f16: dtypes.split(',').any(|one| one == "f16"),
                bf16: dtypes.split(',').any(|one| one == "bf16"),
                signature: Signature {
                    operands: Slots::read(word()),
                    results: Slots::read(word()),
                },
            };
            rows.entry(name).or_default().push(row);
        }
        rows
    })
}

/// Whether any version of an operator supports a low-precision type.
pub(super) fn is_listed(operator: &str) -> bool {
    table().contains_key(operator)
}

/// Returns the signature of an operator in an opset; `None` if it doesn't support the type.
pub(super) fn signature(operator: &str, opset: i64, low: Low) -> Option<&'static Signature> {
    let rows = table().get(operator)?;
    let row = rows.iter().rev().find(|row| row.since <= opset)?;
    row.supports(low).then_some(&row.signature)
}

/// Returns the first opset in which an operator supports the type.
pub(super) fn first_opset(operator: &str, low: Low) -> Option<i64> {
    let rows = table().get(operator)?;
    rows.iter()
        .find(|row| row.supports(low))
        .map(|row| row.since)
}

#[cfg(test)]
mod tests {
    use super::{Low, TABLE, first_opset, signature, table};

    #[test]
    fn every_line_of_the_table_is_parsed() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(table().values().map(Vec::len).sum::<usize>(), lines);
        for (name, rows) in table() {
            let versions = rows.iter().map(|row| row.since);
            assert!(versions.is_sorted() && rows[0].since < 100, "{name}");
        }
    }

    #[test]
    fn signatures_depend_on_version_and_slot() {
        assert_eq!(signature("Conv", 21, Low::BF16), None);
        assert_eq!(first_opset("Conv", Low::BF16), Some(22));
        let resize = signature("Resize", 18, Low::F16).expect("it takes it");
        assert!(resize.operands.contains(0) && !resize.operands.contains(2));
        let concat = signature("Concat", 18, Low::F16).expect("it takes it");
        assert!(concat.operands.contains(7) && !concat.results.contains(1));
        assert_eq!(signature("Upsample", 10, Low::F16), None);
    }
}
