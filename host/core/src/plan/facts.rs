//! Facts: states that can be read off a module.

use passdock_abi::{Op, OpId, SymbolId, TypeKind, Value, symbol};
use passdock_diagnostic::excerpt::location;
use passdock_ir::{Function, Module};
use passdock_loader::State;

use crate::error::{ErrorKind, PassError};

/// Whether a state is a fact: a module itself shows whether it is in it.
pub(super) fn is_fact(state: &State) -> bool {
    match state {
        State::Opset(_) => true,
        State::Named(name) => matches!(
            name.as_str(),
            "types-inferred" | "no-control-flow" | "no-tuples" | "a-normal-form"
        ),
    }
}

/// An error with the first violation, if a module isn't in a state that is a fact. Looks at each op
/// once.
pub(super) fn check(state: &State, module: &Module) -> Result<(), PassError> {
    match state {
        State::Opset(version) => opset(*version, module),
        State::Named(name) => match name.as_str() {
            "types-inferred" => types(module),
            "no-control-flow" => {
                let onnx = ["onnx.If", "onnx.Loop", "onnx.Scan"];
                let onnx = onnx
                    .into_iter()
                    .filter_map(|name| module.symbols().find(name));
                let own = [symbol::IF, symbol::FOR, symbol::WHILE];
                let names: Vec<SymbolId> = own.into_iter().chain(onnx).collect();
                without(name, &names, module)
            }
            "no-tuples" => without(name, &[symbol::TUPLE, symbol::TUPLE_GET], module),
            _ => Ok(()),
        },
    }
}

fn opset(needed: u32, module: &Module) -> Result<(), PassError> {
    for function in module.functions() {
        let Some(version) = function.opset(symbol::EMPTY) else {
            continue;
        };
        if version < i64::from(needed) {
            let message = format!(
                "The pass needs `opset >= {needed}` of the model, and this function imports {version}."
            );
            let error = PassError::new(ErrorKind::ModelState, message);
            return Err(in_function(function, error));
        }
    }
    Ok(())
}

fn types(module: &Module) -> Result<(), PassError> {
    each_op(module, |function, id, _| {
        let untyped = function.results(id).any(|result| {
            let value = function.value(result);
            let ty = function.live_type(value.ty);
            let typed = ty.is_ok_and(|ty| ty.kind != TypeKind::UNKNOWN);
            value.flags & Value::ABSENT == 0 && !typed
        });
        let message =
            "The pass needs `types-inferred` of the model, and a result of this op has no type.";
        untyped.then(|| message.to_owned())
    })
}

fn without(state: &str, names: &[SymbolId], module: &Module) -> Result<(), PassError> {
    each_op(module, |function, _, op| {
        names.contains(&op.name).then(|| {
            let name = function.text(op.name);
            format!("The pass needs `{state}` of the model, and the model has the op `{name}`.")
        })
    })
}

/// An error about the first op for which `violation` has a message.
fn each_op(
    module: &Module,
    violation: impl Fn(&Function, OpId, &Op) -> Option<String>,
) -> Result<(), PassError> {
    for function in module.functions() {
        for (id, op) in function.live_ops() {
            if let Some(message) = violation(function, id, op) {
                let mut error = PassError::new(ErrorKind::ModelState, message);
                error.op = Some(function.describe_op(id));
                error.location = location(function, op.loc);
                return Err(in_function(function, error));
            }
        }
    }
    Ok(())
}

fn in_function(function: &Function, mut error: PassError) -> PassError {
    error.function = Some(function.text(function.name()).to_owned());
    error
}
