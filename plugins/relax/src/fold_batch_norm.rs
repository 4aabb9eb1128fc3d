//! `relax.transform.FoldBatchNorm`: lets weights take over what a BatchNormalization does in inference.
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
//! The weights are those of an `onnx.Conv`, `ConvTranspose`, `Gemm` or `MatMul` before it (a MatMul of matrices becomes
//! a Gemm, which can add), or behind it, if they are never laid over padding. Where there are none, it takes over what
//! is multiplied and added behind it, as exporters of older frameworks write it; with the same numbers for all
//! channels, all of that is one `onnx.Mul` and one `onnx.Add`.
//!
//! Numbers are computed as float64 and rounded once, whatever the types are. It does not touch what trains or may, a
//! variance that isn't positive, what would be infinite then or lose digits, a result before it that somebody else
//! uses, and what makes the model larger than the option says: weights and parameters that others share stay with
//! those, and are made once more. Parameters and weights of `onnx.ConstantOfShape` stay such.
//!
//! It counts as `batch_norm_behind_weights`, `batch_norm_before_weights`, `batch_norm_before_arithmetic` and
//! `batch_norm_as_numbers`, which can be disabled as rules can.
//!
//! Source: TVM `src/relay/transforms/simplify_inference.cc` and `fold_scale_axis.cc`, which do it in two steps.

use passdock_plugin_api::prelude::*;

use crate::channels::affine::Affine;
use crate::channels::constants::Axis;
use crate::channels::fold::Folder;
use crate::channels::operator;
use crate::fold_scale_axis::{plan_backward, plan_forward};
use crate::shared::operators::is_operator;

options! {
    /// The limits of what folding may cost.
    pub struct FoldBatchNorm {
        /// Fold also where the function grows by more than 1/1000 of the bytes of its constants. Within that, all that
        /// costs something is folded, otherwise none.
        allow_growth: bool = false,
    }
}

/// The part of the constants' bytes by which a function may grow at once. What else the default pipeline folds may take
/// nine more of these.
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
        if let Some(plan) = plan(f, norm)?
            && folder.fold(f, plan)?
        {
            return Ok(());
        }
    }
    match Chain::behind(f, norm)? {
        Some(chain) => chain.fold(f, cx, folder),
        None => Ok(()),
    }
}

/// A BatchNormalization and what is multiplied and added behind it.
struct Chain {
    axis: Axis,
    /// The ops, the BatchNormalization first.
    ops: Vec<OpId>,
    /// What all of them do.
    all: Affine,
    /// What those behind the first do.
    more: Affine,
}

impl Chain {
    fn behind(f: &Function, norm: OpId) -> Result<Option<Chain>, EditError> {
        let operand = |index: usize| f.operand(norm, index).unwrap_or(ValueId::NONE);
        let channels = f.dims(operand(1)).and_then(|dims| dims.get(0));
        let channels = channels.and_then(Dim::as_const);
        let (Some(rank), Some(channels)) = (f.rank(operand(0)), channels) else {
            return Ok(None);
        };
        let axis = Axis {
            rank,
            at: 1,
            channels: channels.max(0) as usize,
        };
        let all = match Affine::from_op(f, norm, 0, axis)? {
            Some(all) if rank >= 2 => all,
            _ => return Ok(None),
        };
        let mut chain = Chain {
            axis,
            ops: vec![norm],
            all,
            more: Affine::nothing(),
        };
        loop {
            let last = chain.ops[chain.ops.len() - 1];
            let mut uses = f.iter_uses(f.result(last, 0));
            let (Some(one), None) = (uses.next(), uses.next()) else {
                break;
            };
            let is_near = f.parent_region(one.op) == f.parent_region(norm);
            if !is_near || one.index > 1 || operator(f, one.op) == NAME {
                break;
            }
            let Some(next) = Affine::from_op(f, one.op, one.index, axis)? else {
                break;
            };
            chain.ops.push(one.op);
            chain.all = chain.all.then(&next);
            chain.more = chain.more.then(&next);
        }
        let last = chain.ops.last().map_or(norm, |last| *last);
        let is_used = f.use_count(f.result(last, 0)) > 0;
        Ok((chain.ops.len() > 1 && is_used).then_some(chain))
    }

