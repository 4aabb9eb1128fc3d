//! `relax.transform.ToGraphNormalForm`: puts ops in the order that the graph alone gives.
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
//! In TVM it takes bindings away, and with them their order. Here values are bound to nothing but the
//! ops that make them, so what goes is the order: the ops of a region stand by how many others have to
//! come before them, those of one level as they stood. Of ops with an effect, and those that hold one,
//! each is on a higher level than the one before.
//!
//! It does not move ops into or out of regions, nor remove what is unused.
//!
//! Source: TVM `src/relay/transforms/to_graph_normal_form.cc`.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use crate::shared::schedule::{Constraints, schedule};

pub(crate) fn to_graph_normal_form(f: &mut Function, _: &PassContext) -> PassResult {
    Ok(schedule(f, by_level)?)
}

/// The ops of a region by how many others have to come before them.
fn by_level(f: &Function, region: RegionId, constraints: &Constraints) -> Vec<OpId> {
    let mut levels: HashMap<OpId, usize> = HashMap::new();
    let mut ordered = Vec::new();
    let mut last_fixed = 0;
    for op in f.ops_in(region) {
        let before = constraints.needed(op).iter().map(|op| levels[op]);
        let mut level = before.max().unwrap_or(0) + 1;
        if f.terminator(region) == Some(op) {
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
