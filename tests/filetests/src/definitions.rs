//! Passes that query op definitions, for the cases of definitions.

use passdock::sdk::prelude::*;
use passdock::{PassError, PassInfo, Registry, create_function_pass};

type Body = fn(&mut Function, &PassContext) -> Result<(), EditError>;

const PASSES: [(&str, Body); 3] = [
    ("test.Infer", infer),
    ("test.Fold", fold),
    ("test.Decompose", decompose),
];

/// Registers `test.Infer`, `test.Fold` and `test.Decompose`.
pub(crate) fn register(registry: &Registry) -> Result<(), PassError> {
    for (name, body) in PASSES {
        let pass = create_function_pass(PassInfo::new(name), move |f, cx| Ok(body(f, cx)?));
        registry.register(pass)?;
    }
    Ok(())
}

/// Infers the types of all results.
fn infer(f: &mut Function, cx: &PassContext) -> Result<(), EditError> {
    f.walk(f.body()).try_for_each(|op| cx.infer(f, op))
}

/// Infers types, and replaces ops whose results can be evaluated with constants.
fn fold(f: &mut Function, cx: &PassContext) -> Result<(), EditError> {
    for op in f.walk(f.body()) {
        // An op for which inference fails isn't folded either.
        let _ = cx.infer(f, op);
        if f.traits(op).folds()
            && let Some(values) = cx.evaluate(f, op, 1 << 20)?
        {
            f.replace_op_with(op, &values)?;
        }
    }
    Ok(())
}

/// Replaces ops with their decomposition, and infers types.
fn decompose(f: &mut Function, cx: &PassContext) -> Result<(), EditError> {
    for op in f.walk(f.body()) {
        if let Some(values) = cx.decompose(f, op)? {
            f.replace_op_with(op, &values)?;
        }
    }
    infer(f, cx)
}
