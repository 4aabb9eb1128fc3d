//! The calls of the fuzz target `edits`: each function of the host's tables with arguments that a step picks.

use std::fmt::Write;

use super::table::{Argument, Function, Struct, Table};

/// The tables whose functions are called.
const TABLES: [&str; 5] = ["functions", "modules", "context", "ops", "definitions"];
/// Functions after which other handles live than before, or whose result the target checks: it has code for each.
const OWN: [&str; 8] = [
    "last_error",
    "snapshot",
    "release",
    "edit",
    "create_function",
    "remove_function",
    "run_pass",
    "current",
];
/// Structs whose fields have to fit each other: the target fills them.
const FILLED: [&str; 3] = ["TypeDesc", "AttrDesc", "LaidOut"];

/// Writes the calls, and how the structs that they take are filled.
pub(super) fn calls(table: &Table) -> String {
    let mut text = String::from(
        "//! A call for each function of the host's tables, with arguments that the step picks.\n\
         //!\n\
         //! SAFETY of all: handles are those that the host gave out, of the pass that runs; what arguments point to\n\
         //! lives as long as the [`Call`], or is null, misaligned, or longer than the host takes.\n\
         #![allow(\n\
         clippy::undocumented_unsafe_blocks,\n\
         clippy::match_single_binding,\n\
         clippy::unit_arg,\n\
         reason = \"generated: all calls look the same\"\n\
         )]\n\n\
         use std::hint::black_box;\n\n\
         use passdock_abi::*;\n\
         use passdock_core::boundary::host;\n\n\
         use super::arguments::{Argument, Call};\n",
    );
    for of in table.structs() {
        let is_input = of.name.ends_with("Desc")
            || ["Diagnostic", "Label", "Failure"].contains(&of.name.as_str());
        if is_input && !FILLED.contains(&of.name.as_str()) {
            text += &argument(of);
        }
    }
    for of in table.tables() {
        let name = of.table.as_deref().unwrap_or_default();
        if !TABLES.contains(&name) {
            continue;
        }
        let called = of
            .function
            .iter()
            .filter(|function| !OWN.contains(&function.name.as_str()));
        let arms: Vec<String> = called.map(call).collect();
        let _ = write!(
            text,
            "\n/// Calls a function of `{}`; `None` if it returns no status.\n\
             pub(super) fn {name}(c: &Call<'_>) -> Option<Status> {{\n\
             // SAFETY: the host's tables live for good.\nlet t = unsafe {{ &*host().get().{name} }};\n\
             Some(match c.step.below({}) {{\n",
            of.name,
            arms.len()
        );
        for (at, arm) in arms.iter().enumerate() {
            let pattern = if at + 1 == arms.len() {
                "_".to_owned()
            } else {
                at.to_string()
            };
            let _ = writeln!(text, "{pattern} => {{\n{arm}}}");
        }
        text += "})\n}\n";
    }
    text
}

fn call(function: &Function) -> String {
    let (mut before, mut arguments) = (String::new(), Vec::new());
    let mut let_ = |names: &str, value: String| {
        let _ = writeln!(before, "let {names} = {value};");
    };
    for (at, (name, argument)) in function.arguments().enumerate() {
        match argument {
            Argument::Plain("*const Function" | "*mut Function") if name == "source" => {
                arguments.push("c.source.handle".to_owned());
            }
            Argument::Plain(ty) if ty.starts_with('*') && handle(ty).is_some() => {
                arguments.push(format!("c.{}", handle(ty).unwrap_or_default()));
            }
            Argument::Plain(ty) => {
                let ty = if ty == "Text" { "Str" } else { ty };
                let value = match ty.strip_prefix("*const ") {
                    Some(to) => format!("c.described::<{to}>()"),
                    None => format!("c.get::<{ty}>()"),
                };
                let name = format!("{name}{at}");
                let_(&name, value);
                arguments.push(name);
            }
            Argument::List(ty) => {
                let_(
                    &format!("({name}, {name}_count)"),
                    format!("c.list::<{ty}>()"),
                );
                arguments.extend([name.to_owned(), format!("{name}_count")]);
            }
            Argument::SameLength(ty, _) => {
                let_(name, format!("c.list::<{ty}>().0"));
                arguments.push(name.to_owned());
            }
            Argument::Out(ty) => arguments.push(format!("c.room::<{ty}>()")),
            Argument::View(ty) => {
                let_("(out, count)", format!("c.view::<{ty}>()"));
                arguments.extend(["out".to_owned(), "count".to_owned()]);
            }
            Argument::OutList(ty) => {
                let_("(out, count)", format!("c.rooms::<{ty}>()"));
                arguments.extend(["out".to_owned(), "count".to_owned()]);
            }
        }
    }
    let call = format!(
        "unsafe {{ t.{}.expect(\"is there\")({}) }}",
        function.name,
        arguments.join(", ")
    );
    match function.returns.as_str() {
        "Status" => format!("{before}{call}\n"),
        _ => format!("{before}black_box({call});\nreturn None;\n"),
    }
}

/// The field that has a handle.
fn handle(ty: &str) -> Option<&'static str> {
    Some(match ty.split_whitespace().last()? {
        "Function" => "function",
        "Module" => "module",
        "Context" => "context",
        "OpCall" => "call",
        "Symbols" => "symbols",
        _ => return None,
    })
}

/// How a struct is filled: a pointer and the next count are a list; a second pointer before it shares the count.
fn argument(of: &Struct) -> String {
    let (mut before, mut fields, mut counted) = (String::new(), String::new(), "");
    for (at, field) in of.fields.iter().enumerate() {
        let (name, ty) = (field.name.as_str(), field.ty.as_str());
        let mut list = |how: &str, to: &str| {
            let next = of.fields[at..].iter().find(|field| is_count(&field.name));
            let next = next.map_or("", |field| &field.name);
            let count = if counted == next { "_" } else { next };
            let _ = writeln!(before, "let ({name}, {count}) = c.{how}::<{to}>();");
            counted = next;
            name.to_owned()
        };
        let value = match (name, ty.split_once(' ')) {
            ("struct_size", _) => "c.step.size(size_of::<Self>())".to_owned(),
            ("flags", _) => "c.flags()".to_owned(),
            ("reserved", _) => "0".to_owned(),
            ("source", _) => "c.source".to_owned(),
            (_, Some(("*const", to))) => list("list", to),
            (_, Some(("*mut", to))) => list("rooms", to),
            _ if is_count(name) => name.to_owned(),
            _ => match name.strip_suffix("_stride") {
                Some(list) => format!("c.step.stride(size_of::<{}>())", element(of, list)),
                None => format!("c.get::<{ty}>()"),
            },
        };
        let _ = match value == name {
            true => writeln!(fields, "{name},"),
            false => writeln!(fields, "{name}: {value},"),
        };
    }
    let (name, is_sized) = (&of.name, of.is_sized());
    format!(
        "\nimpl Argument for {name} {{\nconst IS_SIZED: bool = {is_sized};\n\n\
         fn argument(c: &Call<'_>) -> {name} {{\n{before}{name} {{\n{fields}}}\n}}\n}}\n"
    )
}

fn is_count(name: &str) -> bool {
    name == "count" || name.ends_with("_count")
}

/// The type of what a list with a stride has.
fn element<'s>(of: &'s Struct, list: &str) -> &'s str {
    let field = of
        .fields
        .iter()
        .find(|field| field.name.trim_end_matches('s') == list);
    field
        .and_then(|field| field.ty.strip_prefix("*const "))
        .unwrap_or("u8")
}
