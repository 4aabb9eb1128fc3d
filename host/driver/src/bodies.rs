//! Bodies of functions of any module, for function passes that return another function.

use passdock_abi::symbol;
use passdock_core::{ErrorKind, FunctionSnapshot, PassContext, PassError, adopted, bring, sdk};
use passdock_ir::{EditError, Module};
use rustc_hash::FxHashSet;

const RAISE_OPSET: &str = "relax.transform.RaiseOpset";

/// A module of one function of another module and of those that it calls, raised to an opset where they are of an earlier one
/// and `relax.transform.RaiseOpset` is registered.
///
/// # Errors
/// If there is no such function, or an op can't be raised.
pub fn body_for(module: &Module, name: &str, opset: Option<i64>) -> Result<Module, PassError> {
    let mut part = module.clone();
    let mut wanted = FxHashSet::default();
    let mut pending: Vec<_> = part.function_named(name).into_iter().collect();
    while let Some(f) = pending.pop() {
        if !wanted.insert(f.name()) {
            continue;
        }
        let held = FunctionSnapshot::in_module(f.clone(), part.clone());
        let callees = held.iter().filter_map(|op| held.callee(op));
        pending.extend(callees.filter_map(|callee| part.function(callee)));
    }
    if wanted.is_empty() {
        let message = format!("The module has no function `{name}`.");
        return Err(PassError::new(ErrorKind::Failed, message));
    }
    part.retain(|f| wanted.contains(&f.name()));
    let is_earlier = |opset| {
        let versions = part.functions().map(|f| f.opset(symbol::EMPTY));
        versions.flatten().any(|version| version < opset)
    };
    let Some(opset) = opset.filter(|&opset| is_earlier(opset)) else {
        return Ok(part);
    };
    let cx = PassContext::current();
    let options = toml::Table::from_iter([("to".to_owned(), opset.into())]);
    match cx.registry().get_pass_with_options(RAISE_OPSET, &options) {
        Ok(pass) => pass.call_in(part, &cx),
        // What isn't raised is refused where it means something else.
        Err(_) => Ok(part),
    }
}

/// Replaces the body of the function that a function pass edits with that of a function of a [`body_for`], whose other
/// functions are added to the pass's module.
///
/// # Errors
/// If the functions don't have the same interface, or an op would mean something else; then nothing is changed.
pub fn replace_body(
    f: &mut sdk::Function,
    part: &Module,
    name: &str,
) -> Result<(), sdk::EditError> {
    let refused = |error: EditError| sdk::EditError::failed(error.message);
    let missing = || sdk::EditError::failed(format!("The module has no function `{name}`."));
    let source = part.function_named(name).ok_or_else(missing)?;
    let copy = adopted(f, source).map_err(refused)?;
    f.replace_body(&copy)?;
    let mut callees = part
        .functions()
        .filter(|callee| callee.name() != source.name());
    callees.try_for_each(|callee| bring(f, callee).map_err(refused))
}
