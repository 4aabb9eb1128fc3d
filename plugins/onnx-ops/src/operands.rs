//! The element types of operands, read from `operands.txt`, which `tests/python/operand_types.py` generates.

use std::collections::HashMap;
use std::sync::OnceLock;

use passdock_plugin_api::DType;

use crate::infer::{Infer, Inferred, invalid};

/// The operands of an operator since one version of its domain.
struct Row {
    since: i64,
    /// The type variable of each operand, with an optional `*` (variadic) or `~` (variadic, any types).
    pattern: Vec<(u8, Option<u8>)>,
    /// The element types of each type variable.
    types: HashMap<u8, Vec<DType>>,
}

impl Row {
    /// Returns the type variable of an operand, or `None` if it may have any type.
    fn letter(&self, index: usize) -> Option<u8> {
        let last = self.pattern.last().filter(|(_, option)| option.is_some());
        match self.pattern.get(index).or(last)? {
            (_, Some(b'~')) => None,
            (letter, _) => Some(*letter),
        }
    }
}

/// Rejects an op with operands of unsupported element types, or of different types for one type variable.
pub(crate) fn check(op: &Infer) -> Inferred {
    let Some(row) = row(op.name, op.version) else {
        return Ok(());
    };
    let mut first: HashMap<u8, (usize, DType)> = HashMap::new();
    for index in 0..op.host.operand_count() {
        let (Some(letter), Ok(dtype)) = (row.letter(index), op.dtype(index)) else {
            continue;
        };
        let Some(types) = row.types.get(&letter).filter(|types| !types.is_empty()) else {
            continue;
        };
        let name = |dtype: DType| dtype.name().unwrap_or("unknown");
        if dtype.name().is_some() && !types.contains(&dtype) {
            let types: Vec<&str> = types.iter().map(|&dtype| name(dtype)).collect();
            return invalid!(
                "operand {index} has unsupported element type {}; supported: {}",
                name(dtype),
                types.join(", ")
            );
        }
        let &mut (other, known) = first.entry(letter).or_insert((index, dtype));
        if known != dtype {
            return invalid!(
                "operand {index} has element type {}, but operand {other} has {}",
                name(dtype),
                name(known)
            );
        }
    }
    Ok(())
}

/// Returns the operands of an operator in a version of its domain.
fn row(name: &str, version: i64) -> Option<&'static Row> {
    static ROWS: OnceLock<HashMap<&str, Vec<Row>>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| read(include_str!("operands.txt")));
    rows.get(name)?
        .iter()
        .rev()
        .find(|row| row.since <= version)
}

/// Parses the file. Skips invalid lines, which a test rules out.
fn read(text: &'static str) -> HashMap<&'static str, Vec<Row>> {
    let mut sets: HashMap<&str, Vec<DType>> = HashMap::new();
    let mut rows: HashMap<&str, Vec<Row>> = HashMap::new();
    for line in text.lines() {
        match line.split_once('=') {
            Some((number, types)) => {
                let types = types.split_whitespace().filter_map(DType::from_name);
                _ = sets.insert(number.trim(), types.collect());
            }
            None => {
                let Some((name, row)) = operator(line, &sets) else {
                    continue;
                };
                rows.entry(name).or_default().push(row);
            }
        }
    }
    rows
}

/// Parses a line such as `onnx.Gather 1 T U; T 17 U 13`.
fn operator<'a>(line: &'a str, sets: &HashMap<&str, Vec<DType>>) -> Option<(&'a str, Row)> {
    let (head, types) = line.split_once(';')?;
    let mut head = head.split_whitespace();
    let (name, since) = (head.next()?, head.next()?.parse().ok()?);
    let operand = |pair: &str| Some((*pair.as_bytes().first()?, pair.as_bytes().get(1).copied()));
    let pattern = head.map(operand).collect::<Option<Vec<_>>>()?;
    let words: Vec<&str> = types.split_whitespace().collect();
    let of_letter = |pair: &[&str]| {
        let letter = *pair.first()?.as_bytes().first()?;
        Some((letter, sets.get(pair.get(1)?)?.clone()))
    };
    let types = words.chunks(2).map(of_letter).collect::<Option<_>>()?;
    let row = Row {
        since,
        pattern,
        types,
    };
    Some((name, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_parsed() {
        let text = include_str!("operands.txt");
        let rows = read(text);
        let lines = text.lines().filter(|line| !line.contains('=')).count();
        assert_eq!(rows.values().map(Vec::len).sum::<usize>(), lines);
        let words = text.lines().filter_map(|line| line.split_once('='));
        let mut words = words.flat_map(|(_, types)| types.split_whitespace());
        assert_eq!(words.find(|pair| DType::from_name(pair).is_none()), None);
    }
}
