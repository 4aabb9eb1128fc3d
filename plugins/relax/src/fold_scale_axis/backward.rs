//! `relax.transform.BackwardFoldScaleAxis`: folds scale and bias ops that follow a convolution or matmul into its
//! weights.
//!
//! ```ir
//! fn @main(%x: f32[1,1,4]) -> (%y: f32[1,2,2]) opset("" = 17) {
//!   %w = const f32[2,1,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
//!   %scale = const f32[2,1] [2.0, 10.0]
//!   %bias = const f32[2,1] [0.5, 0.25]
//!   %0 = onnx.Conv(%x, %w) : f32[1,2,2]
//!   %1 = onnx.Mul(%0, %scale) : f32[1,2,2]
//!   %2 = onnx.Add(%1, %bias) : f32[1,2,2]
//!   %3 = onnx.Relu(%2) : f32[1,2,2]
//!   return %3
//! }
//! →
//! fn @main(%x: f32[1,1,4]) -> (%y: f32[1,2,2]) opset("" = 17) {
//!   %0 = const f32[2,1,3] [2.0, 4.0, 6.0, 40.0, 50.0, 60.0]
//!   %1 = const f32[2] [0.5, 0.25]
//!   %2 = onnx.Conv(%x, %0, %1) : f32[1,2,2]
//!   %3 = onnx.Relu(%2) : f32[1,2,2]
//!   return %3
//! }
//! ```
//!
//! The pass folds `onnx.Mul`, `Div`, `Add`, `Sub` and `Neg` with constants that have one element per channel. The
//! weights are those of an `onnx.Conv`, `ConvTranspose`, `Gemm` or `MatMul`, and must be constant. They may be the left
//! operand of a MatMul, where the channels are the rows. A factor may pass `onnx.Relu`, `LeakyRelu` and `MaxPool` if it
//! is positive. It also passes average pools, products with constants, and sums if all their operands can absorb it. A
//! bias passes nothing, but is folded into a sum with constants. A MatMul absorbs a bias only if it is a product of
//! matrices, and becomes a Gemm.
//!
//! Numbers are computed in float64 and rounded once. The pass doesn't fold if a number would be infinite or lose
//! precision, or if a result has other users. It doesn't fold results from other regions, or ops that broadcast the
//! result to another shape. It also doesn't fold if the model would grow by more than the option allows, because
//! weights with other users have to be duplicated.
//!
//! The pass leaves decomposed GELUs, layer normalizations and RMS normalizations alone, including their scale and bias,
//! because runtimes have one kernel for each, in all opsets. Weights are only read if they are folded.
//!
//! Rewrites are counted as `product_after_weights` and `sum_after_weights`, which can be disabled like rules.
//!
//! Source: TVM `src/relay/transforms/fold_scale_axis.cc` (BackwardFoldScaleAxis).

use passdock_plugin_api::prelude::*;

use super::{MAX_DEPTH, passes};
use crate::channels::affine::Affine;
use crate::channels::constants::{self, Axis};
use crate::channels::fold::{Moved, Plan};
use crate::channels::linear::{Linear, Side};
use crate::channels::numbers::Numbers;
use crate::shared::read::{operand, operator, unless_no_match};

/// Returns a plan that folds an op into the weights before it.
///
/// Fails with [`NoMatch`] if there are none, or if they can't absorb it.
pub(crate) fn plan(f: &Function, op: OpId) -> Result<Plan, EditError> {
    for data in 0..f.operand_count(op).min(2) {
        let value = operand(f, op, data);
        let Some(axis) = unless_no_match(axis(f, op, value))? else {
            continue;
        };
        if let Some(affine) = unless_no_match(Affine::from_op(f, op, data, axis))?
            && let Some(plan) = unless_no_match(find(f, Plan::new(op, data), affine, axis))?
        {
            return Ok(plan);
        }
    }
    Err(NoMatch.into())
}

