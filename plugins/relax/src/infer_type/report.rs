//! What is said of ops that can't be right.

use passdock_plugin_api::prelude::*;

use super::sort::Sort;

const CODE: &str = "relax::infer-type";
const HELP: &str = "The declared type was kept: correct it, or the op.";

/// What is wrong with an op, as far as it can be said: with a type that its definition contradicts, both
/// places. Was any result's type known before?
pub(crate) fn explain(
    f: &mut Function,
    cx: &PassContext,
    op: OpId,
    error: EditError,
    any_known: bool,
) -> Diagnostic {
    match contradiction(f, cx, op) {
        Ok(Some(diagnostic)) => diagnostic,
        _ => {
            let wrong = Diagnostic::warning(error.message).at(Place::op(op).within(f));
            let wrong = wrong.code(CODE);
            match any_known {
                true => wrong.help("The type that the model declares was kept."),
                false => wrong,
            }
        }
    }
}

/// A report of what an op isn't that its definition describes.
pub(crate) fn malformed(f: &Function, cx: &PassContext, op: OpId) -> Option<Diagnostic> {
    let error = cx.check_op(f, op).err()?;
    let wrong = Diagnostic::warning(error.message).at(Place::op(op).within(f));
    let operator = f.name(op);
    Some(wrong.code("relax::malformed-op").help(format!(
        "`passdock list ops {operator}` shows its operands and attributes."
    )))
}

/// Asks again, with nothing known of the results, so that what the definition says can be seen.
fn contradiction(
    f: &mut Function,
    cx: &PassContext,
    op: OpId,
) -> Result<Option<Diagnostic>, EditError> {
    let results = f.results(op).to_vec();
    let known: Vec<TypeId> = results.iter().map(|&value| f.type_id(value)).collect();
    let unknown = f.add_type(&TypeSpec::unknown())?;
    for &value in &results {
        f.set_type(value, unknown)?;
    }
    let asked = cx.infer(f, op);
    let inferred: Vec<TypeId> = results.iter().map(|&value| f.type_id(value)).collect();
    let mut found = None;
    for (index, &value) in results.iter().enumerate() {
        f.set_type(value, unknown)?;
        if !known[index].is_none() {
            f.set_type(value, known[index])?;
        }
        if asked.is_ok()
            && !inferred[index].is_none()
            && f.set_type(value, inferred[index]).is_err()
        {
            found.get_or_insert(index);
        }
    }
    let Some(index) = found else {
        return Ok(None);
    };
    let (gives, declared) = (f.ty(inferred[index]), f.ty(known[index]));
    let message = format!("{} gives {gives}, and {declared} is declared.", f.name(op));
    Ok(Some(
        Diagnostic::warning(message)
            .at(Place::name(op).within(f))
            .label(
                Place::result(op, index).within(f),
                format!("is declared {declared}"),
            )
            .code(CODE)
            .help(HELP),
    ))
}

/// A report of what a region gives out under a declared type that it can't be.
pub(crate) fn given_out(f: &Function, region: RegionId, said: &mut Vec<Diagnostic>) {
    let Some(last) = f.terminator(region) else {
        return;
    };
    for (index, port) in f.ports(region).enumerate() {
        let Some(value) = f.operand(last, index) else {
            continue;
        };
        if !Sort::of_type(f, port.ty).contradicts(&Sort::of(f, value)) {
            continue;
        }
        let (is, declared) = (f.type_of(value), f.ty(port.ty));
        let message = format!("What is given out is {is}, and {declared} is declared.");
        let wrong = Diagnostic::warning(message)
            .label(
                Place::operand(last, index).within(f),
                format!("is declared {declared}"),
            )
            .code(CODE)
            .help(HELP);
        said.push(match made(f, value) {
            Some(place) => wrong.label(place, format!("is {is}")),
            None => wrong,
        });
    }
}

/// A report of what flows into a region's argument, as which operand of its op, that is declared as
/// something else.
pub(crate) fn given_in(
    f: &Function,
    op: OpId,
    operand: usize,
    arg: ValueId,
    given: &Sort,
    said: &mut Vec<Diagnostic>,
) {
    if !Sort::of(f, arg).contradicts(given) {
        return;
    }
    let declared = f.type_of(arg);
    let message = format!(
        "{} takes what its region declares as {declared}, and is given something else.",
        f.name(op)
    );
    let mut wrong = Diagnostic::warning(message).code(CODE).help(HELP);
    wrong = match f.operand(op, operand) {
        Some(value) => {
            let is = format!("is {}", f.type_of(value));
            wrong.label(Place::operand(op, operand).within(f), is)
        }
        None => wrong.at(Place::op(op).within(f)),
    };
    said.push(match f.uses(arg).next() {
        Some(one) => wrong.label(
            Place::operand(one.op, one.index).within(f),
            format!("is declared {declared}"),
        ),
        None => wrong,
    });
}

/// An operand of a call that the function declares as something else.
pub(crate) fn called_with(
    caller: &Function,
    op: OpId,
    callee: &Function,
    said: &mut Vec<Diagnostic>,
) {
    for (index, &param) in callee.params().iter().enumerate() {
        let Some(value) = caller.operand(op, index) else {
            continue;
        };
        if !Sort::of(callee, param).contradicts(&Sort::of(caller, value)) {
            continue;
        }
        let (is, declared) = (caller.type_of(value), callee.type_of(param));
        let message = format!(
            "@{} is called with {is}, and {declared} is declared.",
            callee.function_name()
        );
        let wrong = Diagnostic::warning(message)
            .label(Place::operand(op, index).within(caller), format!("is {is}"))
            .code(CODE)
            .help("The declared type was kept: correct it, or the call.");
        said.push(match callee.uses(param).next() {
            Some(one) => wrong.label(
                Place::operand(one.op, one.index).within(callee),
                format!("is declared {declared}"),
            ),
            None => wrong,
        });
    }
}

/// The place where a value is made, if an op makes it.
fn made(f: &Function, value: ValueId) -> Option<Place> {
    let op = f.defining_op(value)?;
    Some(Place::result(op, f.index(value)).within(f))
}