    fn fold(&self, f: &mut Function, cx: &PassContext, folder: &mut Folder<'_>) -> PassResult {
        let numbers = self.all.factor.one().zip(self.all.offset.one());
        let rule = match numbers {
            Some(_) => "batch_norm_as_numbers",
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

    /// One number is multiplied and one added. Answers whether it was done.
    fn as_numbers(
        &self,
        f: &mut Function,
        cx: &PassContext,
        folder: &mut Folder<'_>,
        factor: f64,
        offset: f64,
    ) -> Result<bool, EditError> {
        let steps = [
            ("onnx.Mul", factor, factor != 1.0),
            ("onnx.Add", offset, offset != 0.0),
        ];
        let steps = steps.iter().filter(|(_, _, is_needed)| *is_needed);
        let count = steps.clone().count();
        let is_spread = f.opset("").is_some_and(|version| version >= 7);
        let are_there = steps.clone().all(|(name, _, _)| is_operator(cx, name));
        if count == 0 || count >= self.ops.len() || !is_spread || !are_there {
            return Ok(false);
        }
        let (norm, last) = (self.ops[0], self.ops[self.ops.len() - 1]);
        let mut value = f.operand(norm, 0).unwrap_or(ValueId::NONE);
        let (dtype, ty) = (f.dtype(value), f.type_id(f.result(last, 0)));
        let loc = f.fused_loc(&self.ops)?;
        let mut made = Vec::new();
        for (name, number, _) in steps {
            let mut bytes = Vec::new();
            if crate::channels::numbers::push(dtype, *number, &mut bytes).is_none() {
                break;
            }
            let scalar = f.add_type(&TypeSpec::shaped(dtype, &[]))?;
            let number = f.add_constant(&ConstantSpec::new(scalar, &bytes))?;
            let op = OpBuilder::new(*name).operands([value, number]);
            let op = f.create_op(op.result(ty).loc(loc), Position::before(last))?;
            made.push(op);
            value = f.result(op, 0);
        }
        if made.len() == count {
            folder.spend(0);
            f.replace_with_and_erase_dead(last, &[value])?;
            return Ok(true);
        }
        for op in made.iter().rev() {
            f.erase_op(*op)?;
        }
        Ok(false)
    }

    /// The scale and the bias take it over. Answers whether they do.
    fn to_parameters(&self, f: &mut Function, folder: &mut Folder<'_>) -> Result<bool, EditError> {
        let (norm, going) = (self.ops[0], &self.ops[1..]);
        let operand = |index: usize| f.operand(norm, index).unwrap_or(ValueId::NONE);
        let (scale, bias) = (operand(1), operand(2));
        let list = Axis {
            rank: 1,
            at: 0,
            channels: self.axis.channels,
        };
        let along = |value: ValueId| crate::channels::constants::along(f, value, list);
        let (Some(old_scale), Some(old_bias)) = (along(scale)?, along(bias)?) else {
            return Ok(false);
        };
        let factor = &self.more.factor;
        let is_scaled = !factor.are(1.0);
        let count = self.axis.channels;
        let lists = vec![count; 1 + usize::from(is_scaled)];
        let old: Vec<ValueId> = match is_scaled {
            true => vec![scale, bias],
            false => vec![bias],
        };
        let Some(profit) = folder.profit_of_lists(f, norm, &old, &lists, going) else {
            return Ok(false);
        };
        let dims = vec![count as i64];
        let new_scale = old_scale.with(factor, |scale, factor| scale * factor);
        let new_bias = old_bias.with(factor, |bias, factor| bias * factor);
        let new_bias = new_bias.with(&self.more.offset, |bias, offset| bias + offset);
        let (scale_type, bias_type) = (f.dtype(scale), f.dtype(bias));
        let Some(new_bias) = folder.list(f, bias_type, dims.clone(), &new_bias)? else {
            return Ok(false);
        };
        let Some(new_scale) = folder.list(f, scale_type, dims, &new_scale)? else {
            f.erase_dead(new_bias)?;
            return Ok(false);
        };
        folder.spend(profit);
        let loc = f.fused_loc(&self.ops)?;
        let result = f.result(norm, 0);
        for &op in going {
            let data = f.operands(op).position(|value| value == result);
            debug_assert!(data.is_some(), "the ops of a chain use one another");
            f.replace_with_and_erase_dead(op, &[result])?;
        }
        f.set_loc(norm, loc)?;
        if is_scaled {
            f.set_operand(norm, 1, new_scale)?;
        }
        f.set_operand(norm, 2, new_bias)?;
        for value in [scale, bias, new_scale] {
            f.erase_dead(value)?;
        }
        Ok(true)
    }
}
