//! Bodies of ops: a definition writes one as text, the host reads it and copies it before the op.

use passdock_abi as abi;
use passdock_abi::{OpCall as Handle, OpId, Status, Str, SymbolId, ValueId};
use passdock_ir::{CloneRegion, Edit, EditError, Function, OpName, Position, text};

use super::{OpCall, answer, ask, definitions, lacking};
use crate::boundary::session::context::ContextSession;
use crate::boundary::session::function::FunctionSession;
use crate::boundary::session::input;

/// The longest body of an op, in bytes.
const MAX_BODY: usize = 1 << 24;

// SAFETY of both calls is the contract's: handles are those that the host handed out and that
// haven't ended, and what a text points to is there as long as the call.

pub(in crate::boundary) unsafe extern "C" fn set_body(call: *mut Handle, text: Str) -> Status {
    // SAFETY: see above.
    answer(call, |call| unsafe {
        if !call.decomposing {
            return Err(EditError::refused(
                "Only a decomposition has a body to set.",
            ));
        }
        call.body = Some(input::long_text(text, "body", MAX_BODY)?.to_owned());
        Ok(())
    })
}

pub(in crate::boundary) unsafe extern "C" fn decompose(
    cx: *mut abi::Context,
    f: *mut abi::Function,
    op: OpId,
    out: *mut ValueId,
    count: usize,
) -> Status {
    // SAFETY: see above.
    unsafe {
        ask(cx, f, |context, session| {
            let name = check_results(session, op, out, count)?;
            let body = body_of(context, session, op, name)
                .map_err(|error| lacking(session, op, "has no body", error))?;
            let copied = session.with(|state| copy_body(context, state.edit()?, op, &body));
            let values = copied.map_err(|error| match error.status {
                // A body that this function has no room for isn't wrong.
                Status::NOT_FOUND => error,
                _ => definitions::blame(context, session, op, error),
            })?;
            input::answer_all(out, values);
            Ok(())
        })
    }
}

/// The name of an op, if there is room for its results.
pub(in crate::boundary) fn check_results(
    session: &FunctionSession,
    op: OpId,
    out: *mut ValueId,
    count: usize,
) -> Edit<SymbolId> {
    session.with(|state| {
        let function = state.read()?;
        let record = function.live_op(op)?;
        if record.results.len as usize != count {
            return Err(EditError::invalid(format!(
                "{} has {} results, and there is room for {count}.",
                function.describe_op(op),
                record.results.len
            )));
        }
        if count > 0 {
            input::check_out(out)?;
        }
        Ok(record.name)
    })
}

/// The body of an op, as text. The message of a `NOT_FOUND` error is the reason why it has none.
fn body_of(
    context: &ContextSession<'_>,
    session: &FunctionSession,
    op: OpId,
    name: SymbolId,
) -> Edit<String> {
    let definition = definitions::get(context, session, name)?;
    let Some(function) = definition.entry.decompose else {
        return Err(EditError::not_found("its definition gives it none"));
    };
    let call = OpCall {
        decomposing: true,
        ..OpCall::new(session, op)
    };
    let body = call.answered(context, function, &definition)?.body;
    body.ok_or_else(|| EditError::not_found("its definition has no answer"))
}

/// Reads a body and copies its ops before the op; returns the values that replace the op's results.
fn copy_body(
    context: &ContextSession<'_>,
    function: &mut Function,
    op: OpId,
    text: &str,
) -> Edit<Vec<ValueId>> {
    let body = text::parse_body(text, function.symbols().clone()).map_err(|error| {
        let name = function.describe_op(op);
        EditError::refused(format!("The body of {name} can't be read: {error}"))
    })?;
    refuse_captured(context, function, op, &body)?;
    let args = check_body(function, op, &body).map_err(|why| {
        let name = function.describe_op(op);
        EditError::refused(format!("The body of {name} doesn't fit it: {why}."))
    })?;
    let before = function.op(op).prev;
    let mut values = function.clone_region(&CloneRegion {
        region: body.body(),
        source: Some(&body),
        at: Position::before(op),
        args: &args,
        captures: &[],
    })?;
    name_place(function, before, op)?;
    let results: Vec<ValueId> = function.results(op).collect();
    values.truncate(results.len());
    for (&result, &value) in results.iter().zip(&values) {
        // The known type of a result is merged into that of the value which replaces it. A
        // contradiction is found when the value replaces the result.
        if value.is_none() || args.contains(&value) {
            continue;
        }
        let (known, made) = (function.value(result).ty, function.value(value).ty);
        if let Some(ty) = function.merge_types(made, known) {
            function.set_type(value, ty)?;
        }
    }
    Ok(values)
}

/// Refuses a body with an operator whose name is that of a function of the module: its op would call
/// the function.
fn refuse_captured(
    context: &ContextSession<'_>,
    function: &Function,
    op: OpId,
    body: &Function,
) -> Edit {
    let mut names = body.walk(body.body()).map(|made| body.op(made).name);
    match names.find(|&name| context.names_function(body.symbols(), name)) {
        None => Ok(()),
        Some(name) => Err(EditError::not_found(format!(
            "{} has no body here: it would have {}, which is a function of the module.",
            function.describe_op(op),
            body.text(name)
        ))),
    }
}

/// The values that replace the body's parameters, if the body fits the op.
fn check_body(function: &Function, op: OpId, body: &Function) -> Result<Vec<ValueId>, String> {
    let args: Vec<ValueId> = function
        .operands(op)
        .iter()
        .map(|slot| slot.value)
        .collect();
    let parameters = body.args(body.body());
    if parameters.len() != args.len() {
        let (has, takes) = (args.len(), parameters.len());
        return Err(format!(
            "it has parameters for {takes} operands, the op has {has}"
        ));
    }
    for (index, (parameter, arg)) in parameters.zip(&args).enumerate() {
        if arg.is_none() && body.uses(parameter).next().is_some() {
            return Err(format!("it uses operand {index}, which is left out"));
        }
    }
    let given = body.terminator(body.body());
    let given = given.map_or(0, |end| body.operands(end).len());
    let results = function.results(op).len();
    if given < results {
        return Err(format!("it gives {given} of {results} results"));
    }
    for opset in body.opsets() {
        let domain = body.text(opset.domain);
        match function.opset(opset.domain) {
            Some(version) if version == opset.version => {}
            Some(version) => {
                let wants = opset.version;
                return Err(format!(
                    "it is of opset {wants} of the domain \"{domain}\", the op's function of {version}"
                ));
            }
            None => {
                return Err(format!(
                    "the op's function has no opset of the domain \"{domain}\""
                ));
            }
        }
    }
    if !function.opsets().is_empty() {
        for made in body.walk(body.body()) {
            let name = body.text(body.op(made).name);
            let domain = OpName::parse(name).and_then(|name| name.domain);
            let Some(domain) = domain else { continue };
            let known = function.symbols().find(&domain);
            if known.and_then(|domain| function.opset(domain)).is_none() {
                return Err(format!(
                    "it has {name}, and the op's function no opset of its domain"
                ));
            }
        }
    }
    Ok(args)
}

/// Gives the copies the location of the op that they replace, for messages about them.
fn name_place(function: &mut Function, before: OpId, op: OpId) -> Edit {
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
