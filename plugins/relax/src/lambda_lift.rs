//! `relax.transform.LambdaLift`: lifts regions to functions of the module.
//!
//! ```ir
//! fn @main(%c: bool[], %x: f32[n]) -> (%y: f32[n]) opset("" = 17) {
//!   %w = const f32[1] [2.0]
//!   %y = onnx.If(%c) : f32[n]
//!     region then_branch {
//!       %s = onnx.Mul(%x, %w) : f32[n]
//!       yield %s
//!     }
//!     region else_branch {
//!       yield %x
//!     }
//!   return %y
//! }
//! →
//! fn @main(%c: bool[], %x: f32[n]) -> (%y: f32[n]) opset("" = 17, "lifted" = 1) {
//!   %w = const f32[1] [2.0]
//!   %y = onnx.If(%c) : f32[n]
//!     region then_branch {
//!       %s = lifted.main_then_branch(%x, %w) : f32[n]
//!       yield %s
//!     }
//!     region else_branch {
//!       yield %x
//!     }
//!   return %y
//! }
//! fn @lifted.main_then_branch(%x: f32[n], %w: f32[1]) -> (%s: f32[n]) opset("" = 17, "lifted" = 1) {
//!   %s = onnx.Mul(%x, %w) : f32[n]
//!   return %s
//! }
//! ```
//!
//! The region's arguments come first, then what it captures, in the order in which it is used;
//! constants of the region itself go along. A function is named after the one that its region stood
//! in and the region, with a number if there is such a function. Inner regions are lifted before
//! those around them. Attribute parameters that a region refers to are passed on.
//!
//! It does not lift a region whose ops make nothing of what it gives out, nor one that is a single call
//! already, nor loops of loop-level functions, nor regions of functions that skip optimization
//! (`SkipOptimization`, `Compiler`, `Extern`).
//!
//! Source: TVM `src/relax/transform/lambda_lift.cc`.

use std::collections::HashSet;

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{FreeNames, LocId};

use crate::fusion::group::Plan;
use crate::shared::call_graph::optimized_functions;
use crate::shared::operators::identifier;

options! {
    /// The regions that are lifted, and where to.
    pub struct LambdaLift {
        /// The ops whose regions are lifted, by name; none: all.
        ops: Vec<String> = [],
        /// The domain of the functions.
        domain: String = "lifted",
    }
}

pub(crate) fn lambda_lift(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<LambdaLift>()?;
    m.check_operators("ops", &options.ops)?;
    let functions: HashSet<SymbolId> = m.functions().map(|entry| entry.name).collect();
    let mut names = FreeNames::of(m, &options.domain)?;
    for holder in optimized_functions(m)? {
        let regions = regions_to_lift(&m.snapshot(holder)?, &options, &functions);
        let named: Vec<(RegionId, String)> = regions
            .into_iter()
            .map(|(region, base)| (region, names.take(&base)))
            .collect();
        // Those nested in others first.
        for (region, name) in named.into_iter().rev() {
            m.edit(holder)?.add_domain(&options.domain)?;
            lift(m, holder, region, &name)?;
        }
    }
    Ok(())
}

/// The regions to lift, in program order, and what to call them.
fn regions_to_lift(
    f: &Function,
    options: &LambdaLift,
    functions: &HashSet<SymbolId>,
) -> Vec<(RegionId, String)> {
    let is_named =
        |&op: &OpId| options.ops.is_empty() || options.ops.iter().any(|name| name == f.name(op));
    let regions = f.iter().filter(is_named).flat_map(|op| f.regions(op));
    let is_lifted = |&region: &RegionId| {
        let mut given = f
            .terminator(region)
            .into_iter()
            .flat_map(|end| f.operands(end));
        let home = |value| f.defining_op(value).map(|op| f.parent_region(op));
        let makes = given.any(|value| home(value) == Some(region));
        let is_call = f.first_op(region).is_some_and(|first| {
            f.next_op(first) == f.terminator(region) && functions.contains(&f.symbol(first))
        });
        makes && !is_call
    };
    let name = |region: RegionId| {
        let base = format!("{}_{}", f.function_name(), f.region_name(region));
        (region, identifier(&base))
    };
    regions.copied().filter(is_lifted).map(name).collect()
}

/// Moves a region's ops into a function, and lets the region call it.
fn lift(m: &mut Module<'_>, holder: SymbolId, region: RegionId, name: &str) -> PassResult {
    let f = m.edit(holder)?;
    let used: Vec<ValueId> = f.iter_in(region).flat_map(|op| f.operands(op)).collect();
    let plan = Plan::from_region(f, region);
    let function = plan.create(m, holder, name, &Vec::new())?;
    let f = m.edit(holder)?;
    let call = plan.call(f, function, Vec::new())?;
    f.set_loc(call, LocId::NONE)?;
    // Constants of the region went along.
    used.into_iter()
        .try_for_each(|value| Ok(f.erase_dead(value)?))
}
