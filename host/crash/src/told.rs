//! A death as it is told by the process that dies: as JSON, and as people read it. A signal's handler does it.

use std::fmt::{self, Write};

use crate::CallKind;
use crate::call::{Call, Callee};
use crate::death::DeathCause;
use crate::record::{Record, Shown};

/// The room for a name or a path in a record, in bytes.
const ROOM: usize = 600;

/// The words before the sentence on standard error.
pub(crate) const CODE: &str = "error[crashed]: ";

/// The death as [`crate::Death`] is written in JSON.
pub(crate) fn as_json(
    out: &mut Record,
    cause: &DeathCause,
    culprit: Option<&Call<'_>>,
    pass: Option<(Callee<'_>, Option<&str>)>,
) -> fmt::Result {
    match cause {
        DeathCause::Signal {
            signal,
            address,
            stack_overflow,
        } => {
            write!(
                out,
                "{{\"cause\":\"signal\",\"signal\":{signal},\"stack_overflow\":{stack_overflow}"
            )?;
            if let Some(address) = address {
                write!(out, ",\"address\":{address}")?;
            }
        }
        DeathCause::Exit {
            status: Some(status),
        } => write!(out, "{{\"cause\":\"exit\",\"status\":{status}")?,
        DeathCause::Descriptors => out.write_str("{\"cause\":\"descriptors\"")?,
        DeathCause::Exit { status: None }
        | DeathCause::Exec { .. }
        | DeathCause::Timeout { .. } => out.write_str("{\"cause\":\"exit\"")?,
    }
    let culprit = culprit.map(|call| (call.callee, name_of(call), function(call)));
    let pass = pass.map(|(pass, function)| (pass, pass.name, function));
    for (key, call) in [("culprit", culprit), ("pass", pass)] {
        let Some((callee, name, function)) = call else {
            continue;
        };
        let (kind, number) = (callee.kind.name(), callee.number);
        write!(
            out,
            ",\"{key}\":{{\"kind\":\"{kind}\",\"number\":{number},\"name\":"
        )?;
        out.json(name, ROOM)?;
        if let Some(plugin) = plugin(&callee) {
            out.write_str(",\"plugin\":")?;
            out.json(plugin, ROOM)?;
        }
        if let Some(function) = function {
            out.write_str(",\"function\":")?;
            out.json(function, ROOM)?;
        }
        out.write_str("}")?;
    }
    out.write_str("}\n")
}

/// The death as people read it.
pub(crate) fn as_sentence(
    out: &mut Record,
    cause: &DeathCause,
    culprit: Option<&Call<'_>>,
    pass: Option<(Callee<'_>, Option<&str>)>,
) -> fmt::Result {
    match culprit {
        None => writeln!(
            out,
            "{CODE}Something {cause}; no call into a plugin was on this thread."
        )?,
        Some(call) => {
            let (kind, name) = (call.callee.kind.name(), Shown(name_of(call)));
            match call.callee.kind {
                CallKind::Definition => {
                    writeln!(out, "{CODE}The definition of `{name}` {cause}.")?;
                }
                CallKind::Pass | CallKind::Instrument | CallKind::Library => {
                    writeln!(out, "{CODE}The {kind} `{name}` {cause}.")?;
                }
            }
            place(out, function(call), plugin(&call.callee))?;
        }
    }
    if let Some((pass, function)) = pass {
        match culprit {
            Some(call) if call.callee.kind == CallKind::Instrument => {
                writeln!(
                    out,
                    "  = it was called around the pass `{}`",
                    Shown(pass.name)
                )?;
            }
            _ => writeln!(out, "  = in the pass `{}`", Shown(pass.name))?,
        }
        place(out, function, plugin(&pass))?;
    }
    out.write_str("  = Nothing was written.\n")
}

/// Where something happened, as people read it.
fn place(out: &mut Record, function: Option<&str>, plugin: Option<&str>) -> fmt::Result {
    if let Some(function) = function {
        writeln!(out, "  = in the function @{}", Shown(function))?;
    }
    match plugin {
        Some(plugin) => writeln!(out, "  = of the plugin `{}`", Shown(plugin)),
        None => Ok(()),
    }
}

fn plugin<'c>(callee: &Callee<'c>) -> Option<&'c str> {
    callee.plugin.and_then(std::path::Path::to_str)
}

pub(crate) fn function<'c>(call: &Call<'c>) -> Option<&'c str> {
    call.subject.and_then(|subject| subject.function())
}

/// The name of what is called: an op's definition is found by a handle, and named only here.
fn name_of<'c>(call: &Call<'c>) -> &'c str {
    let op = call.subject.and_then(|subject| subject.op());
    op.unwrap_or(call.callee.name)
}
