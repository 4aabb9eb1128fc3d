//! `relax.transform.DefuseOps`: inlines fused kernels, restoring the original ops.
//!
//! ```ir
//! fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 17, "passdock.fused" = 1) {
//!   %a = passdock.fused.fused_exp_neg(%x) : f32[4]   loc("e1", "n1")
//!   %y = passdock.fused.fused_exp_neg(%a) {names = ["e2", "n2", "f"]} : f32[4]   loc("e2", "n2")
//!   return %y
//! }
//! fn @passdock.fused.fused_exp_neg(%x: f32[4]) -> (%a: f32[4]) opset("" = 17, "passdock.fused" = 1)
//!     attributes {Primitive = 1, param names = strings[]} {
//!   %e = onnx.Exp(%x) : f32[4]   loc("e1")
//!   %a = onnx.Neg(%e) : f32[4]   loc("n1")
//!   return %a
//! }
//! →
//! fn @main(%x: f32[4]) -> (%y: f32[4]) opset("" = 17) {
//!   %e = onnx.Exp(%x) : f32[4]   loc("e1")
//!   %a = onnx.Neg(%e) : f32[4]   loc("n1")
//!   %f = onnx.Exp(%a) : f32[4]   loc("e2")
//!   %y = onnx.Neg(%f) : f32[4]   loc("n2")
//!   return %y
//! }
//! ```
//!
//! Kernels are the functions with the attribute `Primitive`, which `relax.transform.FuseOps` creates. Ops are restored
//! exactly: names, locations, documentation and metadata, declared types, attributes and order, even if the model was
//! written and read in between. A constant inside a kernel becomes the constant of the same name and value in the
//! caller, if it still exists. Kernels without callers are removed. If the last kernel of a passdock domain
//! (`passdock.…`) is removed, opset imports of that domain that no op needs are removed as well.
//!
//! A call stays if the opset versions of the kernel and the caller differ. It also stays if the default of an attribute
//! parameter isn't a number or a string. A note reports these calls. Opset imports of other domains stay.
//!
//! Source: TVM `src/relay/transforms/defuse_ops.cc`.

mod order;

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use crate::fusion::shared::domains::remove_domains;
use crate::fusion::shared::marks::is_primitive;
use crate::fusion::shared::restore::{Kernel, constants_by_name};
use crate::shared::call_graph::{graph_functions, optimized_functions};
use order::put_in_order;

/// Runs `relax.transform.DefuseOps`.
pub fn defuse_ops(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let mut kernels = HashMap::new();
    for name in graph_functions(m) {
        let f = m.snapshot(name)?;
        if is_primitive(&f) {
            kernels.insert(name, Kernel::new(f));
        }
    }
    if kernels.is_empty() {
        return Ok(());
    }
    for name in optimized_functions(m)? {
        let f = m.snapshot(name)?;
        let is_call = |op: &OpId| kernels.contains_key(&f.symbol(*op));
        let calls: Vec<OpId> = f.iter().filter(is_call).collect();
        drop(f);
        if calls.is_empty() || kernels.contains_key(&name) {
            continue;
        }
        let f = m.edit(name)?;
        let constants = constants_by_name(f);
        let mut placed = HashMap::new();
        for call in calls {
            let kernel = &kernels[&f.symbol(call)];
            match kernel.check(f, call) {
                Ok(()) => placed.extend(kernel.restore(f, call, &constants)?),
                Err(why) => {
                    let name = f.name(call);
                    let note = format!("cannot restore the ops of `{name}`: {why}");
                    let at = OpSpan::name(call).within(f);
                    cx.emit(&Diagnostic::note(note).code("relax::not-defused").at(at));
                }
            }
        }
        put_in_order(f, &placed)?;
    }
    let calls = m.call_graph()?;
    let is_unused = |name: &SymbolId| calls.callers(*name).next().is_none();
    let kernels = graph_functions(m).filter(|name| kernels.contains_key(name));
    let removed: Vec<SymbolId> = kernels.filter(is_unused).collect();
    for &kernel in &removed {
        m.remove(kernel)?;
    }
    remove_domains(m, &removed)
}
