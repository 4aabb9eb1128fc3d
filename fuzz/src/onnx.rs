//! What is asserted of reading and writing ONNX files.

use std::path::Path;
use std::sync::LazyLock;

use passdock_abi::{ConstId, OpId, ValueId};
use passdock_ir::text::{self, Constants, PrintOptions};
use passdock_ir::{
    AttrData, ConstantData, Function, Module, NewAttr, NewOp, Position, TypeData, verify,
};
use passdock_onnx::{EncodeOptions, OnnxError, read_bytes, write};
use regex_lite::Regex;

use super::memory::bounded;

/// The tag of the last field of a `ModelProto`, which says what to edit: field 1000, which no version of ONNX has.
const EDITS: [u8; 2] = [0xC2, 0x3E];

/// Where the file is said to be: nothing is there, so no input reads external data.
const PLACE: &str = "/nonexistent/directory/model.onnx";

/// Reads a file; if that works, the module is right, each constant's bytes can be asked for, and
/// written unchanged it is the same file. `true`: it was parsed to its end.
pub fn check_read(bytes: &[u8]) -> bool {
    let module = match bounded("reading", bytes.len(), || load(bytes)) {
        Ok(module) => module,
        // A sentence that says where, inside the file.
        Err(error) => {
            assert!(error.to_string().ends_with('.'), "{error}");
            let is_inside = error.at.is_none_or(|at| at <= bytes.len() as u64);
            assert!(is_inside, "{error}");
            return false;
        }
    };
    verified(&module, "what was read");
    for f in module.functions() {
        for (id, _) in f.live_constants() {
            let read = || f.constant_data(id).bytes().is_ok();
            bounded("a constant of", bytes.len(), read);
        }
    }
    let written = bounded("writing", bytes.len(), || written(&module, false));
    let is_same = written.as_deref() == Ok(bytes);
    assert!(is_same, "written unchanged it is another file: {written:?}");
    true
}

/// Reads a file; if that works, writes it with no span copied and reads that again: the same module,
/// as text. Then edits it as the file's field 1000 says; what is written of the result, with spans
/// and without, is read and means the same. `true`: it was parsed to its end.
pub fn check_write(bytes: &[u8]) -> bool {
    let Ok(mut module) = load(bytes) else {
        return false;
    };
    let before = embedded(&module);
    let write = || reread(&module, true);
    let again = bounded("writing without spans", bytes.len(), write);
    if let Some(after) = again.as_ref().map(embedded) {
        assert!(before == after, "it is another module:\n{before}\n{after}");
    }
    edit(&mut module, bytes);
    verified(&module, "what was edited");
    reread(&module, false);
    reread(&module, true);
    true
}

fn load(bytes: &[u8]) -> Result<Module, OnnxError> {
    read_bytes(Path::new(PLACE), bytes.to_vec())
}

fn written(module: &Module, drop_spans: bool) -> Result<Vec<u8>, String> {
    let options = EncodeOptions {
        drop_spans,
        ..EncodeOptions::default()
    };
    let output = write(module, options).map_err(|error| error.to_string())?;
    output.to_bytes().map_err(|error| error.to_string())
}

/// What edits can make that ONNX can't say; and what of the file isn't read before it is written
/// without spans.
const UNSAYABLE: [&str; 5] = [
    "ONNX has no element type",
    "ONNX's functions can't be recursive",
    "isn't its input of this name any more",
    "aren't the same value any more",
    "(at byte ",
];

/// Writes a module and reads it again; `None`: it can't be written, as a constant whose bytes can't be read.
fn reread(module: &Module, drop_spans: bool) -> Option<Module> {
    let written = written(module, drop_spans);
    if let Err(error) = &written {
        let is_unsayable = UNSAYABLE.iter().any(|part| error.contains(part));
        let mut constants = module
            .functions()
            .flat_map(|f| f.live_constants().map(|(id, _)| f.constant_data(id)));
        let is_unreadable = constants.any(|data| data.bytes().is_err());
        assert!(is_unsayable || is_unreadable, "not written: {error}");
    }
    let again = load(&written.ok()?).expect("what was written is read");
    verified(&again, "what was written and read");
    Some(again)
}

/// What of a module's text a file may say in another way, and what is left of it.
static NOISE: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
    [
        // Places in the file: why bytes can't be read, and what the writer is told. And a sparse initializer's name
        // moves to the end of its message.
        (
            r"( = unreadable\(| extra\(| const_extra\(|region_extra\(|\{sparse_value = opaque\().*",
            "",
        ),
        // Which of the fields of a tensor of an unknown type are its data is anybody's guess.
        (r#" raw\("[^"]*"\)"#, " raw"),
        // A declaration without a type says nothing.
        (r" : !\?", ""),
    ]
    .map(|(noise, rest)| (Regex::new(noise).expect("a regex"), rest))
});

