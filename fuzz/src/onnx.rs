//! What is asserted of reading and writing ONNX files.

use std::path::Path;
use std::sync::Arc;

use passdock_abi::{ConstId, OpId, ValueId};
use passdock_ir::text::{self, Constants, PrintOptions};
use passdock_ir::{
    AttrData, ConstantData, Function, Module, NewAttr, NewOp, Position, TypeData, verify,
};
use passdock_onnx::{EncodeOptions, OnnxError, read_bytes, write};

use super::memory::bounded;
use super::wire;

/// The field of a `ModelProto` that says what to edit: one that no version of ONNX has.
const EDITS: u32 = 1000;

/// Where the file is said to be: nothing is there, so no input reads external data.
const PLACE: &str = "/nonexistent/directory/model.onnx";

/// Reads a file; if that works, the module is right, each constant's bytes can be asked for, and
/// written unchanged it is the same file. `true`: it was parsed to its end.
pub fn check_read(bytes: &[u8]) -> bool {
    let module = match bounded("reading", bytes.len(), || load(bytes)) {
        Ok(module) => module,
        Err(error) => {
            check_error(&error, bytes);
            return false;
        }
    };
    verified(&module, "what was read");
    for f in module.functions() {
        for (id, _) in f.live_constants() {
            let data = f.constant_data(id);
            _ = bounded("a constant of", bytes.len(), || {
                data.bytes().map(<[u8]>::len)
            });
        }
    }
    let written = bounded("writing", bytes.len(), || written(&module, false));
    assert!(
        written.as_deref() == Ok(bytes),
        "written unchanged it is another file: {written:?}"
    );
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
    let fresh = bounded("writing without spans", bytes.len(), || {
        written(&module, true)
    });
    if let Some(fresh) = readable(&module, fresh) {
        same(&before, &fresh, "written without spans");
    }
    edit(&mut module, bytes);
    verified(&module, "what was edited");
    for fresh in [false, true] {
        if let Some(edited) = readable(&module, written(&module, fresh)) {
            let again = load(&edited).unwrap_or_else(|error| {
                panic!(
                    "edited, it isn't read again: {error}\n{}",
                    text::print(&module)
                )
            });
            verified(&again, "what was edited, written and read");
        }
    }
    true
}

fn load(bytes: &[u8]) -> Result<Module, OnnxError> {
    read_bytes(Path::new(PLACE), bytes.to_vec())
}

fn written(module: &Module, drop_spans: bool) -> Result<Vec<u8>, String> {
    let output = write(
        module,
        EncodeOptions {
            drop_spans,
            ..EncodeOptions::default()
        },
    )
    .map_err(|error| error.to_string())?;
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

/// What was written; a constant whose bytes can't be read can't be written.
fn readable(module: &Module, written: Result<Vec<u8>, String>) -> Option<Vec<u8>> {
    let whole = |f: &Arc<Function>| {
        let mut constants = f.live_constants();
        constants.all(|(id, _)| f.constant_data(id).bytes().is_ok())
    };
    match written {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            let unsayable = UNSAYABLE.iter().any(|part| error.contains(part));
            assert!(
                unsayable || !module.functions().all(whole),
                "not written: {error}"
            );
            None
        }
    }
}

fn same(before: &str, bytes: &[u8], how: &str) {
    let module = load(bytes).unwrap_or_else(|error| panic!("{how} it isn't read: {error}"));
    let after = embedded(&module);
    assert!(
        before == after,
        "{how} it is another module:\n{before}\n{after}"
    );
}

/// All of a module: a constant is its bytes, wherever in a file they stand.
fn embedded(module: &Module) -> String {
    let options = PrintOptions {
        constants: Constants::Embed,
        ..PrintOptions::default()
    };
    let text = text::print_with(module, &options);
    // Places in the file: why bytes can't be read, and what the writer is told. And a sparse
    // initializer's name moves to the end of its message.
    let parts = [
        " = unreadable(",
        " extra(",
        " const_extra(",
        "region_extra(",
        "{sparse_value = opaque(",
    ];
    let before = |line| {
        let cut = |line: &'_ str, part| line.find(part).unwrap_or(line.len());
        parts.iter().map(|part| cut(line, part)).min().unwrap_or(0)
    };
    let lines = text.lines().map(|line| &line[..before(line)]);
    // A declaration without a type says nothing.
    let lines = lines.map(|line| without_raw(&sorted_params(line).replace(" : !?", "")));
    // Where a constant stands among the ops of its graph means nothing, and sorting a graph that isn't
    // sorted may move it; of the metadata, a key that stands twice moves.
    let anywhere = |line: &String| line.contains(" = const ") || line.starts_with("  metadata ");
    let (mut sorted, ops): (Vec<_>, Vec<_>) = lines.partition(anywhere);
    sorted.sort_unstable();
    [sorted.join("\n"), ops.join("\n")].join("\n")
}

