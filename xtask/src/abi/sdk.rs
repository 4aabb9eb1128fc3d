//! The SDK's calls of the host: a method for each function of the host's tables.

use std::fmt::Write;

use super::docs;
use super::table::{Argument, Function, Table};

/// Writes the calls.
pub(super) fn calls(table: &Table) -> String {
    let mut text = String::from(
        "//! The calls of the host's functions. Each is refused if the host is older than the function.\n\
         //!\n\
         //! SAFETY of all: a handle lives as long as the value that holds it, and what arguments point to until the\n\
         //! call returns.\n\n\
         use std::ffi::c_void;\n\n\
         use passdock_abi as abi;\n\
         use passdock_abi::*;\n\n\
         use super::context::RawContext;\n\
         use super::function::RawFunction;\n\
         use super::lent::Lent;\n\
         use super::module::RawModule;\n\
         use super::op_call::RawOpCall;\n\
         use super::tables::{bytes, elements, text, there, zeroed};\n\
         use crate::data::EditError;\n",
    );
    for of in table.tables() {
        let place = of.table.as_deref().unwrap_or_default();
        for group in of.function.chunk_by(|a, b| receiver(a) == receiver(b)) {
            let Some(receiver) = receiver(&group[0]) else {
                continue;
            };
            let called = group.iter().filter(|function| !function.not_in_sdk);
            let methods = called.map(|function| method(table, place, function));
            let methods = methods.collect::<Vec<_>>().join("\n");
            let _ = write!(text, "\nimpl {receiver} {{\n{methods}}}\n");
        }
    }
    text
}

/// The type whose method a function is; `None` if it takes no handle of a call.
fn receiver(function: &Function) -> Option<&'static str> {
    let (_, Argument::Plain(handle)) = function.arguments().next()? else {
        return None;
    };
    match handle.split_whitespace().last()? {
        "Function" => Some("RawFunction"),
        "Module" => Some("RawModule"),
        "Context" => Some("RawContext"),
        "OpCall" => Some("RawOpCall"),
        _ => None,
    }
}

/// What a method is put together from.
#[derive(Default)]
struct Parts {
    /// The receiver, and the parameters.
    parameters: Vec<String>,
    /// What is done before the call.
    before: String,
    /// The arguments.
    arguments: Vec<String>,
    /// The types and the values of the results.
    types: Vec<String>,
    results: Vec<String>,
    /// Who has the sentence of an error.
    teller: String,
    /// The op that an error is about.
    subject: String,
    is_unsafe: bool,
}

fn method(table: &Table, place: &str, function: &Function) -> String {
    let mut parts = Parts {
        teller: "self".into(),
        subject: "None".into(),
        ..Parts::default()
    };
    for (at, (name, argument)) in function.arguments().enumerate() {
        match argument {
            Argument::Plain(ty) if at == 0 => {
                let changes = ["*mut Function", "*mut Module"].contains(&ty);
                parts
                    .parameters
                    .push(if changes { "&mut self" } else { "&self" }.into());
                parts.arguments.push("self.handle".into());
                if ty == "*mut OpCall" {
                    parts.subject = "Some(self.op)".into();
                }
            }
            Argument::Plain(ty) => plain(table, &mut parts, name, ty),
            Argument::List(ty) => {
                parts.is_unsafe |= ty == "Str";
                parts.parameters.push(format!("{name}: &[{ty}]"));
                parts
                    .arguments
                    .extend([format!("{name}.as_ptr()"), format!("{name}.len()")]);
            }
            Argument::SameLength(ty, other) => {
                parts.parameters.push(format!("{name}: &[{ty}]"));
                let _ = writeln!(parts.before, "assert_eq!({name}.len(), {other}.len());");
                parts.arguments.push(format!("{name}.as_ptr()"));
            }
            Argument::OutList(ty) => {
                parts.parameters.push(format!("{name}: &mut [{ty}]"));
                parts
                    .arguments
                    .extend([format!("{name}.as_mut_ptr()"), format!("{name}.len()")]);
            }
            Argument::View(ty) => {
                let _ = writeln!(
                    parts.before,
                    "let (mut {name}, mut count) = (std::ptr::null(), 0);"
                );
                parts
                    .arguments
                    .extend([format!("&mut {name}"), "&mut count".into()]);
                parts.types.push(format!("&[{ty}]"));
                parts
                    .results
                    .push(format!("unsafe {{ elements({name}, count) }}"));
            }
            Argument::Out(ty) => {
                let empty = match table.is_sized(ty) {
                    true => format!("{}::EMPTY", rust_type(ty)),
                    false => format!("unsafe {{ zeroed::<{}>() }}", rust_type(ty)),
                };
                let _ = writeln!(parts.before, "let mut {name} = {empty};");
                parts.arguments.push(format!("&mut {name}"));
                let (ty, result) = match ty {
                    "Str" => ("&str".into(), format!("unsafe {{ text({name}) }}")),
                    "Bytes" => ("&[u8]".into(), format!("unsafe {{ bytes({name}) }}")),
                    ty => (rust_type(ty), name.to_owned()),
                };
                parts.types.push(ty);
                parts.results.push(result);
            }
        }
    }
    written(place, function, &parts)
}

