//! Inserting ops given as text into a function.

use passdock_abi::{OpId, SymbolId, ValueId};

use crate::edit::CloneRegion;
use crate::{Edit, EditFailure, Function, OpName, Position, Symbols};

/// Copies the ops of a body given as text before an op, with the op's location; returns the body's results. `check`
/// checks the number of results. An op whose name `is_used` (in the body's symbols) is rejected, because it would call
/// a function of the module. A domain that only the body imports is imported; `since` is that of
/// [`Function::imports_of`].
///
/// # Errors
/// If the text isn't a single function, doesn't match the arguments, or has an op with another meaning in the
/// function's opsets. `NOT_FOUND` for a name that is taken.
pub fn insert_body(
    function: &mut Function,
    op: OpId,
    text: &str,
    args: &[ValueId],
    is_used: impl Fn(&Symbols, SymbolId) -> bool,
    since: impl Fn(&Symbols, SymbolId, i64) -> Option<i64>,
    check: impl FnOnce(usize) -> Result<(), String>,
) -> Edit<Vec<ValueId>> {
    let body = super::parse_body(text, function.symbols().clone()).map_err(|error| {
        let name = function.describe_op(op);
        EditFailure::rejected(format!("could not parse the body of {name}: {error}"))
    })?;
    let mut names = body.walk(body.body()).map(|created| body.op(created).name);
    if let Some(name) = names.find(|&name| is_used(body.symbols(), name)) {
        return Err(EditFailure::not_found(format!(
            "cannot insert the body of {}: `{}` is the name of a function of the module",
            function.describe_op(op),
            body.text(name)
        )));
    }
    let fits = check_body(function, &body, args).and_then(|()| {
        let end = body.terminator(body.body());
        check(end.map_or(0, |end| body.operands(end).len()))?;
        let since = |name, version| since(body.symbols(), name, version);
        let needed = function.imports_of(&body, body.walk(body.body()), since);
        needed.map_err(|error| error.message)
    });
    let needed = fits.map_err(|why| {
        let name = function.describe_op(op);
        EditFailure::rejected(format!("the body of {name} does not match the op: {why}"))
    })?;
    let before = function.op(op).prev;
    let values = function.clone_region(&CloneRegion {
        region: body.body(),
        source: Some(&body),
        at: Position::before(op),
        args,
        captures: &[],
    })?;
    function.add_imports(&needed);
    set_missing_locs(function, before, op)?;
    Ok(values)
}

/// Checks that a body has a parameter for each argument, uses no omitted one, and that the domains of its ops are
/// imported.
fn check_body(function: &Function, body: &Function, args: &[ValueId]) -> Result<(), String> {
    let parameters = body.args(body.body());
    if parameters.len() != args.len() {
        let (has, takes) = (args.len(), parameters.len());
        return Err(format!(
            "wrong number of parameters: expected {has}, found {takes}"
        ));
    }
    for (index, (parameter, arg)) in parameters.zip(args).enumerate() {
        if arg.is_none() && body.uses(parameter).next().is_some() {
            return Err(format!("it uses operand {index}, which the op omits"));
        }
    }
    if !function.opsets().is_empty() {
        for created in body.walk(body.body()) {
            let name = body.text(body.op(created).name);
            let domain = OpName::parse(name).and_then(|name| name.domain);
            let Some(domain) = domain else { continue };
            let known = function.symbols().find(&domain);
            let is_known = |known| function.opset(known).or(body.opset(known)).is_some();
            if !known.is_some_and(is_known) {
                return Err(format!(
                    "the function has no opset for the domain of `{name}`"
                ));
            }
        }
    }
    Ok(())
}

/// Sets the location of copies without one to that of the replaced op, for messages.
fn set_missing_locs(function: &mut Function, before: OpId, op: OpId) -> Edit {
    let loc = function.op(op).loc;
    let region = function.op(op).parent;
    let mut next = match before.option() {
        Some(before) => function.op(before).next,
        None => function.region(region).first,
    };
    while next != op {
        if function.op(next).loc.is_none() {
            function.set_loc(next, loc)?;
        }
        next = function.op(next).next;
    }
    Ok(())
}