/// All of a module: a constant is its bytes, wherever in a file they stand.
fn embedded(module: &Module) -> String {
    let options = PrintOptions {
        constants: Constants::Embed,
        ..PrintOptions::default()
    };
    let text = text::print_with(module, &options);
    let text = NOISE.iter().fold(text, |text, (noise, rest)| {
        noise.replace_all(&text, *rest).into_owned()
    });
    let lines = text.lines().map(sorted_params);
    // Where a constant stands among the ops of its graph means nothing, and sorting a graph that isn't
    // sorted may move it; of the metadata, a key that stands twice moves.
    let anywhere = |line: &String| line.contains(" = const ") || line.starts_with("  metadata ");
    let (mut sorted, ops): (Vec<_>, Vec<_>) = lines.partition(anywhere);
    sorted.sort_unstable();
    [sorted.join("\n"), ops.join("\n")].join("\n")
}

/// A function's header with its attribute parameters sorted: files list those with a default apart.
fn sorted_params(line: &str) -> String {
    match line.split_once(" attributes {") {
        Some((head, params)) => {
            let mut params: Vec<&str> = params.trim_end_matches("} {").split(", ").collect();
            params.sort_unstable();
            format!("{head} attributes {}", params.join(", "))
        }
        _ => line.to_owned(),
    }
}

fn verified(module: &Module, what: &str) {
    let violations = verify::verify_module(module).err().unwrap_or_default();
    assert!(violations.is_empty(), "{what} is wrong: {violations:?}");
}

/// Edits the main graph as the file says; an edit that is refused changes nothing.
fn edit(module: &mut Module, bytes: &[u8]) {
    let tag = bytes.windows(2).rposition(|tag| tag == EDITS);
    // After its length.
    let steps = tag.and_then(|tag| bytes.get(tag + 3..)).unwrap_or_default();
    let names: Vec<_> = module.names().collect();
    for step in steps.chunks_exact(4).take(64) {
        let name = names[usize::from(step[1]) % names.len()];
        if let Some(f) = module.function_mut(name) {
            one_edit(f, step[0], step[2], step[3]);
        }
    }
}

fn one_edit(f: &mut Function, what: u8, a: u8, b: u8) {
    let ops: Vec<OpId> = f.walk(f.body()).collect();
    let values: Vec<ValueId> = (0..f.value_ids() as u32).map(ValueId).collect();
    let values: Vec<ValueId> = values
        .into_iter()
        .filter(|&value| f.live_value(value).is_ok())
        .collect();
    let (Some(op), Some(value)) = (nth(&ops, a), nth(&values, a)) else {
        return;
    };
    let (other, second) = (nth(&ops, b).unwrap_or(op), nth(&values, b).unwrap_or(value));
    let name = f.symbols().intern("fuzz.Op");
    let types = [f.value(value).ty];
    let new = NewOp {
        operands: &[value, ValueId::NONE, second],
        result_types: &types,
        ..NewOp::new(name)
    };
    let result = match what % 16 {
        0 | 1 => f.set_name(value, ["renamed", ""][usize::from(what % 2)]),
        2 => f.erase_op(op),
        3 => f.replace_uses(value, second),
        4 => f.set_operand(op, usize::from(b), value),
        5 => f.replace_op_with(op, &[second]),
        6 => f.move_op(op, Position::before(other)),
        7 => f.set_attr(op, &NewAttr::new(name, AttrData::Int(i64::from(b)))),
        8 => {
            let name = f
                .attrs(op)
                .get(usize::from(b))
                .map_or(name, |attr| attr.name);
            f.remove_attr(op, name)
        }
        9 => {
            let loc = f.add_name_loc(&format!("at.{b}"));
            f.set_loc(op, loc)
        }
        10 => f.erase_constant(ConstId(u32::from(a))),
        11 => {
            let ty = f.add_type(TypeData::Unknown);
            f.set_type(value, ty)
        }
        12 => f.create_op(&new, Position::before(op)).map(drop),
        13 => {
            let new = NewOp {
                take_attrs: b.is_multiple_of(2),
                take_regions: true,
                result_types: &[],
                ..new
            };
            f.replace_op(op, &new).map(drop)
        }
        14 => {
            let ty = f.add_type(TypeData::Tensor(passdock_abi::DType::U8, Some(&[])));
            let data = ConstantData::inline([b]);
            let constant = f.add_constant(ty, data, f.op(op).parent, "");
            constant.and_then(|constant| f.set_operand(op, 0, constant))
        }
        _ => f.replace_op_with(op, &[value, second]),
    };
    // A sentence, if it is refused.
    if let Err(error) = result {
        assert!(error.message.ends_with('.'), "{}", error.message);
    }
}

fn nth<T: Copy>(items: &[T], at: u8) -> Option<T> {
    items.get(usize::from(at) % items.len().max(1)).copied()
}