fn plain(table: &Table, parts: &mut Parts, name: &str, ty: &str) {
    let (parameter, argument) = match ty {
        "Str" | "Text" => ("&str".into(), format!("Str::new({name})")),
        "*mut Context" => ("&RawContext".into(), format!("{name}.handle")),
        "*mut Function" => ("&mut RawFunction".into(), format!("{name}.handle")),
        "*const Function" => ("&RawFunction".into(), format!("{name}.handle")),
        _ => match ty.strip_prefix("*const ").filter(|to| *to != "c_void") {
            Some(to) if table.is_sized(to) => (
                format!("&Lent<'_, {}>", rust_type(to)),
                format!("{name}.get()"),
            ),
            Some(to) => (rust_type(to), format!("&{name}")),
            None => {
                parts.is_unsafe |= ty.contains("c_void") || ty.ends_with("Ref");
                (rust_type(ty), name.to_owned())
            }
        },
    };
    if ty.ends_with("Context") || ty.ends_with(" Function") {
        let what = if ty.ends_with("Context") {
            "context"
        } else {
            "function"
        };
        let _ = writeln!(
            parts.before,
            "self.tables.expect({name}.tables, \"the {what}\")?;"
        );
        if name == "f" {
            parts.teller = "f".into();
        }
    }
    if ty == "OpId" {
        parts.subject = format!("{name}.option()");
    }
    parts.parameters.push(format!("{name}: {parameter}"));
    parts.arguments.push(argument);
}

fn written(place: &str, function: &Function, parts: &Parts) -> String {
    let Parts {
        parameters,
        before,
        arguments,
        types,
        results,
        teller,
        subject,
        is_unsafe,
    } = parts;
    let name = &function.name;
    let head = if *is_unsafe {
        "pub(crate) unsafe fn"
    } else {
        "pub(crate) fn"
    };
    let (parameters, arguments) = (parameters.join(", "), arguments.join(", "));
    let head = format!("{}{head} {name}({parameters})", docs::rust(&function.doc));
    let call = format!("unsafe {{ ask({arguments}) }}");
    let list = |all: &[String]| match all {
        [one] => one.clone(),
        all => format!("({})", all.join(", ")),
    };
    match function.returns.as_str() {
        "Status" => format!(
            "{head} -> Result<{}, EditError> {{\nlet ask = there(self.tables.{place}.{name}, \"{name}\", \
                {subject})?;\n\
             {before}let status = {call};\n{teller}.done(status, \"{name}\", {subject}){}\n}}\n",
            list(types),
            if results.is_empty() {
                String::new()
            } else {
                format!("?;\nOk({})", list(results))
            }
        ),
        "" => {
            format!("{head} {{\nif let Some(ask) = self.tables.{place}.{name} {{\n{call}\n}}\n}}\n")
        }
        "Str" => format!(
            "{head} -> &str {{\nmatch self.tables.{place}.{name} {{\nSome(ask) => unsafe {{ text(ask({arguments})) \
                }},\nNone => \"\",\n}}\n}}\n"
        ),
        ty => format!(
            "#[inline]\n{head} -> Option<{ty}> {{\nlet ask = self.tables.{place}.{name}?;\nSome({call})\n}}\n"
        ),
    }
}

/// A type as the SDK has it.
fn rust_type(ty: &str) -> String {
    match ty.strip_prefix("fn ") {
        Some(callback) => format!("Option<{callback}>"),
        // The SDK's own has that name, too.
        None if ["Diagnostic", "Failure"].contains(&ty) => format!("abi::{ty}"),
        None => ty.to_owned(),
    }
}