/// Without the bytes of elements of a type that isn't known: which of a broken tensor's fields are its
/// data is anybody's guess.
fn without_raw(line: &str) -> String {
    let mut parts = line.split(" raw(\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |line, part| {
        let rest = part.split_once("\")").map_or("", |(_, rest)| rest);
        line + " raw" + rest
    })
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

/// A sentence that says where, inside the file.
fn check_error(error: &OnnxError, bytes: &[u8]) {
    let text = error.to_string();
    assert!(text.ends_with('.'), "{text}");
    assert!(error.at.is_none_or(|at| at <= bytes.len() as u64), "{text}");
}

/// Edits the main graph as the file says; an edit that is refused changes nothing.
fn edit(module: &mut Module, bytes: &[u8]) {
    let fields = wire::fields(bytes).unwrap_or_default();
    let steps = fields.iter().rfind(|field| field.number == EDITS);
    let Some(steps) = steps.map(|field| &bytes[field.value.clone()]) else {
        return;
    };
    let names: Vec<_> = module.names().collect();
    for step in steps.chunks_exact(4).take(64) {
        let &[what, function, a, b] = step else {
            continue;
        };
        let name = names[usize::from(function) % names.len()];
        if let Some(f) = module.function_mut(name) {
            one_edit(f, what, a, b);
        }
    }
}

fn one_edit(f: &mut Function, what: u8, a: u8, b: u8) {
    let ops: Vec<OpId> = f.walk(f.body()).collect();
    let all = (0..f.value_ids() as u32).map(ValueId);
    let values: Vec<ValueId> = all.filter(|&value| f.live_value(value).is_ok()).collect();
    let (Some(&op), Some(&other)) = (nth(&ops, a), nth(&ops, b)) else {
        return;
    };
    let (Some(&value), Some(&second)) = (nth(&values, a), nth(&values, b)) else {
        return;
    };
    let symbol = |f: &Function, text: &str| f.symbols().intern(text);
    let done = match what % 16 {
        0 => f.set_name(value, &format!("renamed.{b}")),
        1 => f.set_name(value, ""),
        2 => f.erase_op(op),
        3 => f.replace_uses(value, second),
        4 => f.set_operand(op, usize::from(b), value),
        5 => f.replace_op_with(op, &[second]),
        6 => f.move_op(op, Position::before(other)),
        7 => {
            let name = symbol(f, "fuzz");
            f.set_attr(op, &NewAttr::new(name, AttrData::Int(i64::from(b))))
        }
        8 => match f.attrs(op).get(usize::from(b)).map(|attr| attr.name) {
            Some(name) => f.remove_attr(op, name),
            None => return,
        },
        9 => {
            let loc = f.add_name_loc(&format!("at.{b}"));
            f.set_loc(op, loc)
        }
        10 => f.erase_constant(ConstId(u32::from(a))),
        11 => {
            let ty = f.add_type(TypeData::Unknown);
            f.set_type(value, ty)
        }
        12 => {
            let name = symbol(f, "fuzz.Op");
            let types = [f.value(value).ty];
            let new = NewOp {
                operands: &[value, ValueId::NONE, second],
                result_types: &types,
                ..NewOp::new(name)
            };
            f.create_op(&new, Position::before(op)).map(drop)
        }
        13 => {
            let name = symbol(f, "onnx.Neg");
            let new = NewOp {
                operands: &[second],
                take_attrs: b.is_multiple_of(2),
                take_regions: true,
                ..NewOp::new(name)
            };
            f.replace_op(op, &new).map(drop)
        }
        14 => {
            let ty = f.add_type(TypeData::Tensor(passdock_abi::DType::U8, Some(&[])));
            let data = ConstantData::inline([b]);
            let made = f.add_constant(ty, data, f.op(op).parent, "");
            made.and_then(|made| f.set_operand(op, 0, made))
        }
        _ => f.replace_op_with(op, &[value, second]),
    };
    // A sentence, if it is refused.
    if let Err(error) = done {
        assert!(error.message.ends_with('.'), "{}", error.message);
    }
}

fn nth<T>(of: &[T], at: u8) -> Option<&T> {
    of.get(usize::from(at) % of.len().max(1))
}
