//! Tests on real models: those of the repository and of the directory `PASSDOCK_MODELS`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use passdock_abi::{LocKind, OpId, symbol};

use super::{bytes_of, fresh_bytes_of, main_of};
use crate::format::wire::{Message, Value, push_fixed, push_varints};

fn models() -> Vec<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let others = std::env::var_os("PASSDOCK_MODELS").map(PathBuf::from);
    let files = [Some(ours), others]
        .into_iter()
        .flatten()
        .flat_map(|directory| {
            let files = std::fs::read_dir(directory).unwrap();
            files.map(|file| file.unwrap().path())
        });
    let mut models: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|end| end == "onnx"))
        .collect();
    models.sort();
    models
}

#[test]
fn real_models_round_trip() {
    for path in models() {
        let bytes = std::fs::read(&path).unwrap();
        let module = crate::read(&path).unwrap();
        assert!(bytes_of(&module) == bytes, "{}", path.display());
        let fresh = fresh_bytes_of(&module);
        assert!(
            sorted_fields(&fresh) == sorted_fields(&bytes),
            "{}",
            path.display()
        );
    }
}

#[test]
fn renaming_a_node_changes_only_its_name() {
    for path in models() {
        let bytes = std::fs::read(&path).unwrap();
        let mut module = crate::read(&path).unwrap();
        let f = main_of(&mut module);
        let named = |op: &OpId| {
            f.loc(f.op(*op).loc)
                .is_some_and(|loc| loc.kind == LocKind::NAME)
        };
        let ops: Vec<OpId> = f.ops_in(f.body()).filter(named).collect();
        let Some(&op) = ops.get(ops.len() / 2) else {
            continue;
        };
        let old = f.text(f.loc(f.op(op).loc).unwrap().name).to_owned();
        // A name of the same length, so that no enclosing length changes.
        let new: String = old.chars().rev().collect();
        if new == old || f.op(op).name == symbol::RETURN {
            continue;
        }
        let loc = f.add_name_loc(&new);
        f.set_loc(op, loc).unwrap();
        let renamed = bytes_of(&module);
        assert_eq!(renamed.len(), bytes.len());
        let differs = |&at: &usize| renamed[at] != bytes[at];
        let first = (0..bytes.len()).find(differs).unwrap();
        let last = (0..bytes.len()).rev().find(differs).unwrap();
        assert!(last - first < new.len(), "{}", path.display());
        assert!(
            new.as_bytes()
                .windows(last + 1 - first)
                .any(|part| part == &renamed[first..=last])
        );
    }
}

/// Prints a file's fields sorted by number in each message, as a protobuf parser sees them.
pub(super) fn sorted_fields(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut stack = vec![(0, "Model", Message::whole(bytes))];
    while let Some((depth, kind, message)) = stack.pop() {
        let mut fields: Vec<_> = message.fields().map(Result::unwrap).collect();
        fields.sort_by_key(|field| field.number);
        let mut inner = Vec::new();
        for field in fields {
            let head = format!("{depth} {kind}.{}", field.number);
            match (child(kind, field.number), field.value) {
                // Packed and unpacked lists are the same.
                ("ints", value) => {
                    let mut ints = Vec::new();
                    push_varints(value, &mut ints).unwrap();
                    ints.iter()
                        .for_each(|int| writeln!(out, "{head} {int}").unwrap());
                }
                ("floats", value) => {
                    let mut bytes = Vec::new();
                    push_fixed(value, 4, &mut bytes).unwrap();
                    let words = bytes.as_chunks::<4>().0;
                    words
                        .iter()
                        .for_each(|word| writeln!(out, "{head} {word:x?}").unwrap());
                }
                ("", value) => {
                    writeln!(out, "{head} {:?}", plain(field.record.bytes, value)).unwrap();
                }
                (child, Value::Bytes(body)) => {
                    writeln!(out, "{head}").unwrap();
                    inner.push((depth + 1, child, body));
                }
                (_, value) => writeln!(out, "{head} {value:?}").unwrap(),
            }
        }
        stack.extend(inner.into_iter().rev());
    }
    out
}

/// Returns the value without its tag and length, whose encodings may differ.
fn plain<'a>(record: &'a [u8], value: Value<'a>) -> (&'a [u8], Option<u64>) {
    match value {
        Value::Varint(value) => (&[], Some(value)),
        Value::Bytes(body) => (body.bytes, None),
        _ => (record, None),
    }
}

/// Returns the kind of message in a field; empty if it isn't compared.
fn child(kind: &str, number: u32) -> &'static str {
    match (kind, number) {
        ("Model", 7) | ("Attribute", 6 | 11) => "Graph",
        ("Model", 25) => "Function",
        ("Model", 8) | ("Function", 9) => "Opset",
        ("Graph", 1) | ("Function", 7) => "Node",
        ("Graph", 5) | ("Attribute", 5 | 10) => "Tensor",
        ("Graph", 11..=13) | ("Function", 12) => "ValueInfo",
        ("Node", 5) | ("Function", 11) => "Attribute",
        ("ValueInfo", 2) | ("Attribute", 14 | 15) => "Type",
        ("Tensor", 1 | 5 | 7 | 11) | ("Attribute", 8) => "ints",
        ("Tensor", 4) | ("Attribute", 7) => "floats",
        _ => "",
    }
}
