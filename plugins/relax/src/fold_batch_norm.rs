//! `relax.transform.FoldBatchNorm`: folds batch normalization in inference mode into the weights of adjacent ops.
//!
//! ```ir
//! fn @main(%x: f32[1,1,4]) -> (%y: f32[1,2,2]) opset("" = 17) {
//!   %w = const f32[2,1,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
//!   %scale = const f32[2] [2.0, 10.0]
//!   %bias = const f32[2] [0.5, 0.25]
//!   %mean = const f32[2] [1.0, 2.0]
//!   %var = const f32[2] [0.75, 3.75]
//!   %0 = onnx.Conv(%x, %w) : f32[1,2,2]
//!   %1 = onnx.BatchNormalization(%0, %scale, %bias, %mean, %var) {epsilon = 0.25} : f32[1,2,2]
//!   %2 = onnx.Relu(%1) : f32[1,2,2]
//!   return %2
//! }
//! →
//! fn @main(%x: f32[1,1,4]) -> (%y: f32[1,2,2]) opset("" = 17) {
//!   %0 = const f32[2,1,3] [2.0, 4.0, 6.0, 20.0, 25.0, 30.0]
//!   %1 = const f32[2] [-1.5, -9.75]
//!   %2 = onnx.Conv(%x, %0, %1) : f32[1,2,2]
//!   %3 = onnx.Relu(%2) : f32[1,2,2]
//!   return %3
//! }
//! ```
//!
//! The weights are those of a preceding `onnx.Conv`, `ConvTranspose`, `Gemm` or `MatMul`. They can also be those of a
//! following one that reads no padding. A MatMul of matrices becomes a Gemm, which has a bias. If there are no weights,
//! the BatchNormalization absorbs the scale and bias ops that follow it, as exporters of older frameworks write them.
//! If the numbers of all channels are equal, the chain becomes one `onnx.Mul` and one `onnx.Add`.
//!
//! Numbers are computed in float64 and rounded once. The pass doesn't fold a BatchNormalization in training mode. It
//! doesn't fold either if a number would be infinite or lose precision, if the result of the preceding op has other
//! users, or if the model would grow by more than the option allows, because weights and parameters that other ops use
//! have to be duplicated. Parameters and weights that are `onnx.ConstantOfShape`s stay in that form.
//!
//! Rewrites are counted as `batch_norm_after_weights`, `batch_norm_before_weights`, `batch_norm_before_arithmetic` and
//! `batch_norm_as_scalars`, which can be disabled like rules.
//!
//! Source: TVM `src/relay/transforms/simplify_inference.cc` and `fold_scale_axis.cc`, which use two steps.

use passdock_plugin_api::prelude::*;

use crate::channels::affine::Affine;
use crate::channels::constants::{self, Axis};
use crate::channels::fold::Folder;
use crate::channels::numbers::push;
use crate::fold_scale_axis::{plan_backward, plan_forward};
use crate::shared::operators::is_operator;
use crate::shared::read::{add_tensor, only_use, operand, operator, size, unless_no_match};

options! {
    /// Options of FoldBatchNorm.
    pub struct FoldBatchNorm {
        /// Whether to fold even if the function grows by more than 1/1000 of the bytes of its constants. Within that
        /// limit, either all folds with a cost are applied or none.
        allow_growth: bool = false,
    }
}

/// The inverse of the growth limit, as a fraction of the constants' bytes. The other folding passes of the default
/// pipeline may use nine more of these parts.
const PART: u64 = 1000;

const NAME: &str = "onnx.BatchNormalization";

pub(crate) fn fold_batch_norm(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<FoldBatchNorm>()?;
    Folder::run(f, cx, options.allow_growth, PART, |f, folder| {
        for op in f.ops_named(NAME) {
            if operator(f, op) == NAME {
                fold(f, cx, folder, op)?;
            }
        }
        Ok(())
    })
}

fn fold(f: &mut Function, cx: &PassContext, folder: &mut Folder<'_>, norm: OpId) -> PassResult {
    for plan in [plan_backward, plan_forward] {
        if let Some(plan) = unless_no_match(plan(f, norm))?
            && folder.fold(f, plan)?
        {
            return Ok(());
        }
    }
    match unless_no_match(Chain::after(f, norm))? {
        Some(chain) => chain.fold(f, cx, folder),
        None => Ok(()),
    }
}

/// A BatchNormalization and the scale and bias ops that follow it.
struct Chain {
    axis: Axis,
    /// The ops, starting with the BatchNormalization.
    ops: Vec<OpId>,
    /// The composition of all ops.
    all: Affine,
    /// The composition of the ops after the BatchNormalization.
    more: Affine,
}

impl Chain {
    fn after(f: &Function, norm: OpId) -> Result<Chain, EditError> {
        let rank = f
            .rank(operand(f, norm, 0))
            .filter(|rank| *rank >= 2)
            .ok_or(NoMatch)?;
        let channels = size(f, operand(f, norm, 1), 0).ok_or(NoMatch)?;
        let axis = Axis {
            rank,
            at: 1,
            channels: channels.max(0) as usize,
        };
        let all = Affine::from_op(f, norm, 0, axis)?;
        let mut chain = Chain {
            axis,
            ops: vec![norm],
            all,
            more: Affine::nothing(),
        };
        let mut last = f.result(norm, 0);
        while let Some(one) = only_use(f, last) {
            let is_near = f.parent_region(one.op) == f.parent_region(norm);
            if !is_near || one.index > 1 || operator(f, one.op) == NAME {
                break;
            }
            let Some(next) = unless_no_match(Affine::from_op(f, one.op, one.index, axis))? else {
                break;
            };
            chain.ops.push(one.op);
            chain.all = chain.all.then(&next);
            chain.more = chain.more.then(&next);
            last = f.result(one.op, 0);
        }
        NoMatch::unless(chain.ops.len() > 1 && f.use_count(last) > 0)?;
        Ok(chain)
    }

