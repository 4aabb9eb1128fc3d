//! An operator whose definition breaks the rules for definitions: `bad.Odd(x) {how}`.

use passdock_plugin_api::prelude::*;

pub(crate) const ODD: OpDef = OpDef::new("bad.Odd", 1)
    .operands(1, 1)
    .attrs(attrs![
        /// The kind of violation.
        how: string = "panics",
    ])
    .traits(OpTraits::PURE)
    .infer(infer)
    .evaluate(evaluate)
    .decompose(decompose);

fn infer(call: &OpCall) -> OpResult {
    match how(call) {
        b"infer panics" => panics(),
        b"infer contradicts" => Ok(call.set_result_type(0, &TypeSpec::shaped(DType::F32, &[3]))?),
        b"infer rejects" => Err("its table is lost".into()),
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

fn decompose(call: &OpCall) -> OpResult {
    match how(call) {
        b"body is no text" => {
            Ok(call.set_body("fn @body(%x: f32[2]) -> (%y: f32[2]) {\n  return %z\n}")?)
        }
        b"body takes two" => {
            Ok(call
                .set_body("fn @body(%a: f32[2], %b: f32[2]) -> (%y: f32[2]) {\n  return %a\n}")?)
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
