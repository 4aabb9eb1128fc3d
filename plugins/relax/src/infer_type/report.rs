//! Diagnostics about ops with wrong types.

use std::collections::HashSet;

use passdock_plugin_api::prelude::*;

use super::portable_type::PortableType;
use super::regions::Inflow;
use crate::shared::read::redeclare;

const CODE: &str = "relax::infer-type";
const HELP: &str = "correct the declared type or the op; the inferred type is used";

/// Returns a diagnostic about an invalid op.
pub(crate) fn invalid_op(f: &Function, op: OpId, message: String) -> Diagnostic {
    let invalid_op = Diagnostic::warning(message).at(OpSpan::op(op).within(f));
    invalid_op.code(CODE)
}

/// Returns a diagnostic about a result whose inferred type isn't the declared one.
fn other_type(
    f: &Function,
    op: OpId,
    index: usize,
    declared: TypeId,
    why: &str,
    help: &str,
) -> Diagnostic {
    let (inferred, declared) = (f.type_of(f.result(op, index)), f.ty(declared));
    let message = format!(
        "`{}` has result type {inferred}, but {declared} is declared{why}",
        f.name(op)
    );
    let position = OpSpan::result(op, index).within(f);
    Diagnostic::warning(message)
        .at(OpSpan::name(op).within(f))
        .label(position, format!("declared {declared}"))
        .code(CODE)
        .help(help)
}

/// Labels the first use of a region's argument or a parameter with its declared type.
fn label_declared(report: Diagnostic, f: &Function, value: ValueId) -> Diagnostic {
    match f.uses(value).next() {
        Some(one) => report.label(
            OpSpan::operand(one.op, one.index).within(f),
            format!("declared {}", f.type_of(value)),
        ),
        None => report,
    }
}

/// Returns a diagnostic about an op that violates its definition.
pub(crate) fn malformed(f: &Function, cx: &PassContext, op: OpId) -> Option<Diagnostic> {
    let error = cx.check_op(f, op).err()?;
    let invalid_op = Diagnostic::warning(error.message).at(OpSpan::op(op).within(f));
    let operator = f.name(op);
    Some(invalid_op.code("relax::malformed-op").help(format!(
        "run `passdock list ops {operator}` to see its operands and attributes"
    )))
}

/// Returns a diagnostic about the first result of an op whose type contradicts the previous one.
pub(crate) fn contradiction(
    f: &Function,
    op: OpId,
    known: &[TypeId],
) -> Option<(ValueId, Diagnostic)> {
    let results = f.results(op).iter().zip(known);
    let is_other = |(&value, &known): (&ValueId, &TypeId)| {
        f.type_id(value) != known
            && PortableType::from_type(f, known).contradicts(&PortableType::from_value(f, value))
    };
    let index = results.clone().position(is_other)?;
    let value = f.results(op)[index];
    Some((value, other_type(f, op, index, known[index], "", HELP)))
}

/// Appends diagnostics about results of an op with open sizes that were declared as numbers.
pub(crate) fn narrowed(f: &Function, op: OpId, known: &[TypeId], reports: &mut Vec<Diagnostic>) {
    for (index, (&value, &known)) in f.results(op).iter().zip(known).enumerate() {
        let is = f.type_id(value);
        if is == known
            || !PortableType::from_type(f, known).narrows(&PortableType::from_type(f, is))
        {
            continue;
        }
        let why = ", which does not hold for all inputs";
        let help =
            "bind the size (`--bind`) or correct the declared type; the inferred type is used";
        reports.push(other_type(f, op, index, known, why, help));
    }
}

/// Returns the first such diagnostic, with the number of the others: a stale size usually occurs in all types that
/// depend on it.
pub(crate) fn first_narrowed(reports: Vec<Diagnostic>) -> Option<Diagnostic> {
    let others = reports.len().saturating_sub(1);
    let first = reports.into_iter().next()?;
    if others == 0 {
        return Some(first);
    }
    let note = format!("other declared types with a constant size for a dynamic dim: {others}");
    Some(first.with_note(note))
}