    fn fold(&self, f: &mut Function, cx: &PassContext, folder: &mut Folder<'_>) -> PassResult {
        let numbers = self.all.factor.one().zip(self.all.offset.one());
        let rule = match numbers {
            Some(_) => "batch_norm_as_scalars",
            None => "batch_norm_before_arithmetic",
        };
        if !cx.may_rewrite(rule) {
            return Ok(());
        }
        let is_done = match numbers {
            Some((factor, offset)) => self.as_numbers(f, cx, folder, factor, offset)?,
            None => self.to_parameters(f, folder)?,
        };
        if is_done {
            cx.rewrote(rule);
        }
        Ok(())
    }

    /// Replaces the chain with a multiplication and an addition of scalars. Returns whether it was replaced.
    fn as_numbers(
        &self,
        f: &mut Function,
        cx: &PassContext,
        folder: &mut Folder<'_>,
        factor: f64,
        offset: f64,
    ) -> Result<bool, EditError> {
        let (norm, last) = (self.ops[0], self.ops[self.ops.len() - 1]);
        let mut value = operand(f, norm, 0);
        let ty = f.type_id(f.result(last, 0));
        let Some(dtype) = f.dtype(value) else {
            return Ok(false);
        };
        let mut steps = Vec::new();
        for (name, number, neutral) in [("onnx.Mul", factor, 1.0), ("onnx.Add", offset, 0.0)] {
            let mut bytes = Vec::new();
            if number == neutral {
                continue;
            }
            if push(dtype, number, &mut bytes).is_none() || !is_operator(cx, name) {
                return Ok(false);
            }
            steps.push((name, bytes));
        }
        let is_spread = f.opset("").is_some_and(|version| version >= 7);
        if steps.is_empty() || steps.len() >= self.ops.len() || !is_spread {
            return Ok(false);
        }
        let loc = f.fused_loc(&self.ops)?;
        for (name, bytes) in steps {
            let number = add_tensor(f, dtype, &[], &bytes)?;
            let op = OpBuilder::new(name).operands([value, number]);
            let op = f.create_op(op.result(ty).loc(loc), Position::before(last))?;
            value = f.result(op, 0);
        }
        folder.spend(0);
        f.replace_with_and_erase_dead(last, &[value])?;
        Ok(true)
    }

    /// Folds the ops after the BatchNormalization into its scale and bias. Returns whether they were folded.
    fn to_parameters(&self, f: &mut Function, folder: &mut Folder<'_>) -> Result<bool, EditError> {
        let (norm, going) = (self.ops[0], &self.ops[1..]);
        let (scale, bias) = (operand(f, norm, 1), operand(f, norm, 2));
        let Some((new_scale, new_bias)) = unless_no_match(self.parameters(f, folder, scale, bias))?
        else {
            return Ok(false);
        };
        let loc = f.fused_loc(&self.ops)?;
        let result = f.result(norm, 0);
        for &op in going {
            f.replace_with_and_erase_dead(op, &[result])?;
        }
        f.set_loc(norm, loc)?;
        f.set_operand(norm, 1, new_scale)?;
        f.set_operand(norm, 2, new_bias)?;
        for value in [scale, bias] {
            f.erase_dead(value)?;
        }
        Ok(true)
    }

    /// Creates the new scale and bias. Fails if they can't be computed or exceed the budget.
    fn parameters(
        &self,
        f: &mut Function,
        folder: &mut Folder<'_>,
        scale: ValueId,
        bias: ValueId,
    ) -> Result<(ValueId, ValueId), EditError> {
        let (norm, going, count) = (self.ops[0], &self.ops[1..], self.axis.channels);
        let along = |value: ValueId| constants::along(f, value, Axis::list(count));
        let (old_scale, old_bias) = (along(scale)?, along(bias)?);
        let factor = &self.more.factor;
        let is_scaled = !factor.are(1.0);
        let old = if is_scaled {
            &[scale, bias][..]
        } else {
            &[bias]
        };
        let lists = vec![count; old.len()];
        let profit = folder
            .profit_of_lists(f, norm, old, &lists, going)
            .ok_or(NoMatch)?;
        let dims = vec![count as i64];
        let new_bias = old_bias.with(factor, |bias, factor| bias * factor);
        let new_bias = new_bias.with(&self.more.offset, |bias, offset| bias + offset);
        let new_bias = folder.list(f, bias, dims.clone(), &new_bias)?;
        let mut new_scale = scale;
        if is_scaled {
            let numbers = old_scale.with(factor, |scale, factor| scale * factor);
            let Some(list) = unless_no_match(folder.list(f, scale, dims, &numbers))? else {
                f.erase_dead(new_bias)?;
                return Err(NoMatch.into());
            };
            new_scale = list;
        }
        folder.spend(profit);
        Ok((new_scale, new_bias))
    }
}
