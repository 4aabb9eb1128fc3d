//! Planted bugs, for the tools that find them. They only occur if an op has certain operands.

use passdock_plugin_api::prelude::*;

options! {
    /// The options of `bad.transform.PanicOnErf`.
    pub(crate) struct PanicOnErf {
        /// The minimum size of the table with which it panics.
        size: i64 = 4,
    }
}

/// Removes `Identity` ops, which is correct.
/// Also replaces `Sub(a, Abs(b))` with `Sub(Abs(b), a)`, which isn't.
pub(crate) fn swaps_sub(f: &mut Function, _cx: &PassContext) -> PassResult {
    for op in f.ops_named("onnx.Identity") {
        if let Some(operand) = f.operand(op, 0) {
            f.replace_op_with(op, &[operand])?;
        }
    }
    for op in f.ops_named("onnx.Sub") {
        let (Some(a), Some(b)) = (f.operand(op, 0), f.operand(op, 1)) else {
            continue;
        };
        if is_made_by(f, b, "onnx.Abs") {
            f.set_operand(op, 0, b)?;
            f.set_operand(op, 1, a)?;
        }
    }
    Ok(())
}

/// Changes each function without breaking it: an attribute counts the runs.
pub(crate) fn counts(f: &mut Function, _cx: &PassContext) -> PassResult {
    let runs = match f.function_attr("runs") {
        Some(Attr::Int(runs)) => runs,
        _ => 0,
    };
    Ok(f.set_function_attr("runs", AttrValue::Int(runs + 1))?)
}

/// Panics on an `Erf` of an `Add`, if its table is large.
pub(crate) fn panics_on_erf(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<PanicOnErf>()?;
    for op in f.ops_named("onnx.Erf") {
        let is_add = f
            .operand(op, 0)
            .is_some_and(|value| is_made_by(f, value, "onnx.Add"));
        assert!(!is_add || options.size < 8, "no table for this Erf");
    }
    Ok(())
}

/// Correct rules and two incorrect ones: a `Sub` of a value and itself isn't the value, and one panics on an `Erf` of
/// an `Add`.
static RULES: Rules = rules! {
    rule neg_neg { onnx.Neg(onnx.Neg(%x)) => %x }
    rule no_identity { onnx.Identity(%x) => %x }
    rule sub_self { onnx.Sub(%x, %x) => %x }
    rule erf_of_add { onnx.Erf(onnx.Add(%x, %y)) } => has_no_table;
};

pub(crate) fn rewrites(f: &mut Function, cx: &PassContext) -> PassResult {
    cx.rewrite(f, &[&RULES])
}

fn has_no_table(_: &mut Rewriter<'_>, _: &Match<'_>) -> Rewritten {
    panic!("no table for this Erf")
}

fn is_made_by(f: &Function, value: ValueId, name: &str) -> bool {
    f.defining_op(value).is_some_and(|op| f.name(op) == name)
}
