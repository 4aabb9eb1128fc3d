//! `relax.transform.FoldScaleAxis`: folds scale and bias ops around a convolution or matmul into its weights.
//!
//! ```ir
//! fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
//!   %w = const f32[2,2,1] [1.0, 2.0, 3.0, 4.0]
//!   %before = const f32[2,1] [2.0, 10.0]
//!   %after = const f32[2,1] [0.5, 0.25]
//!   %0 = onnx.Mul(%x, %before) : f32[1,2,n]
//!   %1 = onnx.Conv(%0, %w) : f32[1,2,n]
//!   %2 = onnx.Mul(%1, %after) : f32[1,2,n]
//!   return %2
//! }
//! →
//! fn @main(%x: f32[1,2,n]) -> (%y: f32[1,2,n]) opset("" = 17) {
//!   %0 = const f32[2,2,1] [1.0, 10.0, 1.5, 10.0]
//!   %1 = onnx.Conv(%x, %0) : f32[1,2,n]
//!   return %1
//! }
//! ```
//!
//! This sequential pass runs BackwardFoldScaleAxis, ForwardFoldScaleAxis and FoldConstant.
//!
//! Source: TVM `src/relay/transforms/fold_scale_axis.cc`.

mod backward;
mod forward;

use passdock_plugin_api::prelude::*;

use crate::channels::fold::{Folder, Plan};
use crate::shared::read::{operator, unless_no_match};

options! {
    /// Options of BackwardFoldScaleAxis and ForwardFoldScaleAxis.
    pub struct FoldScaleAxis {
        /// Whether to fold even if the function grows by more than 1/2000 of the bytes of its constants, per direction.
        /// Within that limit, either all folds with a cost are applied or none.
        allow_growth: bool = false,
    }
}

/// The inverse of the growth limit per direction, as a fraction of the constants' bytes.
const PART: u64 = 2000;

/// The maximum number of ops between the folded op and the weights.
const MAX_DEPTH: usize = 16;

pub(crate) fn backward_fold_scale_axis(f: &mut Function, cx: &PassContext) -> PassResult {
    fold_scale_axis(f, cx, |f| f.ops().collect(), backward::plan)
}

pub(crate) fn forward_fold_scale_axis(f: &mut Function, cx: &PassContext) -> PassResult {
    // In reverse order, so that the last op of a chain, which is adjacent to the weights, is folded first.
    fold_scale_axis(f, cx, |f| f.ops().rev().collect(), forward::plan)
}

/// Folds the arithmetic ops for which there is a plan, in the given order.
fn fold_scale_axis(
    f: &mut Function,
    cx: &PassContext,
    order: fn(&Function) -> Vec<OpId>,
    plan: fn(&Function, OpId) -> Result<Plan, EditError>,
) -> PassResult {
    let options = cx.options::<FoldScaleAxis>()?;
    Folder::run(f, cx, options.allow_growth, PART, |f, folder| {
        for op in order(f) {
            // Folding erases ops that become dead.
            if f.is_live(op)
                && is_arithmetic(f, op)
                && let Some(plan) = unless_no_match(plan(f, op))?
            {
                folder.fold(f, plan)?;
            }
        }
        Ok(())
    })
}

fn is_arithmetic(f: &Function, op: OpId) -> bool {
    matches!(
        operator(f, op),
        "onnx.Mul" | "onnx.Div" | "onnx.Add" | "onnx.Sub" | "onnx.Neg"
    )
}

/// Whether scaling the operand of an op scales its result by the same factor, given whether the factor is positive.
fn passes(f: &Function, op: OpId, is_positive: bool) -> bool {
    match operator(f, op) {
        "onnx.Relu" | "onnx.LeakyRelu" | "onnx.MaxPool" => is_positive && f.result_count(op) == 1,
        "onnx.AveragePool" | "onnx.GlobalAveragePool" => true,
        _ => false,
    }
}

pub(crate) use backward::plan as plan_backward;
pub(crate) use forward::plan as plan_forward;
