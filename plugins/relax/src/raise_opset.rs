//! `relax.transform.RaiseOpset`: converts a model to a later version of ONNX's operators.
//!
//! ```ir
//! fn @main(%x: f32[2,1,3]) -> (%y: f32[2,3]) opset("" = 11) {
//!   %0 = onnx.Squeeze(%x) {axes = [1]} : f32[2,3]
//!   %1 = onnx.Clip(%0) : f32[2,3]
//!   return %1
//! }
//! → { to = 20 }
//! fn @main(%x: f32[2,1,3]) -> (%y: f32[2,3]) opset("" = 20) {
//!   %0 = const i64[1] [1]
//!   %1 = onnx.Squeeze(%x, %0) : f32[2,3]
//!   %2 = onnx.Clip(%1) : f32[2,3]
//!   return %2
//! }
//! ```
//!
//! Without the option `to`, the pass does nothing. Some fusions need operators of a later opset, such as
//! LayerNormalization (17) or Gelu (20). All functions and regions are converted, except functions without the ONNX
//! opset and those that have the requested or a later one. A warning reports a model with a later one. Operators of
//! other domains don't change. `passdock run --raise-opset 20` runs the pass before all others.
//!
//! An op doesn't change if the new versions of its operator only add element types, optional operands and results, and
//! attributes with compatible defaults. The following ops are rewritten to equivalent ones: `Squeeze`, `Unsqueeze`,
//! `Split`, `Pad`, `Clip`, `Slice`, `Dropout`, `BatchNormalization`, `Resize`, the reductions, and `Softmax`,
//! `LogSoftmax`, `Hardmax`.
//!
//! The pass fails if another operator changed its semantics between the versions. It also fails if an op has no
//! equivalent, such as a `BatchNormalization` in training mode. It reports all such ops, and changes nothing.
//!
//! Source: ONNX `onnx/version_converter`, and the schemas of all versions.

mod adapter;
mod operands;
mod resize;
mod softmax;
mod training;
mod unsupported;
mod versions;

use std::collections::HashSet;

use passdock_plugin_api::prelude::*;

use adapter::{Site, Stop};
use unsupported::Unsupported;
use versions::{Step, Unchanged};

options! {
    /// Options of RaiseOpset.
    pub struct RaiseOpset {
        /// The requested version of ONNX's operators; 0 keeps the current one.
        #[range(0..=28)]
        to: i64 = 0,
    }
}

/// The prefix of the names of ONNX's operators.
const ONNX_PREFIX: &str = "onnx.";

pub(crate) fn raise_opset(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let to = cx.options::<RaiseOpset>()?.to;
    if to == 0 {
        return Ok(());
    }
    let functions: Vec<_> = m.functions().collect();
    let names: HashSet<SymbolId> = functions.iter().map(|entry| entry.name).collect();
    let mut unsupported = Unsupported::new(to);
    warn_of_later(m, cx, to)?;
    for entry in functions {
        if entry.kind == FunctionKind::GRAPH {
            raise(m, cx, entry.name, &names, &mut unsupported)?;
        }
    }
    unsupported.emit(cx);
    Ok(())
}

/// Warns if the model has a later opset than requested, because opsets are never lowered.
fn warn_of_later(m: &Module<'_>, cx: &PassContext, to: i64) -> PassResult {
    if m.function("main").is_none() {
        return Ok(());
    }
    match m.snapshot("main")?.opset("") {
        Some(has) if has > to => {
            let message = format!(
                "requested opset {to} is earlier than the model's opset {has}; opsets are not lowered"
            );
            cx.emit(&Diagnostic::warning(message).code("relax::opset-not-raised"));
        }
        _ => {}
    }
    Ok(())
}

/// Converts a function, or records the ops that prevent it.
fn raise(
    m: &mut Module<'_>,
    cx: &PassContext,
    name: SymbolId,
    functions: &HashSet<SymbolId>,
    unsupported: &mut Unsupported,
) -> PassResult {
    let from = m.snapshot(name)?.opset("");
    let Some(from) = from.filter(|&from| from < unsupported.to) else {
        return Ok(());
    };
    let f = m.edit(name)?;
    // Set first, because new ops are inferred by their definitions at the target version.
    f.set_opset("", unsupported.to)?;
    let mut site = Site::new(f, cx, unsupported.to);
    for op in site.f.ops() {
        let Some(operator) = site.f.name(op).strip_prefix(ONNX_PREFIX).map(str::to_owned) else {
            continue;
        };
        if functions.contains(&site.f.symbol(op)) {
            let why =
                "a function of the module has the same name, and a runtime may call it instead";
            unsupported.add(site.f, op, from, from, why);
            continue;
        }
        let Some(steps) = versions::steps(&operator, from, unsupported.to) else {
            let why = format!("opset {from} has no such operator");
            unsupported.add(site.f, op, from, from, &why);
            continue;
        };
        let mut current = op;
        for step in steps {
            match take(&mut site, &operator, step, current) {
                Ok(now) => current = now,
                Err(Stop::Unsupported(why)) => {
                    unsupported.add(site.f, current, from, step.version - 1, &why);
                    break;
                }
                Err(Stop::Failed(error)) => return Err(PassError::from(error).within(site.f)),
            }
        }
    }
    Ok(())
}

/// Converts an op to the next version of its operator. Returns the converted op.
fn take(site: &mut Site<'_>, operator: &str, step: &Step, op: OpId) -> Result<OpId, Stop> {
    let version = step.version;
    match &step.unchanged {
        Unchanged::All => Ok(op),
        Unchanged::Without(attrs) => match attrs.iter().find(|attr| !attr.is_met(site.f, op)) {
            None => Ok(op),
            Some(attr) => Err(Stop::Unsupported(format!(
                "attribute `{}` has a different meaning since version {version}",
                attr.name
            ))),
        },
        Unchanged::Types(dtypes) => {
            let dtype = site.f.operand(op, 0).and_then(|x| site.f.dtype(x));
            let name = dtype.and_then(DType::name);
            match name {
                Some(name) if dtypes.contains(&name) => Ok(op),
                Some(name) => Err(Stop::Unsupported(format!(
                    "version {version} does not support {name}"
                ))),
                None => Err(Stop::Unsupported(format!(
                    "version {version} supports fewer element types, and the operand's element type is unknown"
                ))),
            }
        }
        Unchanged::None => match adapter::find(operator, version) {
            Some(adapt) => adapt(site, op),
            None => Err(Stop::Unsupported(format!(
                "its meaning changed in version {version}"
            ))),
        },
        Unchanged::Removed => Err(Stop::Unsupported(format!(
            "version {version} removed the operator"
        ))),
    }
}
