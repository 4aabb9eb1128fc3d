//! `relax.transform.FuseOps`: makes functions of ops that can run as one kernel.
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
//! What can become part of one kernel is for the traits of op definitions to say: elementwise ops of one shape, those
//! that broadcast, those that look elements up: move, resize or quantize them (`injective`), reductions, and ops that
//! elementwise ones behind them become part of (`out-fusable`: convolutions, products, pools, normalizations,
//! softmaxes). An op joins the op through which all that is made of its results has to go, its post-dominator, with all
//! ops in between: a convolution elementwise ops behind it; elementwise ops any of these; ops that look elements up one
//! another and elementwise ones. The functions are named after their ops, have the attribute `Primitive`, and are ONNX:
//! the model runs as before. Equal ones are one. `relax.transform.DefuseOps` gives the ops back. Regions are gone
//! through on their own.
//!
//! `max_depth` is the largest number of ops of a function, `max_args` that of its parameters and results together (0:
//! any). At `fuse_opt_level` 0 nothing is fused; -1 is the level of the context.
//!
//! It does not fuse ops without a definition, with an effect, with regions or without one of the traits above, and
//! makes no function of a single op. Functions that skip optimization (`SkipOptimization`, `Compiler`, `Extern`) and
//! those that are groups already (`Primitive`, `Composite`, `Target`, `Codegen`) stay as they are. So do those of
//! `passdock`'s domains, which stand for an op, as `ConvertLayout` and `FastMath` make them: a call of one is of the
//! kind of what it stands for.
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
use graph::{Graph, Places};
use name::name_of;
use partition::{Limits, partition};

/// The domain of the functions.
pub(crate) const DOMAIN: &str = "passdock.fused";

/// What the user may disable, and bisect.
const RULE: &str = "fuse-ops";

options! {
    /// How far ops are fused.
    pub struct FuseOps {
        /// The largest number of ops of a function.
        #[range(0..)]
        max_depth: i64 = 256,
        /// The largest number of parameters and results of a function; 0: any.
        #[range(0..)]
        max_args: i64 = 0,
        /// 0: nothing is fused; -1: as the context's level says.
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
        ops: usize::try_from(options.max_depth).unwrap_or(0),
        args: usize::try_from(options.max_args).unwrap_or(0),
    };
    let placeholders = Placeholders::new(m)?;
    let mut groups = Groups::default();
    for holder in open_functions(m)? {
        for group in groups_of(&m.snapshot(holder)?, &placeholders, limits) {
            if cx.may_rewrite(RULE) && groups.make(m, holder, &group)?.is_some() {
                cx.rewrote(RULE);
            }
        }
    }
    Ok(())
}

/// The groups of a function, region by region.
fn groups_of(f: &Function, placeholders: &Placeholders<'_>, limits: Limits) -> Vec<Group> {
    let nested = f.iter().flat_map(|op| f.regions(op));
    let regions = std::iter::once(f.body()).chain(nested.copied());
    let (mut groups, mut places) = (Vec::new(), Places::new(None));
    for region in regions {
        let graph = Graph::new(f, region, placeholders, &mut places, limits.ops);
        for members in partition(f, &graph, limits) {
            let ops: Vec<OpId> = members.iter().map(|&at| graph.nodes[at].op).collect();
            let is_apart = members.windows(2).any(|pair| pair[0] + 1 != pair[1]);
            let name = name_of(f, &ops);
            let attrs = vec![(PRIMITIVE, AttrValue::Int(1))];
            groups.push(Group {
                places: is_apart.then(|| members.iter().map(|&at| at as i64).collect()),
                ..Group::new(ops, DOMAIN, name, attrs)
            });
        }
    }
    groups
}
