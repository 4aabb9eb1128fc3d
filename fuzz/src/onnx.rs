//! Assertions about reading and writing ONNX files.

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

/// The tag of the last field of a `ModelProto`, which contains edits: field 1000, which no version of ONNX has.
const EDITS: [u8; 2] = [0xC2, 0x3E];

/// The path of the file. It doesn't exist, so that no input reads external data.
const PLACE: &str = "/nonexistent/directory/model.onnx";

/// Reads a file. If that succeeds, the module must be valid, each constant's bytes can be requested, and writing it
/// unchanged produces the same file. Returns `true` if the file was read.
pub fn check_read(bytes: &[u8]) -> bool {
    let module = match bounded("reading", bytes.len(), || load(bytes)) {
        Ok(module) => module,
        // The location is inside the file.
        Err(error) => {
            assert!(!error.to_string().ends_with('.'), "{error}");
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

/// Reads a file. If that succeeds, writes it without copied spans and reads it again, which must give the same module
/// as text. Then applies the edits of the file's field 1000, and writes the result with and without spans. Reading
/// these must succeed, too. Returns `true` if the file was read.
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

/// Messages about modules that edits can create and ONNX can't express, and about parts of the file that are only
/// decoded when it is written without spans.
const INEXPRESSIBLE: [&str; 4] = [
    "ONNX has no element type",
    "ONNX functions cannot be recursive",
    "but are different values",
    "(at byte ",
];

/// Writes a module and reads it again. Returns `None` if it can't be written, for example because a constant's bytes
/// can't be read.
fn reread(module: &Module, drop_spans: bool) -> Option<Module> {
    let written = written(module, drop_spans);
    if let Err(error) = &written {
        let is_inexpressible = INEXPRESSIBLE.iter().any(|part| error.contains(part));
        let mut constants = module
            .functions()
            .flat_map(|f| f.live_constants().map(|(id, _)| f.constant_data(id)));
        let is_unreadable = constants.any(|data| data.bytes().is_err());
        assert!(is_inexpressible || is_unreadable, "not written: {error}");
    }
    let again = load(&written.ok()?).expect("what was written is read");
    verified(&again, "what was written and read");
    Some(again)
}

/// Parts of a module's text that may differ between equivalent files, and their replacements.
static NOISE: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
    [
        // Locations in the file: in the reason why bytes can't be read, and in the writer's annotations. The name of a
        // sparse initializer moves to the end of its message.
        (
            r"( = unreadable\(| extra\(| const_extra\(|region_extra\(|\{sparse_value = opaque\().*",
            "",
        ),
        // It is unknown which fields of a tensor with an unknown type contain its data.
        (r#" raw\("[^"]*"\)"#, " raw"),
        // A declaration without a type is redundant.
        (r" : !\?", ""),
    ]
    .map(|(noise, rest)| (Regex::new(noise).expect("a regex"), rest))
});

/// Prints a module with the bytes of all constants, in an order that doesn't depend on the file.
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
    // The position of a constant among the ops has no meaning, and topological sorting of a graph may move it.
    // Duplicate keys of the metadata may move, too.
    let anywhere = |line: &String| line.contains(" = const ") || line.starts_with("  metadata ");
    let (mut sorted, ops): (Vec<_>, Vec<_>) = lines.partition(anywhere);
    sorted.sort_unstable();
    [sorted.join("\n"), ops.join("\n")].join("\n")
}

/// Sorts the attribute parameters in a function's header. Files list those with a default separately.
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

/// Applies the file's edits to the module. A rejected edit changes nothing.
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
    if let Err(error) = result {
        assert!(!error.message.ends_with('.'), "{}", error.message);
    }
}

fn nth<T: Copy>(items: &[T], at: u8) -> Option<T> {
    items.get(usize::from(at) % items.len().max(1)).copied()
}
