//! Bodies for function passes that replace a function with one from another module.

use std::sync::Arc;

use passdock_abi::symbol;
use passdock_core::{
    ErrorKind, FunctionSnapshot, PassContext, PassError, Sequential, add_callee, adopted, sdk,
};
use passdock_ir::{EditFailure, Function, Module};
use rustc_hash::FxHashSet;

use crate::prepare::RAISE_OPSET;

/// Returns a module with one function of another module and its callees. Functions of an earlier opset are raised to
/// `opset`, if `relax.transform.RaiseOpset` is registered.
///
/// # Errors
/// If there is no such function, or an op can't be raised.
pub fn body_for(module: &Module, name: &str, opset: Option<i64>) -> Result<Module, PassError> {
    let part = callees_only(module, name)
        .map_err(|error| PassError::new(ErrorKind::Failed, error.message))?;
    let earlier = opset.filter(|&to| opsets(&part).any(|version| version < to));
    let Some(opset) = earlier else {
        return Ok(part);
    };
    match raise_opset(part.clone(), opset) {
        // Without the pass, `replace_body` rejects ops whose meaning would change.
        Err(error) if error.kind == ErrorKind::UnknownPass => Ok(part),
        raised => raised,
    }
}

/// Returns a module with one function of another module and its callees.
fn callees_only(module: &Module, name: &str) -> Result<Module, EditFailure> {
    let mut part = module.clone();
    let mut reachable = FxHashSet::default();
    let mut pending: Vec<_> = part.function_named(name).into_iter().collect();
    while let Some(f) = pending.pop() {
        if !reachable.insert(f.name()) {
            continue;
        }
        let held = FunctionSnapshot::in_module(f.clone(), part.clone());
        let callees = held.iter().filter_map(|op| held.callee(op));
        pending.extend(callees.filter_map(|callee| part.function(callee)));
    }
    if reachable.is_empty() {
        let message = format!("the module has no function `{name}`");
        return Err(EditFailure::rejected(message));
    }
    part.retain(|f| reachable.contains(&f.name()));
    Ok(part)
}

/// Returns the versions of ONNX's own operators that the functions import.
fn opsets(module: &Module) -> impl Iterator<Item = i64> + '_ {
    module.functions().filter_map(|f| f.opset(symbol::EMPTY))
}

/// Raises the functions of an earlier opset with `relax.transform.RaiseOpset`. Other functions stay unchanged.
/// Instruments of the current context aren't called.
///
/// # Errors
/// If the pass isn't registered, or an op can't be raised.
pub fn raise_opset(module: Module, opset: i64) -> Result<Module, PassError> {
    let current = PassContext::current();
    let (name, option) = RAISE_OPSET;
    let options = toml::Table::from_iter([(option.to_owned(), opset.into())]);
    let pass = current.registry().get_pass_with_options(name, &options)?;
    let cx = PassContext::builder().registry(current.registry());
    let mut raised = Sequential::new([pass]).call_in(module.clone(), &cx.build()?)?;
    let is_earlier = |f: &Function| f.opset(symbol::EMPTY).is_some_and(|own| own < opset);
    for function in module.functions().filter(|f| !is_earlier(f)) {
        let stays = raised.replace(function.clone());
        stays.map_err(|error| PassError::new(ErrorKind::Failed, error.message))?;
    }
    Ok(raised)
}

/// Copies functions and their callees into a module. Each comes from its own module and gets a new name. An existing
/// function of that name is replaced. Returns the opset to which the module's functions must be raised if they import
/// different ones.
///
/// # Errors
/// If a name is invalid, or a callee has the name of a different function of the module.
pub fn put_functions(
    module: &mut Module,
    given: &[(String, Module, String)],
) -> Result<Option<i64>, EditFailure> {
    let stays = |f: &&Arc<Function>| given.iter().all(|(name, ..)| name != f.text(f.name()));
    let main = module.function_named("main").filter(stays);
    let reference = main.or_else(|| module.functions().find(stays));
    let mut versions: Vec<i64> = reference
        .and_then(|f| f.opset(symbol::EMPTY))
        .into_iter()
        .collect();
    for (name, source, own_name) in given {
        let part = callees_only(source, own_name)?;
        versions.extend(opsets(&part));
        for function in part.functions() {
            let called = function.text(function.name());
            if called == own_name {
                module.put_copy(function, name)?;
            } else if given.iter().all(|(name, ..)| name != called) {
                let before = module.clone();
                module.insert_callee(function.copied_to(before.symbols()), &before)?;
            }
        }
    }
    let is_mixed = versions.iter().any(|version| *version != versions[0]);
    Ok(opsets(module).max().filter(|_| is_mixed))
}

/// Replaces the body of the function that a function pass edits with the body of a function that [`body_for`] created.
/// The other functions of `part` are added to the pass's module.
///
/// # Errors
/// If the signatures differ, or the meaning of an op would change. Nothing is changed then.
pub fn replace_body(
    f: &mut sdk::Function,
    part: &Module,
    name: &str,
) -> Result<(), sdk::EditError> {
    let to_sdk_error = |error: EditFailure| sdk::EditError::failed(error.message);
    let missing = || sdk::EditError::failed(format!("the module has no function `{name}`"));
    let source = part.function_named(name).ok_or_else(missing)?;
    let copy = adopted(f, source).map_err(to_sdk_error)?;
    f.replace_body(&copy)?;
    let mut callees = part
        .functions()
        .filter(|callee| callee.name() != source.name());
    callees.try_for_each(|callee| add_callee(f, callee).map_err(to_sdk_error))
}
