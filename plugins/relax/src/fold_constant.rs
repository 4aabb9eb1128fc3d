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
//! Expressions that depend only on types are folded as well, such as a `Shape` of known dims or a `CastLike` to a known
//! type. An `onnx.If` or `if` with a constant condition is replaced by the ops of the branch that runs. An `onnx.Loop`
//! with zero iterations is replaced by its initial values, and a `tuple_get` of a `tuple` by the field. Ops and
//! constants that become unused are erased. The size of intermediate values isn't limited if they become unused.
//!
//! If the branches of an `onnx.If` yield values of different ranks, and only one rank is valid for its users, the
//! `onnx.If` is replaced by that branch. If the other branch ran, the run would fail.
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
//! A large value with equal elements (a splat) stays compact: the folded result is an `onnx.ConstantOfShape`, and an op
//! that broadcasts the value uses a single element.
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
//! The pass doesn't fold random or stateful ops, and ops that no plugin can evaluate. It doesn't fold ops without
//! operands, as `ones(shape=(4, 5))` is smaller than its value. Nor does it fold ops whose value would make the
//! function larger than the options allow. An op also stays if a user would be invalid with a constant operand. For
//! example, an integer division by 0 in a branch that never runs is harmless, but runtimes may reject the constant 0.
//! An `onnx.DequantizeLinear` stays unless growth is allowed, because runtimes compute with quantized weights directly.
//! A note (`relax::not-folded`) reports ops with constant operands that weren't folded, with the reason.
//!
//! Source: TVM `src/relax/transform/fold_constant.cc` (ConstantChecker and ConstantFolder). TVM recurses into operands;
//! this pass visits ops in program order, so operands are folded before their users.

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
    /// Options of FoldConstant.
    pub struct FoldConstant {
        /// The number of bytes by which one folded op may make the function larger, or 1/1600 of the bytes of its
        /// constants if that is more. The limit for all folded ops together is 8 times as high. An expression of
        /// several ops may use 1/1600 for each op, and all such expressions together 8/1600.
        max_growth: u64 = 256,
        /// Whether to fold even if the function grows beyond `max_growth`.
        allow_growth: bool = false,
    }
}

/// The maximum number of rounds that look for branches that can't run. A folded value may show that another branch
/// can't run.
const ROUNDS: usize = 4;

/// The maximum number of refinement rounds. A folded value may determine the shape of an op that pads or slices, which
/// may make further values constant.
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

/// Folds constant expressions. `only` has the branch that runs for each `If` where that is certain. Returns the users
/// of the folded values.
fn fold(
    f: &mut Function,
    cx: &PassContext,
    only: HashMap<OpId, bool>,
    reports: bool,
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
    if reports {
        report::emit(f, cx, &forward, &plan);
    }
    apply(f, &forward, &plan)
}

/// Replaces ops with constants as planned, and erases what becomes unused. Returns the users of the new constants.
fn apply(f: &mut Function, forward: &Forward<'_>, plan: &Plan) -> Result<Vec<OpId>, PassError> {
    let (mut left, mut users) = (forward.left.clone(), Vec::new());
    // In reverse order, so that users are erased before the ops that they use.
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
