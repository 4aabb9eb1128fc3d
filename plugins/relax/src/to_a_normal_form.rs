//! `relax.transform.ToANormalForm`: converts to A-normal form: sorts ops into evaluation order.
//!
//! ```ir
//! fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
//!   %a = onnx.Relu(%x) : f32[2]
//!   %b = onnx.Neg(%x) : f32[2]
//!   %c = onnx.Abs(%a) : f32[2]
//!   %d = onnx.Add(%b, %c) : f32[2]
//!   return %d
//! }
//! →
//! fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
//!   %b = onnx.Neg(%x) : f32[2]
//!   %a = onnx.Relu(%x) : f32[2]
//!   %c = onnx.Abs(%a) : f32[2]
//!   %d = onnx.Add(%b, %c) : f32[2]
//!   return %d
//! }
//! ```
//!
//! In A-normal form, each operand is a variable, and definitions precede uses. The IR always has this form: operands
//! are values, nested expressions are ops, and the verifier checks their order. The pass chooses one of the possible
//! orders: that of a recursive evaluator. The evaluator starts at the results of each region and visits operands from
//! left to right, each op once. Ops that have effects, or contain ops with effects, keep their order. So do ops with
//! unused results, which follow the ops that preceded them.
//!
//! The pass doesn't move ops into or out of regions, doesn't remove dead code, and doesn't change functions that skip
//! optimization (`SkipOptimization`, `Compiler`, `Extern`).
//!
//! Source: TVM `src/relay/transforms/to_a_normal_form.cc`.

use std::collections::HashSet;

use passdock_plugin_api::prelude::*;

use crate::shared::call_graph::optimized_functions;
use crate::shared::schedule::{Constraints, schedule};

pub(crate) fn to_a_normal_form(m: &mut Module<'_>, _: &PassContext) -> PassResult {
    for name in optimized_functions(m)? {
        schedule(m.edit(name)?, depth_first)?;
    }
    Ok(())
}

/// Returns the ops of a region in post-order of their dependencies.
fn depth_first(f: &Function, region: RegionId, constraints: &Constraints) -> Vec<OpId> {
    // The roots keep their order; the terminator is the last one.
    let is_root = |op: &OpId| {
        constraints.fixed.contains(op)
            || f.terminator(region) == Some(*op)
            || f.results(*op)
                .iter()
                .all(|&result| f.use_count(result) == 0)
    };
    let mut order = Vec::new();
    let mut done = HashSet::new();
    let mut pending: Vec<(OpId, std::slice::Iter<'_, OpId>)> = Vec::new();
    for root in f.ops_in(region).filter(is_root) {
        let mut next = Some(root);
        loop {
            if let Some(op) = next.take().filter(|&op| done.insert(op)) {
                pending.push((op, constraints.needed(op).iter()));
            }
            let Some((op, rest)) = pending.last_mut() else {
                break;
            };
            next = rest.next().copied();
            if next.is_none() {
                order.push(*op);
                pending.pop();
            }
        }
    }
    order
}
