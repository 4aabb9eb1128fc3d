//! A plugin that declares which of ONNX's operators, defined by another plugin, its accelerator supports.

use passdock_plugin_api::prelude::*;

fn short_rows(call: &OpCall) -> OpResult {
    match call.operand_type(0).shape().as_deref() {
        Some([.., 1..=8]) => Ok(()),
        _ => Err("their rows are longer than 8".into()),
    }
}

plugin! {
    name: "vendor",
    ops: [
        OpDef::extending("onnx.Softmax", 1).supports(&["npu"], short_rows),
        OpDef::extending("onnx.Exp", 1).supports(&["npu"], |_| Ok(())),
        OpDef::extending("onnx.Neg", 1).supports(&["gpu"], |_| Ok(())),
    ],
}
