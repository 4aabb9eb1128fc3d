//! An operator whose definition does what definitions must not: `bad.Odd(x) {how}`.

use passdock_plugin_api::prelude::*;

pub(crate) const ODD: OpDef = OpDef::new("bad.Odd", 1)
    .operands(1, 1)
    .attrs(attrs![
        /// What goes wrong.
        how: string = "panics",
    ])
    .traits(OpTraits::PURE)
    .infer(infer)
    .evaluate(evaluate);

fn infer(call: &OpCall) -> OpResult {
    match how(call) {
        b"infer panics" => panics(),
        _ => Ok(()),
    }
}

fn evaluate(call: &OpCall) -> OpResult {
    match how(call) {
        b"contradicts" => {
            call.allocate_result(0, &TypeSpec::shaped(DType::F32, &[3]), 12)?;
            Ok(())
        }
        _ => panics(),
    }
}

fn how(call: &OpCall) -> &[u8] {
    match call.attr(call.op(), "how") {
        Some(Attr::String(how)) => how,
        _ => b"panics",
    }
}

fn panics() -> OpResult {
    panic!("no table for this Odd")
}
