//! Operators whose bodies contain each other.

use passdock_plugin_api::prelude::*;

const PING: OpDef = OpDef::new("acme.Ping", 1)
    .operands(1, 1)
    .traits(OpTraits::PURE)
    .decompose(|call| {
        call.set_body("fn @ping(%x) { %a = onnx.Relu(%x) %b = acme.Pong(%a) return %b }")?;
        Ok(())
    });

const PONG: OpDef = OpDef::new("acme.Pong", 1)
    .operands(1, 1)
    .traits(OpTraits::PURE)
    .decompose(|call| {
        call.set_body("fn @pong(%x) { %a = acme.Ping(%x) %b = onnx.Neg(%a) return %b }")?;
        Ok(())
    });

plugin! {
    name: "acme",
    ops: [PING, PONG],
}
