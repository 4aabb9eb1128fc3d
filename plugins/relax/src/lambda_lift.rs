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
//! The parameters are the region's arguments, then the captured values in order of first use. Constants of the region
//! move into the function. The function is named after the enclosing function and the region; a number is appended if
//! the name is taken. Inner regions are lifted before outer ones. Attribute parameters that a region refers to are
//! forwarded.
//!
//! The pass doesn't lift a region that yields none of its ops' results, or that is a single call already. It also
//! doesn't lift the loops of loop-level functions and the regions of functions that skip optimization
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
    /// Options of LambdaLift.
    pub struct LambdaLift {
        /// Names of the ops whose regions are lifted. If empty, all.
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
        // Inner regions first.
        for (region, name) in named.into_iter().rev() {
            m.edit(holder)?.add_domain(&options.domain)?;
            lift(m, holder, region, &name)?;
        }
    }
    Ok(())
}

/// Returns the regions to lift in program order, with base names of the functions.
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
        let region_of = |value| f.defining_op(value).map(|op| f.parent_region(op));
        let makes = given.any(|value| region_of(value) == Some(region));
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

/// Moves the ops of a region into a new function, and calls it in the region.
fn lift(m: &mut Module<'_>, holder: SymbolId, region: RegionId, name: &str) -> PassResult {
    let f = m.edit(holder)?;
    let used: Vec<ValueId> = f.iter_in(region).flat_map(|op| f.operands(op)).collect();
    let plan = Plan::from_region(f, region);
    let function = plan.create(m, holder, name, &Vec::new())?;
    let f = m.edit(holder)?;
    let call = plan.call(f, function, Vec::new())?;
    f.set_loc(call, LocId::NONE)?;
    // Erases the region's constants, which the function contains now.
    used.into_iter()
        .try_for_each(|value| Ok(f.erase_dead(value)?))
}
