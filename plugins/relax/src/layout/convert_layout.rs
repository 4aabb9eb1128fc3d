//! `relax.transform.ConvertLayout`: brings ops into the layouts that the pipeline asks for, and what is between them
//! along.
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
//! `desired_layouts` has a list for each operator, with a layout for each of its operands: `NHWC`, `NHWC4c`, `HWIO`, or
//! whole, `NCHW->NHWC`. `default` leaves an operand to the operator's definition, and so does a list that is shorter.
//! What an op is in a layout its definition says: that it keeps it, as `Relu`, has its axes in other places, as
//! `Concat`, or is ONNX's op between `Transpose`s, as `Conv`. The last is a function of the domain `passdock.layout`,
//! by whose name a back end finds the op that it has, and which runs as it is: `Conv_NHWC_HWIO` says the layouts of
//! operands that aren't in their own, and `Conv_to_NCHW4c`, `Conv_NCHW4c_to_default` those of results where they aren't
//! the first operand's. Ops that are equal there share one; behind blocks, only of equal sizes, which are in the body.
//! `InlineFunctions`, `SimplifyExpr`, `FoldConstant` and `DeadCodeElimination` lead back, as a rule to as many ops:
//! before a reduction of blocks, for one, views may be left.
//!
//! Ops between them follow, unless that took more `Transpose`s than it saves. A value is brought into a layout once,
//! where it is made; `Transpose`s that are there are merged, and constants are converted at once, those of more than
//! 128 MiB together excepted.
//!
//! It does not change a model's inputs and results, functions that skip optimization (`SkipOptimization`, `Compiler`,
//! `Extern`), nor what is made already: functions of `passdock`'s domains, those with the attribute `Primitive` or
//! `Codegen`. Ops of which no definition says anything, and the ends of regions, have their operands in their own
//! layout. An op that is asked for and has no answer is named in a note, and so is one with an operand that isn't whole
//! blocks.
//!
//! Source: TVM `src/relax/transform/convert_layout.cc`, `src/relay/transforms/convert_layout.cc`.

use std::collections::HashMap;

use passdock_plugin_api::op::Layout;
use passdock_plugin_api::prelude::*;

use crate::layout::walk::{Wishes, lay_out};

options! {
    /// The layouts that ops are brought into.
    pub struct ConvertLayout {
        /// Of each operator the layouts of its operands: `{ "onnx.Conv" = ["NHWC", "default"] }`.
        desired_layouts: Table<OptionValue> = [],
    }
}

/// Brings ops into the layouts of the option.
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
    lay_out(m, cx, &Wishes::Desired(desired))
}

/// The list of an operator, in which nothing stands for `default`.
fn layouts_of(name: &str, layouts: &OptionValue) -> Result<Vec<Option<String>>, PassError> {
    let wrong = |at: usize, why: &str| {
        PassError::config(format!("desired_layouts.\"{name}\"[{at}] {why}."))
    };
    let OptionValue::List(items) = layouts else {
        return Err(PassError::config(format!(
            "desired_layouts.\"{name}\" is {layouts}, and should be a list of layouts, one for each operand: \
                [\"NHWC\", \
             \"default\"]."
        )));
    };
    let mut out = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        out.push(match item {
            OptionValue::String(text) if text == "default" => None,
            OptionValue::String(text) => {
                let checked = Layout::check(text);
                checked.map_err(|error| wrong(at, &format!("is no layout: {error}")))?;
                Some(text.clone())
            }
            other => return Err(wrong(at, &format!("is {other}, and should be a layout"))),
        });
    }
    Ok(out)
}
