//! `relax.transform.MergeRegions`: merges adjacent annotated regions of the same target.
//!
//! ```ir
//! fn @main(%x: f32[4]) -> (%z: f32[4]) opset("" = 17, "acme" = 1) {
//!   %a = acme.exp(%x) : f32[4]
//!   %b = acme.neg(%a) : f32[4]
//!   %z = onnx.Softmax(%b) : f32[4]
//!   return %z
//! }
//! fn @acme.exp(%x: f32[4]) -> (%a: f32[4]) opset("" = 17, "acme" = 1) attributes {Target = "npu"} {
//!   %a = onnx.Exp(%x) : f32[4]
//!   return %a
//! }
//! fn @acme.neg(%a: f32[4]) -> (%b: f32[4]) opset("" = 17, "acme" = 1) attributes {Target = "npu"} {
//!   %b = onnx.Neg(%a) : f32[4]
//!   return %b
//! }
//! →
//! fn @main(%x: f32[4]) -> (%z: f32[4]) opset("" = 17, "acme" = 1) {
//!   %b = acme.region(%x) : f32[4]
//!   %z = onnx.Softmax(%b) : f32[4]
//!   return %z
//! }
//! fn @acme.region(%x: f32[4]) -> (%b: f32[4]) opset("" = 17, "acme" = 1) attributes {Target = "npu"} {
//!   %a = onnx.Exp(%x) : f32[4]
//!   %b = onnx.Neg(%a) : f32[4]
//!   return %b
//! }
//! ```
//!
//! Calls of functions with the same `Target` are merged if one uses a result of the other. No value may leave the
//! merged region and return to it, so that each region can run separately. Values that other ops use become results.
//!
//! Calls in different regions of the model aren't merged, nor are calls that only share an operand.
//!
//! Source: TVM `src/relay/transforms/merge_compiler_regions.cc`, `src/relax/transform/merge_composite_functions.cc`.

use passdock_plugin_api::prelude::*;

use super::{domain_of, regions, regroup, targets};
use crate::fusion::group::Group;
use crate::fusion::shared::marks::{TARGET, open_functions};

/// Runs `relax.transform.MergeRegions`.
pub fn merge_regions(m: &mut Module<'_>, _cx: &PassContext) -> PassResult {
    let targets = targets(m)?;
    if targets.is_empty() {
        return Ok(());
    }
    let mut new_groups = Vec::new();
    for holder in open_functions(m)? {
        let f = m.snapshot(holder)?;
        let nested = f.iter().flat_map(|op| f.regions(op)).copied();
        for region in std::iter::once(f.body()).chain(nested) {
            let groups = regions::groups(&f, region, &targets).into_iter();
            new_groups.extend(groups.filter(|calls| calls.len() > 1).map(|calls| {
                let domain = domain_of(f.name(calls[0]));
                let target = AttrValue::from(&*targets[&f.symbol(calls[0])]);
                let group = Group::new(calls, domain, "region".into(), vec![(TARGET, target)]);
                (holder, group)
            }));
        }
    }
    regroup(m, &targets, new_groups)
}
