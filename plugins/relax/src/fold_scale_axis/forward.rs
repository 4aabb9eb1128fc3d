//! `relax.transform.ForwardFoldScaleAxis`: folds scale and bias ops before a convolution or matmul into its weights.
//!
//! ```ir
//! fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
//!   %w = const f32[2,2,1] [1.0, 2.0, 3.0, 4.0]
//!   %scale = const f32[2,1] [2.0, 10.0]
//!   %bias = const f32[2,1] [0.5, 0.25]
//!   %0 = onnx.Mul(%x, %scale) : f32[1,2,n]
//!   %1 = onnx.Sub(%0, %bias) : f32[1,2,n]
//!   %2 = onnx.Conv(%1, %w) : f32[1,2,n]
//!   return %2
//! }
//! →
//! fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
//!   %0 = const f32[2] [-1.0, -2.5]
//!   %1 = const f32[2,2,1] [2.0, 20.0, 6.0, 40.0]
//!   %2 = onnx.Conv(%x, %1, %0) : f32[1,2,n]
//!   return %2
//! }
//! ```
//!
//! This is the counterpart of BackwardFoldScaleAxis for weights that follow. The result may have several users if all
//! paths lead to weights. The constants of a sum on a path are scaled. A bias is only folded if no window reads
//! padding. In types of less than 32 bits it stays, because adding a large bias may round small numbers away.
//!
//! The restrictions of BackwardFoldScaleAxis apply as well. An op that changes the shape of its operand stays.
//!
//! Rewrites are counted as `product_before_weights` and `sum_before_weights`, which can be disabled like rules.
//!
//! Source: TVM `src/relay/transforms/fold_scale_axis.cc` (ForwardFoldScaleAxis).

use passdock_plugin_api::prelude::*;

use super::{MAX_DEPTH, passes};
use crate::channels::affine::Affine;
use crate::channels::constants::{self, Axis};
use crate::channels::fold::{Moved, Plan};
use crate::channels::linear::{Linear, Side};
use crate::shared::read::{is_one, operand, operator, size, unless_no_match};

/// Returns a plan that folds an op into the weights after it.
///
/// Fails with [`NoMatch`] if there are none, or if they can't absorb it.
pub(crate) fn plan(f: &Function, op: OpId) -> Result<Plan, EditError> {
    let axis = axis(f, f.result(op, 0))?;
    for data in 0..f.operand_count(op).min(2) {
        let value = operand(f, op, data);
        if value.is_none() || f.constant(value).is_some() {
            continue;
        }
        if let Some(affine) = unless_no_match(Affine::from_op(f, op, data, axis))?
            && keeps_shape(f, op, data, axis)
            && let Some(plan) = unless_no_match(find(f, Plan::new(op, data), &affine, axis))?
        {
            return Ok(plan);
        }
    }
    Err(NoMatch.into())
}

/// Whether the result of an op has the shape of its data operand. The other operands have one element per channel.
fn keeps_shape(f: &Function, op: OpId, data: usize, axis: Axis) -> bool {
    if matches!(operator(f, op), "onnx.BatchNormalization" | "onnx.Neg") {
        return true;
    }
    let (data, other) = (operand(f, op, data), operand(f, op, 1 - data));
    let has_channels = size(f, data, axis.at) == Some(axis.channels as i64);
    let has_rank = f.rank(data) == Some(axis.rank);
    has_rank && (has_channels || is_one(f, other)) || f.rank(other) == Some(0)
}

/// Returns the channel axis of a value according to the nearest weights after it.
fn axis(f: &Function, value: ValueId) -> Result<Axis, EditError> {
    let mut value = value;
    for _ in 0..MAX_DEPTH {
        let one = f.iter_uses(value).next().ok_or(NoMatch)?;
        if let Some(linear) = unless_no_match(Linear::from_op(f, one.op))? {
            return Ok(linear.axis(f, Side::Input));
        }
        let is_between = matches!(operator(f, one.op), "onnx.Add" | "onnx.Sub");
        NoMatch::unless(passes(f, one.op, true) || is_between)?;
        value = f.result(one.op, 0);
    }
    Err(NoMatch.into())
}

/// Finds all weights that have to absorb the op, and the operands between that have to change.
fn find(f: &Function, mut plan: Plan, affine: &Affine, axis: Axis) -> Result<Plan, EditError> {
    let Affine { factor, offset } = affine;
    let is_positive = factor.all(|factor| factor > 0.0);
    let mut pending = vec![f.result(plan.erased, 0)];
    let mut steps = 0;
    while let Some(value) = pending.pop() {
        for one in f.iter_uses(value) {
            steps += 1;
            let op = one.op;
            NoMatch::unless(steps <= MAX_DEPTH)?;
            if let Some(linear) = unless_no_match(Linear::from_op(f, op))? {
                let is_new = plan.linears.iter().all(|(other, _, _)| other.op != op);
                // Offsets stay in types of less than 32 bits: the model may rely on how a large sum is rounded.
                let is_wide = matches!(linear.weights.dtype, DType::F32 | DType::F64);
                let can_move = offset.are(0.0) || linear.is_unpadded(f) && is_wide;
                let is_data = one.index == linear.data_at();
                let has_axis = linear.axis(f, Side::Input) == axis;
                NoMatch::unless(is_data && has_axis && is_new && can_move)?;
                plan.linears.push((linear, Side::Input, affine.clone()));
                continue;
            }
            NoMatch::unless(offset.are(0.0))?;
            if passes(f, op, is_positive) {
                pending.push(f.result(op, 0));
                continue;
            }
            let is_sum = matches!(operator(f, op), "onnx.Add" | "onnx.Sub");
            let other = operand(f, op, 1 - one.index.min(1));
            NoMatch::unless(is_sum && factor.all(|factor| factor != 0.0))?;
            let numbers = constants::along(f, other, axis)?;
            plan.moved.push(Moved {
                op,
                index: 1 - one.index,
                numbers: numbers.with(factor, |number, factor| number / factor),
                axis,
            });
            pending.push(f.result(op, 0));
        }
    }
    NoMatch::unless(!plan.linears.is_empty())?;
    Ok(plan)
}
