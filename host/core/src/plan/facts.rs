//! Facts: states that can be read off a module.

use passdock_abi::{Op, SymbolId, TypeKind, Value, symbol};
use passdock_diagnostic::excerpt::location;
use passdock_ir::{Function, Module, Symbols};
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
                let [if_, loop_, scan] =
                    ["onnx.If", "onnx.Loop", "onnx.Scan"].map(|name| module.symbols().find(name));
                let names = [Some(symbol::IF), Some(symbol::FOR), Some(symbol::WHILE)];
                without(
                    name,
                    &[names[0], names[1], names[2], if_, loop_, scan],
                    module,
                )
            }
            "no-tuples" => without(
                name,
                &[Some(symbol::TUPLE), Some(symbol::TUPLE_GET)],
                module,
            ),
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
            return Err(in_function(
                function,
                PassError::new(ErrorKind::ModelState, message),
            ));
        }
    }
    Ok(())
}

fn types(module: &Module) -> Result<(), PassError> {
    for function in module.functions() {
        for (id, op) in function.live_ops() {
            let untyped = function.results(id).any(|result| {
                let value = function.value(result);
                let ty = function.live_type(value.ty);
                let typed = ty.is_ok_and(|ty| ty.kind != TypeKind::UNKNOWN);
                value.flags & Value::ABSENT == 0 && !typed
            });
            if untyped {
                let message = "The pass needs `types-inferred` of the model, and a result of this op has no type.";
                return Err(at(function, id, op, message.to_owned()));
            }
        }
    }
    Ok(())
}

fn without(state: &str, names: &[Option<SymbolId>], module: &Module) -> Result<(), PassError> {
    for function in module.functions() {
        for (id, op) in function.live_ops() {
            if names.contains(&Some(op.name)) {
                let name = shown(function.symbols(), op.name);
                let message = format!(
                    "The pass needs `{state}` of the model, and the model has the op {name}."
                );
                return Err(at(function, id, op, message));
            }
        }
    }
    Ok(())
}

fn shown(symbols: &Symbols, name: SymbolId) -> String {
    format!("`{}`", symbols.text(name))
}

fn at(function: &Function, id: passdock_abi::OpId, op: &Op, message: String) -> PassError {
    let mut error = PassError::new(ErrorKind::ModelState, message);
    error.op = Some(function.describe_op(id));
    error.location = location(function, op.loc);
    in_function(function, error)
}

fn in_function(function: &Function, mut error: PassError) -> PassError {
    error.function = Some(function.text(function.name()).to_owned());
    error
}
