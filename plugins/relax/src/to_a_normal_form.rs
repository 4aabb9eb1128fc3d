//! `relax.transform.ToANormalForm`: puts ops in the order in which they are evaluated.
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
//! In A-normal form each operand is a name, and each op stands behind what it uses. Nothing else can be
//! written in this IR: operands are values, nested expressions are ops, and the verifier sees to their
//! order. What is left to the pass is which of the possible orders it is: the one in which a recursive
//! evaluator comes to the ops of each region, from its results, operands from left to right, each op
//! once. Ops with an effect, and those that hold one, keep their order; so do ops whose results nobody
//! uses, behind what was before them.
//!
//! It does not move ops into or out of regions, nor remove what is unused, nor touch functions that
//! skip optimization (`SkipOptimization`, `Compiler`, `Extern`).
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

/// The ops of a region in the order in which they are needed.
fn depth_first(f: &Function, region: RegionId, constraints: &Constraints) -> Vec<OpId> {
    // What has to come in this order; the terminator is the last of it.
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
