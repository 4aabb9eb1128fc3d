//! Operators that support some element types only.

use passdock_plugin_api::prelude::*;

/// The results have the operand's element type and float32.
const SCALE: OpDef = OpDef::new("acme.Scale", 1).operands(2, 2).infer(scale);

fn scale(call: &OpCall) -> OpResult {
    let (x, by) = (
        call.operand(0).ok_or("no operand")?,
        call.operand(1).ok_or("no factor")?,
    );
    if call.dtype(x) != call.dtype(by) {
        return Err("both operands have to be of one type".into());
    }
    call.set_result_like(0, x)?;
    Ok(())
}

/// Supports float32 only.
const PICKY: OpDef = OpDef::new("acme.Picky", 1).operands(1, 1).infer(picky);

fn picky(call: &OpCall) -> OpResult {
    let x = call.operand(0).ok_or("no operand")?;
    if call.dtype(x) != Some(DType::F32) {
        return Err("it takes float32 alone".into());
    }
    call.set_result_like(0, x)?;
    Ok(())
}

plugin! {
    name: "acme",
    passes: [],
    ops: [SCALE, PICKY],
}
