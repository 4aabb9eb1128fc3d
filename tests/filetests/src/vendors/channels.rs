//! A plugin that declares which convolutions its accelerator supports.

use passdock_plugin_api::prelude::*;

fn of_three_channels(call: &OpCall) -> OpResult {
    match call.operand_type(0).shape().as_deref() {
        Some([_, 3, ..]) => Ok(()),
        sizes => Err(format!("their operand is of {sizes:?}").into()),
    }
}

plugin! {
    name: "vendor",
    ops: [OpDef::extending("onnx.Conv", 1).supports(&["npu"], of_three_channels)],
}