/// Sets the declared types of a region's results to the inferred types where they contradict each other. Appends
/// diagnostics, except for the values in `is_reported`.
pub(crate) fn check_yields(
    f: &mut Function,
    region: RegionId,
    is_reported: &HashSet<ValueId>,
    reports: &mut Vec<Diagnostic>,
) -> Result<(), EditError> {
    let Some(last) = f.terminator(region) else {
        return Ok(());
    };
    let contradicts = |f: &Function, ty: TypeId, value: ValueId| {
        PortableType::from_type(f, ty).contradicts(&PortableType::from_value(f, value))
    };
    let is_invalid =
        (f.ports(region).zip(f.operands(last))).any(|(port, value)| contradicts(f, port.ty, value));
    if !is_invalid {
        return Ok(());
    }
    redeclare(f, region, |f, index, ty, value| {
        if !contradicts(f, ty, value) {
            return Ok((ty, value));
        }
        let [is, declared] = [f.type_of(value), f.ty(ty)].map(|ty| ty.to_string());
        // A size without a name in the model doesn't get one in the interface.
        let is_invented = |symbol: i64| f.invented(SymbolId(symbol as u32)).is_some();
        let portable = PortableType::from_value(f, value).without(&is_invented);
        if !is_reported.contains(&value) {
            let message = format!("result has type {is}, but {declared} is declared");
            let position = OpSpan::operand(last, index).within(f);
            let invalid_op = Diagnostic::warning(message)
                .label(position, format!("declared {declared}"))
                .code(CODE)
                .help(HELP);
            reports.push(match f.defining_op(value) {
                Some(op) => invalid_op.label(
                    OpSpan::result(op, f.index(value)).within(f),
                    format!("has type {is}"),
                ),
                None => invalid_op,
            });
        }
        Ok((portable.write(f)?, value))
    })
}

/// Returns a diagnostic about a value that contradicts the declared type of a region's argument.
pub(crate) fn check_inflow(f: &Function, op: OpId, inflow: &Inflow) -> Option<Diagnostic> {
    if !inflow.declared.contradicts(&inflow.first) {
        return None;
    }
    let declared = f.type_of(inflow.arg);
    let message = format!(
        "operand of `{}` does not match type {declared}, which its region declares",
        f.name(op)
    );
    let mut invalid_op = Diagnostic::warning(message).code(CODE).help(HELP);
    invalid_op = match f.operand(op, inflow.operand) {
        Some(value) => {
            let is = format!("has type {}", f.type_of(value));
            invalid_op.label(OpSpan::operand(op, inflow.operand).within(f), is)
        }
        None => invalid_op.at(OpSpan::op(op).within(f)),
    };
    Some(label_declared(invalid_op, f, inflow.arg))
}

/// Returns diagnostics about the operands of a call that contradict the declared types of the function's parameters.
pub(crate) fn called_with(caller: &Function, op: OpId, callee: &Function) -> Vec<Diagnostic> {
    let report = |(index, &param): (usize, &ValueId)| {
        let value = caller.operand(op, index)?;
        if !PortableType::from_value(callee, param)
            .contradicts(&PortableType::from_value(caller, value))
        {
            return None;
        }
        let (is, declared) = (caller.type_of(value), callee.type_of(param));
        let message = format!(
            "function `@{}` is called with {is}, but {declared} is declared",
            callee.function_name()
        );
        let invalid_op = Diagnostic::warning(message)
            .label(
                OpSpan::operand(op, index).within(caller),
                format!("has type {is}"),
            )
            .code(CODE)
            .help("correct the declared type or the call; the declared type is kept");
        Some(label_declared(invalid_op, callee, param))
    };
    callee
        .params()
        .iter()
        .enumerate()
        .filter_map(report)
        .collect()
}
