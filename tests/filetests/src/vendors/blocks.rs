//! A plugin for an accelerator that convolves blocks of four channels. It requests this layout and packed weights for
//! `Conv`, if the number of channels is a multiple of four.

use passdock_plugin_api::op::{Layout, LayoutStep};
use passdock_plugin_api::prelude::*;

/// The extension of ONNX's definition of `Conv`.
const CONV: OpDef = OpDef::extending("onnx.Conv", 1).alter_layout(alter);

/// Returns lines of IR text that convert a value to or from a layout, and the name of the result.
fn steps(steps: Option<Vec<LayoutStep>>, from: &str) -> Result<(String, String), OpError> {
    let (mut lines, mut name) = (String::new(), from.to_owned());
    for (at, step) in steps.ok_or("it isn't of whole blocks")?.iter().enumerate() {
        let next = format!("{from}{at}");
        lines += &match step {
            LayoutStep::Transpose(perm) => {
                format!("%{next} = onnx.Transpose(%{name}) {{perm = {perm:?}}}\n")
            }
            LayoutStep::Reshape(shape) => format!(
                "%{next}s = const i64[{}] {shape:?}\n%{next} = onnx.Reshape(%{name}, %{next}s)\n",
                shape.len()
            ),
            _ => return Err(OpError::new("it takes an op that isn't known here")),
        };
        name = next;
    }
    Ok((lines, name))
}

fn alter(call: &OpCall) -> OpResult {
    let op = call.op();
    if !matches!(call.int(op, "group"), None | Some(1)) {
        return Err("it has groups".into());
    }
    let layout = |text| Layout::parse(text).map_err(|error| OpError::new(error.to_string()));
    let (data, weights) = (layout("NCHW->NCHW4c")?, layout("OIHW->OIHW4i4o")?);
    let sizes = |value: ValueId| -> Result<Vec<Option<i64>>, OpError> {
        let dims = call.dims(value).ok_or("its rank isn't known")?;
        Ok(dims.map(Dim::as_const).collect())
    };
    let operand = |index: usize| sizes(call.operand(index).unwrap_or(ValueId::NONE));
    let (x_lines, x) = steps(data.steps_back(&operand(0)?), "x")?;
    let (w_lines, w) = steps(weights.steps_back(&operand(1)?), "w")?;
    let (y_lines, y) = steps(data.steps(&sizes(call.result(op, 0))?), "y")?;
    let attrs: Vec<String> = call
        .attrs(op)
        .filter_map(|(name, attr)| match attr {
            Attr::Ints(values) => Some(format!("{} = {values:?}", call.text(name))),
            _ => None,
        })
        .collect();
    let attrs = match attrs.is_empty() {
        true => String::new(),
        false => format!("{{{}}}", attrs.join(", ")),
    };
    call.set_operand_layout(0, &data.to_string())?;
    call.set_operand_layout(1, &weights.to_string())?;
    call.set_result_layout(0, &data.to_string())?;
    call.set_body(&format!(
        "fn @conv(%x, %w) {{ {x_lines}{w_lines}%y = onnx.Conv(%{x}, %{w}) {attrs}\n{y_lines} return %{y} }}"
    ))?;
    Ok(())
}

plugin! {
    name: "blocks",
    ops: &[CONV],
}
