//! The host's tables: a C function for each, which finds the session behind its handle, checks the arguments, calls the
//! method of its name and writes what that returns.

use std::fmt::Write;

use super::rust::returns;
use super::table::{Argument, Function, Struct, Table};

/// Writes the tables and their functions.
pub(super) fn tables(table: &Table) -> String {
    let mut text = String::from(
        "//! The host's tables, and the C functions in them. Each finds the session behind its handle, checks the\n\
         //! arguments, calls the method of its name, of the IR's function or else of the session, and writes what\n\
         //! that returns; no panic leaves it.\n\
         //!\n\
         //! SAFETY of all is the contract's: handles are those that the host handed out and that haven't ended, and\n\
         //! what an argument points to is there as long as the call.\n\
         #![allow(clippy::undocumented_unsafe_blocks, reason = \"the contract is the reason of each\")]\n\n\
         use std::ffi::c_void;\n\n\
         use passdock_abi::*;\n\n\
         use super::op;\n\
         use super::session::context::ContextSession;\n\
         use super::session::function::FunctionSession;\n\
         use super::session::gate::Session;\n\
         use super::session::module::ModuleSession;\n\
         use super::session::{gate, input};\n",
    );
    for of in table.tables() {
        let place = of.table.as_deref().unwrap_or_default();
        let (name, constant) = (&of.name, place.to_uppercase());
        let _ = writeln!(text, "\npub(super) static {constant}: {name} = {name} {{");
        for function in &of.function {
            let module = function.written_in.as_deref().unwrap_or(place);
            let _ = writeln!(text, "{0}: Some({module}::{0}),", function.name);
        }
        let _ = writeln!(
            text,
            "..{name}::EMPTY\n}};\n\n{}",
            functions(table, of, place)
        );
    }
    text
}

fn functions(table: &Table, of: &Struct, place: &str) -> String {
    let generated = of
        .function
        .iter()
        .filter(|function| function.written_in.is_none());
    let functions: Vec<String> = generated
        .map(|function| self::function(table, function))
        .collect();
    match functions.is_empty() {
        true => String::new(),
        false => format!(
            "mod {place} {{\nuse super::*;\n\n{}}}\n",
            functions.join("\n")
        ),
    }
}

/// What stands behind a handle.
struct Session {
    /// The call that finds it, up to the closure's body.
    call: String,
    /// The expression of type `Edit<&Session>`.
    find: String,
    /// The name that the closure has for it.
    name: &'static str,
    /// The number of handles among the arguments.
    handles: usize,
}

fn session(function: &Function) -> Session {
    let handles: Vec<(&str, &str)> = function
        .arguments()
        .filter_map(|(name, argument)| match argument {
            Argument::Plain(ty) => Some((name, ty)),
            _ => None,
        })
        .take(2)
        .collect();
    let (name, ty) = handles.first().copied().unwrap_or_default();
    let of = |call: String, find: &str, session, handles| Session {
        call,
        find: format!("{find}::of({name})"),
        name: session,
        handles,
    };
    match (ty, handles.get(1)) {
        ("*mut Context", Some((f, "*mut Function"))) => of(
            format!("op::ask({name}, {f}, |question|"),
            "",
            "question",
            2,
        ),
        ("*mut Context", Some((f, "*const Function"))) => of(
            format!("op::ask_to_read({name}, {f}, |question|"),
            "",
            "question",
            2,
        ),
        ("*const Function", _) => of(
            format!("gate::read({name}, |state|"),
            "FunctionSession",
            "state",
            1,
        ),
        ("*mut Function", _) => of(
            format!("gate::edit({name}, |state|"),
            "FunctionSession",
            "state",
            1,
        ),
        ("*const Module" | "*mut Module", _) => of(
            format!("gate::call(ModuleSession::of({name}), |session|"),
            "ModuleSession",
            "session",
            1,
        ),
        ("*const Context" | "*mut Context", _) => of(
            format!("gate::call(ContextSession::of({name}), |session|"),
            "ContextSession",
            "session",
            1,
        ),
        _ => of(format!("op::answer({name}, |call|"), "", "call", 1),
    }
}

