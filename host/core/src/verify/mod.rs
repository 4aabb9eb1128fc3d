//! The verification of the functions that a pass changed.

mod interface;

use std::borrow::Borrow;
use std::cell::RefCell;
use std::sync::Arc;

pub(crate) use interface::{check_function, check_module};
use passdock_abi::{OpId, SymbolId};
use passdock_crash::caught;
use passdock_diagnostic::excerpt::{self, Part};
use passdock_diagnostic::suggest;
use passdock_ir::verify::interface::same_interface;
use passdock_ir::{Function, Module, text, verify};
use passdock_loader::OpDefs;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, PassError};
use crate::util::panic_text;

/// The maximum number of violations in an error.
const MAX_SHOWN: usize = 5;

/// The functions that are verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// The functions that a pass changed, after each pass.
    #[default]
    Changed,
    /// All functions, after each pass.
    All,
    /// No functions: verification is off.
    Off,
}

/// Returns an error if the input module of the pass `name` doesn't print as before. Used only under
/// `testing.immutable_module`, since the module is printed twice for each pass.
pub(crate) fn same_input(before: &str, module: &Module, name: &str) -> Result<(), PassError> {
    if before == text::print(module) {
        return Ok(());
    }
    let message = format!("Immutable module has been modified in pass: {name}");
    Err(PassError::new(ErrorKind::Verify, message)
        .help("change functions only through the functions of the host"))
}

/// Verifies the changed functions of `after`, or all functions.
///
/// All are verified, too, if a function changed its interface: unchanged callers may have become invalid. A removed
/// function may have no callers left, unless an operator of `defs` has its name.
pub(crate) fn changed<D: Borrow<OpDefs>>(
    before: &Module,
    after: &Module,
    when: Verify,
    defs: impl FnOnce() -> D,
) -> Result<(), PassError> {
    if when == Verify::Off {
        return Ok(());
    }
    guarded(None, || {
        verify_changes(before, after, when)?;
        let removed = before
            .names()
            .filter(|name| after.function(*name).is_none());
        let removed: FxHashSet<SymbolId> = removed.collect();
        match removed.is_empty() {
            true => Ok(()),
            false => has_no_callers(after, removed, defs().borrow()),
        }
    })
}

fn verify_changes(before: &Module, after: &Module, when: Verify) -> Result<(), PassError> {
    let mut changed = after.changed_since(before);
    let mut is_other =
        || changed.any(|(_, new, old)| old.is_some_and(|old| !same_interface(old, new)));
    if when == Verify::All || is_other() {
        return all(after);
    }
    let mut changed = after.changed_since(before);
    changed.try_for_each(|(name, function, _)| one(after, name, function))
}

/// Returns an error if an op calls a function that was removed.
fn has_no_callers(
    module: &Module,
    mut removed: FxHashSet<SymbolId>,
    defs: &OpDefs,
) -> Result<(), PassError> {
    let is_operator = |name: &SymbolId| defs.first_version(module.symbols().text(*name)).is_some();
    removed.retain(|name| !is_operator(name));
    for f in module.functions() {
        let mut ops = f.walk(f.body());
        if let Some(op) = ops.find(|op| removed.contains(&f.op(*op).name)) {
            let called = f.text(f.op(op).name);
            let message = format!("{op} calls `@{called}`, which was removed");
            return Err(violation_error(module, f, op, &message)
                .help("replace the calls of a function before removing it"));
        }
    }
    Ok(())
}

/// Verifies all functions of a module.
///
/// # Errors
/// For the first function with violations.
pub fn all(module: &Module) -> Result<(), PassError> {
    let mut functions = module.names().zip(module.functions());
    functions.try_for_each(|(name, function)| one(module, name, function))
}

/// Returns the error of a module that is broken before a pass runs or before it is written. `ran` has the passes that
/// may have broken it.
pub fn broken(module: &Module, ran: &[String]) -> Option<PassError> {
    if ran.is_empty() {
        return None;
    }
    let violation = guarded(None, || all(module)).err()?;
    let by = match ran {
        [one] => format!("pass `{one}` wrote to read-only memory"),
        _ => "a pass wrote to read-only memory".to_owned(),
    };
    let message = format!("invalid IR because {by}: {}", violation.message);
    let mut error = PassError::new(ErrorKind::Broken, message);
    if let [_, _, ..] = ran {
        let names = suggest::listed(ran.iter().map(String::as_str));
        error = error.note(format!("the pass is one of {names}"));
    }
    error.function.clone_from(&violation.function);
    Some(match ran {
        [_] => error.help("change functions only through the functions of the host"),
        _ => error.help("pass `--verify all` to find the pass"),
    })
}

fn one(module: &Module, name: SymbolId, function: &Function) -> Result<(), PassError> {
    let check = || Ok(verify::verify_in(module, name, function).err());
    let violations = guarded(Some(function), check)?.unwrap_or_default();
    let Some((first, rest)) = violations.split_first() else {
        return Ok(());
    };
    let mut error = violation_error(module, function, first.op, &first.message);
    error.notes = rest
        .iter()
        .take(MAX_SHOWN - 1)
        .map(|v| v.message.clone())
        .collect();
    if rest.len() >= MAX_SHOWN {
        let more = format!("and {} more", rest.len() + 1 - MAX_SHOWN);
        error.notes.push(more);
    }
    Err(error)
}

/// Returns an error that shows an op.
fn violation_error(module: &Module, f: &Function, op: OpId, message: &str) -> PassError {
    let mut error = PassError::new(ErrorKind::Verify, message);
    let text = module.text_source().map(Arc::as_ref);
    // Printing a line of broken IR may fail, too.
    let shown = guarded(Some(f), || {
        let seen = RefCell::default();
        Ok(excerpt::excerpt(f, op, Part::WHOLE, text, &seen))
    });
    if let Ok(shown) = shown {
        error.point_at(shown, "");
    }
    error.function = Some(f.text(f.name()).to_owned());
    error
}

/// Runs `look` on IR that may be broken in ways that no edit allows, and turns a panic into an error. A plugin that
/// writes into a view can break it in any way.
fn guarded<T>(
    function: Option<&Function>,
    check: impl FnOnce() -> Result<T, PassError>,
) -> Result<T, PassError> {
    caught(check).unwrap_or_else(|panic| {
        let message = format!(
            "could not verify the IR after the pass: {}",
            panic_text(&*panic.payload)
        );
        let mut error = PassError::new(ErrorKind::Verify, message)
            .help("change functions only through the functions of the host");
        error.function = function.map(|f| f.text(f.name()).to_owned());
        Err(error)
    })
}
