//! `relax.transform.ConvertLayout`: converts ops to the layouts that the pipeline requests, and propagates these
//! layouts through the ops between.
//!
//! ```ir
//! fn @main(%x: f32[1,3,8,8], %w: f32[4,3,1,1]) -> (%y: f32[1,4,8,8]) opset("" = 17) {
//!   %c = onnx.Conv(%x, %w) : f32[1,4,8,8] loc("conv")
//!   %y = onnx.Relu(%c) : f32[1,4,8,8] loc("relu")
//!   return %y
//! }
//! → { desired_layouts = { "onnx.Conv" = ["NHWC", "default"] } }
//! fn @main(%x: f32[1,3,8,8], %w: f32[4,3,1,1]) -> (%y: f32[1,4,8,8]) opset("" = 17, "passdock.layout" = 1) {
//!   %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,8,8,3] loc("conv")
//!   %1 = passdock.layout.Conv_NHWC(%0, %w) : f32[1,8,8,4] loc("conv")
//!   %2 = onnx.Relu(%1) : f32[1,8,8,4] loc("relu")
//!   %y = onnx.Transpose(%2) {perm = [0, 3, 1, 2]} : f32[1,4,8,8] loc("relu")
//!   return %y
//! }
//! fn @passdock.layout.Conv_NHWC(%0: ?, %1: ?) opset("" = 17, "passdock.layout" = 1) {
//!   %2 = onnx.Transpose(%0) {perm = [0, 3, 1, 2]}
//!   %3 = onnx.Conv(%2, %1)
//!   %4 = onnx.Transpose(%3) {perm = [0, 2, 3, 1]}
//!   return %4
//! }
//! ```
//!
//! `desired_layouts` has a list per operator, with a layout per operand: `NHWC`, `NHWC4c`, `HWIO`, or in full,
//! `NCHW->NHWC`. For `default` and for operands beyond the end of the list, the operator's definition chooses.
//!
//! Op definitions also determine what an op becomes in a layout. It stays as it is (`Relu`), its axis attributes change
//! (`Concat`), or it becomes the ONNX op between `Transpose`s (`Conv`). The last form is a function in the domain
//! `passdock.layout`. A back end recognizes it by name, and other runtimes run its body. The name lists the layouts of
//! operands that aren't in the default layout (`Conv_NHWC_HWIO`). It also lists the layouts of results that differ from
//! that of the first operand (`Conv_to_NCHW4c`, `Conv_NCHW4c_to_default`). Equal ops share a function; in blocked
//! layouts only if their sizes are equal, because the body contains them. `InlineFunctions`, `SimplifyExpr`,
//! `FoldConstant` and `DeadCodeElimination` revert the conversion, usually to as many ops as before. Views may remain,
//! for example before a reduction of a blocked layout.
//!
//! A layout propagates to an op between if that doesn't need more `Transpose`s than it saves. Each value is converted
//! to a layout once, after its definition. Existing `Transpose`s are merged. Constants are converted at compile time,
//! up to 128 MiB in total.
//!
//! The model's inputs and results don't change. Neither do functions that skip optimization (`SkipOptimization`,
//! `Compiler`, `Extern`), and functions that passes created: those of `passdock` domains, and those with the attribute
//! `Primitive` or `Codegen`. Ops without a layout rule and the terminators of regions have their operands in the
//! default layout. A note reports requested ops that have no rule for the layout, and operands whose size isn't a
//! multiple of the block.
//!
//! Source: TVM `src/relax/transform/convert_layout.cc`, `src/relay/transforms/convert_layout.cc`.

use std::collections::HashMap;

use passdock_plugin_api::op::Layout;
use passdock_plugin_api::prelude::*;

use crate::layout::walk::{LayoutSource, convert};

options! {
    /// Options of ConvertLayout.
    pub struct ConvertLayout {
        /// The layouts of the operands, by operator: `{ "onnx.Conv" = ["NHWC", "default"] }`.
        desired_layouts: Table<OptionValue> = [],
    }
}

/// Runs `relax.transform.ConvertLayout`.
pub fn convert_layout(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<ConvertLayout>()?;
    let mut desired = HashMap::new();
    for (name, layouts) in options.desired_layouts.iter() {
        desired.insert(name.to_owned(), layouts_of(name, layouts)?);
    }
    if desired.is_empty() {
        return Ok(());
    }
    m.check_operators("desired_layouts", desired.keys())?;
    convert(m, cx, &LayoutSource::Desired(desired))
}

/// Parses the list of an operator; `None` means `default`.
fn layouts_of(name: &str, layouts: &OptionValue) -> Result<Vec<Option<String>>, PassError> {
    let invalid = |at: usize, why: &str| {
        PassError::config(format!(
            "invalid layout of operand {at} of `{name}` in option `desired_layouts`: {why}"
        ))
    };
    let OptionValue::List(items) = layouts else {
        return Err(PassError::config(format!(
            "invalid value for `{name}` in option `desired_layouts`: expected a list of layouts, one for each operand, \
             such as [\"NHWC\", \"default\"], found {layouts}"
        )));
    };
    let mut out = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        out.push(match item {
            OptionValue::String(text) if text == "default" => None,
            OptionValue::String(text) => {
                let checked = Layout::check(text);
                checked.map_err(|error| invalid(at, &error.to_string()))?;
                Some(text.clone())
            }
            other => return Err(invalid(at, &format!("expected a string, found {other}"))),
        });
    }
    Ok(out)
}
