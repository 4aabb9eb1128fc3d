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
//! What depends on types only (`Shape` of a tensor whose dims are known, `CastLike` a value of a known type) is
//! folded too. An `onnx.If` or `if` whose condition is constant is replaced by the ops of its branch, an
//! `onnx.Loop` that runs no times by its initial values, a `tuple_get` of a `tuple` by the field. Ops and
//! constants that nobody needs any more go; what only leads to a folded value may be as large as it likes.
//!
//! An `onnx.If` whose branches give values of different ranks is replaced by the branch that gives the rank
//! which the ops after it take: with the other one they fail, and with them the run.
//!
//! ```ir
//! fn @main(%x: f32[n,8,1], %w: f32[4,8,1], %c: bool[]) -> (%y: f32[n,4,1]) opset("" = 17) {
//!   %last = const i64[1] [-1]
//!   %0 = onnx.If(%c) : f32[*]
//!     region then_branch {
//!       %1 = onnx.Squeeze(%x, %last) : f32[n,8]
//!       yield %1
//!     }
//!     region else_branch {
//!       %2 = onnx.Identity(%x) : f32[n,8,1]
//!       yield %2
//!     }
//!   %3 = onnx.Conv(%0, %w) : f32[n,4,1]
//!   return %3
//! }
//! →
//! fn @main(%x: f32[n,8,1], %w: f32[4,8,1], %c: bool[]) -> (%y: f32[n,4,1]) opset("" = 17) {
//!   %last = const i64[1] [-1]
//!   %0 = onnx.Conv(%x, %w) : f32[n,4,1]
//!   return %0
//! }
//! ```
//!
//! A large value of which all elements are the same stays as small as it is: what is made of it is an
//! `onnx.ConstantOfShape` again, and an op that broadcasts it takes one element.
//!
//! ```ir
//! fn @main(%x: f32[n,64,9], %y: f32[n,128,9]) -> (%z: f32[n,32,9], %s: f32[n,128,9]) opset("" = 17) {
//!   %shape = const i64[3] [32, 64, 1]
//!   %line = const i64[2] [128, 1]
//!   %half = const f32[] 0.5
//!   %0 = onnx.ConstantOfShape(%shape) {value = tensor f32[1] [3.0]} : f32[32,64,1]
//!   %1 = onnx.Mul(%0, %half) : f32[32,64,1]
//!   %2 = onnx.Conv(%x, %1) : f32[n,32,9]
//!   %3 = onnx.Expand(%half, %line) : f32[128,1]
//!   %4 = onnx.Mul(%y, %3) : f32[n,128,9]
//!   return %2, %4
//! }
//! →
//! fn @main(%x: f32[n,64,9], %y: f32[n,128,9]) -> (%z: f32[n,32,9], %s: f32[n,128,9]) opset("" = 17) {
//!   %0 = const f32[] 0.5
//!   %1 = const i64[3] [32, 64, 1]
//!   %2 = onnx.ConstantOfShape(%1) {value = tensor f32[1] [1.5]} : f32[32,64,1]
//!   %3 = onnx.Conv(%x, %2) : f32[n,32,9]
//!   %4 = onnx.Mul(%y, %0) : f32[n,128,9]
//!   return %3, %4
//! }
//! ```
//!
//! It does not fold what is random or has state, what takes no operands (`ones(shape=(4, 5))` is smaller than its
//! value), what nobody can evaluate, and what would make the function larger: see the options. Nor what an op that uses
//! it couldn't take: an integer divided by 0 in a branch that is never taken does no harm, and by the constant 0 it
//! lets a runtime refuse the model. Nor an `onnx.DequantizeLinear`, unless the model may grow: runtimes compute with
//! quantised weights as they are. What it left alone although the operands are constant, and why, is a note
//! (`relax::not-folded`).
//!
//! Source: TVM `src/relax/transform/fold_constant.cc` (ConstantChecker and ConstantFolder). Program
//! order stands for the recursion there: an op's operands were folded before it is looked at.

mod budget;
mod checker;
mod control;
mod forward;
mod ranks;
mod refine;
mod report;
mod splat;
mod typed;
mod walk;

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record;

use budget::Plan;
use checker::ConstantChecker;
pub(crate) use checker::is_shape_data;
use forward::Forward;

options! {
    /// The limits of what folding may cost.
    pub struct FoldConstant {
        /// The bytes by which one folded op may make the function larger, or 1/1600 of the bytes of its
        /// constants if that is more; all folded ops together by 8 times as much. Expressions of several ops may
        /// take as many 1/1600 as they have ops, all of them together 8.
        max_growth: i64 = 256,
        /// Fold also where the function grows beyond that.
        allow_growth: bool = false,
    }
}

/// What is folded may tell that branches of others can't run either: the rounds in which that is looked for.
const ROUNDS: usize = 4;

/// What is folded may tell the shape of what it pads or slices, whose size then is known, and so on: the rounds in
/// which that is followed.
const REFINEMENTS: usize = 12;

pub(crate) fn fold_constant(f: &mut Function, cx: &PassContext) -> PassResult {
    for _ in 1..ROUNDS {
        let only = ranks::only_branches(f, cx)?;
        if only.is_empty() {
            break;
        }
        fold(f, cx, only, false)?;
    }
    let only = ranks::only_branches(f, cx)?;
    let mut users = fold(f, cx, only, true)?;
    for _ in 0..REFINEMENTS {
        if !refine::refine(f, cx, users)? {
            break;
        }
        let only = ranks::only_branches(f, cx)?;
        users = fold(f, cx, only, false)?;
    }
    Ok(())
}

/// Folds what can be folded, given the branches that run if anything does; answers the users of what was folded.
fn fold(
    f: &mut Function,
    cx: &PassContext,
    only: HashMap<OpId, bool>,
    tells: bool,
) -> Result<Vec<OpId>, PassError> {
    let options = cx.options::<FoldConstant>()?;
    let checker = f.analysis::<ConstantChecker>(cx)?;
    if !checker.found && only.is_empty() {
        return Ok(Vec::new());
    }
    let mut flags = checker.flags.clone();
    only.keys().for_each(|op| flags.set(op.index(), true));
    let limits = budget::Limits::new(f, &options);
    let useful = budget::useful(f, &flags, &limits);
    let mut forward = Forward::new(cx, flags, useful, only, &limits);
    forward.run(f)?;
    let plan = Plan::new(f, &forward, &limits);
    if tells {
        report::emit(f, cx, &forward, &plan);
    }
    apply(f, &forward, &plan)
}

/// Puts constants where the plan says so, erases what nobody needs any more; answers who has the constants now.
fn apply(f: &mut Function, forward: &Forward<'_>, plan: &Plan) -> Result<Vec<OpId>, PassError> {
    let (mut left, mut users) = (forward.left.clone(), Vec::new());
    // Those who use a value are gone before what gives it.
    for (index, folded) in forward.folded.iter().enumerate().rev() {
        if plan.stays[index] {
            continue;
        }
        left.extend(f.operands(folded.op).filter_map(|value| f.constant(value)));
        if plan.needed[index] {
            let results = f.results(folded.op).iter();
            users.extend(results.flat_map(|&value| f.users(value)));
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
        let unused = |record: &record::Constant| f.use_count(record.value) == 0;
        if f.constant_record(id).as_ref().is_some_and(unused) {
            f.erase_constant(id)?;
        }
    }
    Ok(users)
}
