//! `relax.transform.FuseOps`: groups ops that can run as one kernel into functions.
//!
//! ```ir
//! fn @main(%x: f32[1,8,8,8], %w: f32[8,8,3,3], %b: f32[1,8,6,6]) -> (%y: f32[1,8,6,6]) opset("" = 17) {
//!   %c = onnx.Conv(%x, %w) : f32[1,8,6,6]
//!   %s = onnx.Add(%c, %b) : f32[1,8,6,6]
//!   %y = onnx.Relu(%s) : f32[1,8,6,6]
//!   return %y
//! }
//! →
//! fn @main(%x: f32[1,8,8,8], %w: f32[8,8,3,3], %b: f32[1,8,6,6])
//!     -> (%y: f32[1,8,6,6]) opset("" = 17, "passdock.fused" = 1) {
//!   %y = passdock.fused.fused_conv_add_relu(%x, %w, %b) : f32[1,8,6,6]
//!   return %y
//! }
//! fn @passdock.fused.fused_conv_add_relu(%x: f32[1,8,8,8], %w: f32[8,8,3,3], %b: f32[1,8,6,6])
//!     -> (%y: f32[1,8,6,6]) opset("" = 17, "passdock.fused" = 1)
//!     attributes {Primitive = 1} {
//!   %c = onnx.Conv(%x, %w) : f32[1,8,6,6]
//!   %s = onnx.Add(%c, %b) : f32[1,8,6,6]
//!   %y = onnx.Relu(%s) : f32[1,8,6,6]
//!   return %y
//! }
//! ```
//!
//! The traits of op definitions determine the fusion kind of an op. The kinds are elementwise, broadcasting,
//! `injective` (data movement, resizing, quantization), reduction, and `out-fusable` (convolutions, matrix products,
//! pools, normalizations, softmaxes). An op is fused with its immediate post-dominator and all ops on the paths to it.
//! Out-fusable ops are fused with elementwise ops that follow. Elementwise ops are fused with ops of any of these
//! kinds, and injective ops with injective and elementwise ops. The functions are named after their ops, have the
//! attribute `Primitive`, and contain ONNX ops, so the model still runs. Groups with equal bodies share a function.
//! `relax.transform.DefuseOps` restores the ops. Each region is partitioned separately.
//!
//! `max_depth` is the maximum number of ops per function, `max_args` the maximum number of parameters and results
//! together (0: unlimited). `fuse_opt_level = 0` disables fusion; -1 uses the context's level.
//!
//! The pass doesn't fuse ops without a definition, with effects, with regions or without one of the traits above, and
//! doesn't create functions of a single op. Functions that skip optimization (`SkipOptimization`, `Compiler`, `Extern`)
//! and functions that are groups already (`Primitive`, `Composite`, `Target`, `Codegen`) don't change. Neither do
//! functions in `passdock` domains that represent one op, such as those of `ConvertLayout` and `FastMath`. A call of
//! such a function has the kind of that op.
//!
//! Source: TVM `src/relax/transform/fuse_ops.cc`, `src/relax/analysis/graph_partitioner.cc`.

mod graph;
mod kind;
mod name;
mod partition;

use passdock_plugin_api::prelude::*;

use crate::fusion::group::{Group, Groups};
use crate::fusion::shared::marks::{PRIMITIVE, open_functions};
use crate::fusion::shared::placeholders::Placeholders;
use graph::{Graph, Positions};
use name::name_of;
use partition::{Limits, partition};

/// The domain of the created functions.
pub(crate) const DOMAIN: &str = "passdock.fused";

/// The name under which fusions are counted and disabled, and bisected.
const RULE: &str = "fuse-ops";

options! {
    /// Options of FuseOps.
    pub struct FuseOps {
        /// The maximum number of ops per function.
        max_depth: usize = 256,
        /// The maximum number of parameters and results of a function together; 0 means unlimited.
        max_args: usize = 0,
        /// 0 disables fusion; -1 uses the level of the context.
        #[range(-1..)]
        fuse_opt_level: i64 = -1,
    }
}

/// Runs `relax.transform.FuseOps`.
pub fn fuse_ops(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<FuseOps>()?;
    let level = match options.fuse_opt_level {
        level if level < 0 => i64::from(cx.opt_level()),
        level => level,
    };
    if level == 0 {
        return Ok(());
    }
    let limits = Limits {
        ops: options.max_depth,
        args: options.max_args,
    };
    let placeholders = Placeholders::new(m)?;
    let mut groups = Groups::default();
    for holder in open_functions(m)? {
        for group in groups_of(&m.snapshot(holder)?, &placeholders, limits) {
            if cx.may_rewrite(RULE) && groups.outline(m, holder, &group)?.is_some() {
                cx.rewrote(RULE);
            }
        }
    }
    Ok(())
}

/// Returns the groups of all regions of a function.
fn groups_of(f: &Function, placeholders: &Placeholders<'_>, limits: Limits) -> Vec<Group> {
    let nested = f.iter().flat_map(|op| f.regions(op));
    let regions = std::iter::once(f.body()).chain(nested.copied());
    let (mut groups, mut positions) = (Vec::new(), Positions::new(None));
    for region in regions {
        let graph = Graph::new(f, region, placeholders, &mut positions, limits.ops);
        for members in partition(f, &graph, limits) {
            let ops: Vec<OpId> = members.iter().map(|&at| graph.nodes[at].op).collect();
            let is_apart = members.windows(2).any(|pair| pair[0] + 1 != pair[1]);
            let name = name_of(f, &ops);
            let attrs = vec![(PRIMITIVE, AttrValue::Int(1))];
            groups.push(Group {
                positions: is_apart.then(|| members.iter().map(|&at| at as i64).collect()),
                ..Group::new(ops, DOMAIN, name, attrs)
            });
        }
    }
    groups
}
