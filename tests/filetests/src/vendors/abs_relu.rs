//! A plugin that legalizes an operator that the plugin `npu` legalizes, too.

use passdock_plugin_api::prelude::*;

const RELU: OpDef = OpDef::extending("onnx.Relu", 1).decompose(|call| {
    call.set_body("fn @relu(%x) { %z = onnx.Abs(%x) return %z }")?;
    Ok(())
});

plugin! {
    name: "other",
    ops: [RELU],
}
