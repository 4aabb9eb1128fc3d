//! `relax.transform.FoldConstant`: folds constant expressions.
//!
//! ```ir
//! fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
//!   %a = const i64[2] [2, 3]
//!   %b = const i64[2] [10, 20]
//!   %sum = onnx.Add(%a, %b) : i64[2]
//!   %0 = onnx.Mul(%x, %sum) : i64[2]
//!   return %0
//! }
//! →
//! fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
//!   %sum = const i64[2] [12, 23]
//!   %0 = onnx.Mul(%x, %sum) : i64[2]
//!   return %0
//! }
//! ```
//!
//! What depends on types only (`Shape` of a tensor whose dims are known) is folded too. An `onnx.If`
//! or `if` whose condition is constant is replaced by the ops of its branch, an `onnx.Loop` that runs no
//! times by its initial values, a `tuple_get` of a `tuple` by the field. Ops and constants that
//! nobody needs any more go; what only leads to a folded value may be as large as it likes.
//!
//! It does not fold what is random or has state, what takes no operands (`ones(shape=(4, 5))` is
//! smaller than its value), what nobody can evaluate, and what would make the function larger: see
//! the options. Nor what an op that uses it couldn't take: an integer divided by 0 in a branch that is never
//! taken does no harm, and by the constant 0 it lets a runtime refuse the model. What it left alone although the operands are constant, and why, is a note
//! (`relax::not-folded`).
//!
//! Source: TVM `src/relax/transform/fold_constant.cc` (ConstantChecker and ConstantFolder). Program
//! order stands for the recursion there: an op's operands were folded before it is looked at.

mod budget;
mod checker;
mod control;
mod forward;
mod ranks;
mod report;
mod splat;
mod typed;
mod walk;

use passdock_plugin_api::abi;
use passdock_plugin_api::prelude::*;

use budget::Plan;
use checker::ConstantChecker;
use forward::Forward;

options! {
    /// The limits of what folding may cost.
    pub struct FoldConstant {
        /// The bytes by which one folded op may make the function larger, or 1/1600 of the bytes of its
        /// constants if that is more; all folded ops together by 16 times as much.
        max_growth: i64 = 256,
        /// Fold also where the function grows beyond that.
        allow_growth: bool = false,
    }
}

pub(crate) fn fold_constant(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<FoldConstant>()?;
    let checker = f.analysis::<ConstantChecker>(cx)?;
    let only = ranks::only_branches(f)?;
    if !checker.found && only.is_empty() {
        return Ok(());
    }
    let mut flags = checker.flags.clone();
    only.keys()
        .for_each(|op| checker::set(&mut flags, op.index(), true));
    let limits = budget::Limits::new(f, &options);
    let useful = budget::useful(f, &flags, &limits);
    let mut forward = Forward::new(flags, useful, only, &limits);
    forward.run(f, cx)?;
    let plan = Plan::new(f, &forward, &limits);
    report::emit(f, cx, &forward, &plan);
    apply(f, &forward, &plan)
}

/// Puts constants where the plan says so, erases what nobody needs any more.
fn apply(f: &mut Function, forward: &Forward, plan: &Plan) -> PassResult {
    let mut left = forward.left.clone();
    // Those who use a value are gone before what gives it.
    for (index, folded) in forward.folded.iter().enumerate().rev() {
        if plan.stays[index] {
            continue;
        }
        left.extend(f.operands(folded.op).filter_map(|value| f.constant(value)));
        if plan.needed[index] {
            f.replace_op_with(folded.op, &folded.values)?;
        } else {
            f.erase_op(folded.op)?;
        }
    }
    let scratch = forward.folded.iter().flat_map(|folded| &folded.values);
    left.extend(scratch.filter_map(|&value| f.constant(value)));
    left.sort_unstable_by_key(|id| id.0);
    left.dedup();
    for id in left {
        let unused = |record: &abi::Constant| f.use_count(record.value) == 0;
        if f.constant_record(id).as_ref().is_some_and(unused) {
            f.erase_constant(id)?;
        }
    }
    Ok(())
}
