//! `relax.transform.ToGraphNormalForm`: converts to graph normal form: sorts ops by the dataflow graph alone.
//!
//! ```ir
//! fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
//!   %a = onnx.Relu(%x) : f32[2]
//!   %b = onnx.Abs(%a) : f32[2]
//!   %c = onnx.Neg(%x) : f32[2]
//!   %d = onnx.Add(%b, %c) : f32[2]
//!   return %d
//! }
//! →
//! fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
//!   %a = onnx.Relu(%x) : f32[2]
//!   %c = onnx.Neg(%x) : f32[2]
//!   %b = onnx.Abs(%a) : f32[2]
//!   %d = onnx.Add(%b, %c) : f32[2]
//!   return %d
//! }
//! ```
//!
//! In TVM, the pass removes let bindings and thereby their order. In this IR, values have no bindings, so the pass
//! normalizes the order. The ops of a region are sorted by level, the length of the longest dependency chain before
//! them; ops of one level keep their order. Each op that has effects, or contains ops with effects, is on a higher
//! level than the previous one.
//!
//! The pass doesn't move ops into or out of regions and doesn't remove dead code.
//!
//! Source: TVM `src/relay/transforms/to_graph_normal_form.cc`.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use crate::shared::schedule::{Constraints, schedule};

pub(crate) fn to_graph_normal_form(f: &mut Function, _: &PassContext) -> PassResult {
    Ok(schedule(f, by_level)?)
}

/// Returns the ops of a region, sorted by level.
fn by_level(f: &Function, region: RegionId, constraints: &Constraints) -> Vec<OpId> {
    let mut levels: HashMap<OpId, usize> = HashMap::new();
    let mut ordered = Vec::new();
    let mut last_fixed = 0;
    for op in f.ops_in(region) {
        let before = constraints.needed(op).iter().map(|op| levels[op]);
        let mut level = before.max().unwrap_or(0) + 1;
        if f.is_terminator(op) {
            level = usize::MAX;
        } else if constraints.fixed.contains(&op) {
            level = level.max(last_fixed + 1);
            last_fixed = level;
        }
        levels.insert(op, level);
        ordered.push((level, op));
    }
    ordered.sort_by_key(|&(level, _)| level);
    ordered.into_iter().map(|(_, op)| op).collect()
}