fn function(table: &Table, function: &Function) -> String {
    let parameters = function.parameters();
    let parameters = parameters
        .iter()
        .map(|(name, ty)| match ty.strip_prefix("fn ") {
            Some(callback) => format!("{name}: Option<{callback}>"),
            None => format!("{name}: {ty}"),
        });
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let (name, session) = (&function.name, session(function));
    let head = format!(
        "pub(super) unsafe extern \"C\" fn {name}({parameters}){}",
        returns(function)
    );
    let Session { call, find, .. } = &session;
    match function.returns.as_str() {
        "Status" => format!(
            "{head} {{\nunsafe {{\n{call} {{\n{}}})\n}}\n}}\n",
            body(table, function, &session)
        ),
        "" => format!(
            "{head} {{\nunsafe {{\n{call} {{\n{}}});\n}}\n}}\n",
            body(table, function, &session)
        ),
        "Str" => format!("{head} {{\ngate::last_error(unsafe {{ {find} }})\n}}\n"),
        _ => {
            let arguments = function
                .arguments()
                .skip(session.handles)
                .map(|(name, _)| name);
            let arguments = arguments.collect::<Vec<_>>().join(", ");
            format!(
                "{head} {{\ngate::guard(0, || match unsafe {{ {find} }} {{\n\
                 Ok(session) => session.{name}({arguments}),\nErr(_) => 0,\n}})\n}}\n"
            )
        }
    }
}

/// The arguments are checked, the method is called, its results are written.
fn body(table: &Table, function: &Function, session: &Session) -> String {
    let (mut text, mut arguments, mut outs) = (String::new(), Vec::new(), Vec::new());
    for (name, argument) in function.arguments().skip(session.handles) {
        let words = name.replace('_', " ");
        let mut checked = |value: String| {
            let _ = writeln!(text, "let {name} = {value};");
        };
        match argument {
            Argument::Plain("Text") => checked(format!("input::text({name}, \"{words}\")?")),
            Argument::Plain("*mut Context") => checked(format!("ContextSession::of({name})?")),
            Argument::Plain("*const Position") => {
                checked(format!("input::plain({name}, \"position\")?"))
            }
            Argument::Plain(ty) => {
                if ty
                    .strip_prefix("*const ")
                    .is_some_and(|ty| table.is_sized(ty))
                {
                    checked(format!("&input::described({name})?"));
                }
            }
            Argument::List(_) => checked(format!(
                "input::list({name}, {}, \"{words}\")?",
                function.count_of(name)
            )),
            Argument::SameLength(_, other) => {
                checked(format!(
                    "input::list({name}, {}, \"{words}\")?",
                    function.count_of(other)
                ));
            }
            Argument::Out(_) | Argument::View(_) | Argument::OutList(_) => {}
        }
        match argument {
            Argument::Out(ty) => outs.push((name, ty)),
            Argument::View(_) => {
                outs.extend([(name, "view"), ("count", "view")]);
            }
            Argument::OutList(_) => {
                outs.push((name, "list"));
                arguments.push("count".to_owned());
            }
            _ => arguments.push(name.to_owned()),
        }
    }
    let arguments = arguments.join(", ");
    let call = match &function.edit {
        Some(method) => format!("state.edit()?.{method}({arguments})"),
        None => format!("{}.{}({arguments})", session.name, function.name),
    };
    let _ = match &outs[..] {
        [] => writeln!(text, "{call}"),
        [(out, "list")] => writeln!(
            text,
            "if count > 0 {{\ninput::check_out({out})?;\n}}\ninput::answer_all({out}, {call}?);\nOk(())"
        ),
        [(out, ty)] if table.is_sized(ty) => writeln!(text, "input::fill({out}, {call}?)"),
        [(out, _)] => writeln!(text, "input::answer_with({out}, || {call})"),
        [(out, "view"), _] => writeln!(
            text,
            "input::check_out({out})?;\ninput::check_out(count)?;\nlet elements = {call}?;\n\
             input::answer({out}, elements.as_ptr());\ninput::answer(count, elements.len());\nOk(())"
        ),
        outs => {
            let each = |line: &dyn Fn(usize, &str) -> String| {
                let lines = outs.iter().enumerate().map(|(at, (out, _))| line(at, out));
                lines.collect::<String>()
            };
            writeln!(
                text,
                "{}let results = {call}?;\n{}Ok(())",
                each(&|_, out| format!("input::check_out({out})?;\n")),
                each(&|at, out| format!("input::answer({out}, results.{at});\n"))
            )
        }
    };
    text
}
