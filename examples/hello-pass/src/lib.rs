//! A minimal plugin, whose pass removes a Relu after a Relu.
use passdock_plugin_api::prelude::*;

fn fuse_double_relu(f: &mut Function, _cx: &PassContext) -> PassResult {
    for op in f.ops_named("onnx.Relu") {
        if let Some(inner) = f.operand(op, 0).and_then(|v| f.defining_op(v)) {
            if f.name(inner) == "onnx.Relu" {
                f.replace_op_with(op, &[f.result(inner, 0)])?;
            }
        }
    }
    Ok(())
}

plugin! {
    name: "hello",
    passes: [
        /// Replaces `Relu(Relu(x))` with `Relu(x)`.
        function "hello.transform.FuseDoubleRelu" => fuse_double_relu { opt_level: 1, phase: "simplify" },
    ],
}
export_plugin!(PLUGIN);