/// Returns the op that defines a value, if it is in the region of `user` and the value has no other use.
fn only_producer(f: &Function, user: OpId, value: ValueId) -> Option<OpId> {
    let op = f.defining_op(value)?;
    let is_near = f.parent_region(op) == f.parent_region(user);
    (is_near && f.use_count(value) == 1 && f.index(value) == 0).then_some(op)
}

/// Returns the channel axis of a value according to the nearest weights before it.
fn axis(f: &Function, user: OpId, value: ValueId) -> Result<Axis, EditError> {
    let (mut user, mut value) = (user, value);
    for _ in 0..MAX_DEPTH {
        let op = only_producer(f, user, value).ok_or(NoMatch)?;
        if let Some(linear) = unless_no_match(Linear::from_op(f, op))? {
            return Ok(linear.output(f));
        }
        let is_between = matches!(
            operator(f, op),
            "onnx.Add" | "onnx.Sub" | "onnx.Mul" | "onnx.Div"
        );
        NoMatch::unless(passes(f, op, true) || is_between)?;
        let operands = f.operands(op);
        let mut created = operands.filter(|&operand| only_producer(f, op, operand).is_some());
        (user, value) = (op, created.next().ok_or(NoMatch)?);
    }
    Err(NoMatch.into())
}

/// Finds all weights that have to absorb the op, and the operands between that have to change.
fn find(f: &Function, mut plan: Plan, affine: Affine, axis: Axis) -> Result<Plan, EditError> {
    let is_positive = affine.factor.all(|factor| factor > 0.0);
    let mut affine = affine;
    let mut pending = vec![(plan.erased, operand(f, plan.erased, plan.data))];
    let mut steps = 0;
    while let Some((user, value)) = pending.pop() {
        steps += 1;
        NoMatch::unless(steps <= MAX_DEPTH)?;
        let op = only_producer(f, user, value).ok_or(NoMatch)?;
        if let Some(linear) = unless_no_match(Linear::from_op(f, op))? {
            NoMatch::unless(linear.output(f) == axis)?;
            plan.linears.push((linear, Side::Output, affine.clone()));
            continue;
        }
        let operand = |index: usize| operand(f, op, index);
        let numbers = |index| unless_no_match(constants::along(f, operand(index), axis));
        match operator(f, op) {
            name @ ("onnx.Add" | "onnx.Sub") => {
                // A bias is folded into the constants of a sum; only the factor propagates further.
                let mut offset = Some(std::mem::replace(&mut affine.offset, Numbers::every(0.0)));
                for index in [1, 0] {
                    match numbers(index)? {
                        Some(numbers) => {
                            let is_moved = name == "onnx.Sub" && index == 1;
                            let sign = if is_moved { -1.0 } else { 1.0 };
                            let more = offset.take().unwrap_or(Numbers::every(0.0));
                            let numbers =
                                numbers.with(&affine.factor, |number, factor| number * factor);
                            plan.moved.push(Moved {
                                op,
                                index,
                                numbers: numbers.with(&more, |number, more| number + sign * more),
                                axis,
                            });
                        }
                        None if f.rank(operand(index)) == Some(axis.rank) => {
                            pending.push((op, operand(index)));
                        }
                        None => return Err(NoMatch.into()),
                    }
                }
                NoMatch::unless(offset.is_none_or(|offset| offset.are(0.0)))?;
            }
            // Only a factor propagates past other ops.
            _ if !affine.offset.are(0.0) => return Err(NoMatch.into()),
            _ if passes(f, op, is_positive) => pending.push((op, operand(0))),
            "onnx.Mul" | "onnx.Div" => {
                if numbers(1)?.is_some() {
                    pending.push((op, operand(0)));
                } else {
                    NoMatch::unless(operator(f, op) == "onnx.Mul" && numbers(0)?.is_some())?;
                    pending.push((op, operand(1)));
                }
            }
            _ => return Err(NoMatch.into()),
        }
    }
    NoMatch::unless(!plan.linears.is_empty())?;
    Ok(plan)
}
