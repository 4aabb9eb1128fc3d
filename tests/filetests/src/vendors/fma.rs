//! An accelerator's operators, and their legalization.

use passdock_plugin_api::prelude::*;

/// Legal up to rank 2; otherwise split into two halves, which are legal.
const FMA: OpDef = OpDef::new("npu.FMA", 1)
    .operands(3, 3)
    .traits(OpTraits::PURE.with(OpTraits::ILLEGAL))
    .decompose(|call| {
        let rank = call.operand_type(0).rank().ok_or("its rank isn't known")?;
        if rank <= 2 {
            return Err("it is legal".into());
        }
        call.set_body(
            "fn @fma(%a, %b, %c) { %m = npu.Mul(%a, %b) %s = onnx.Add(%m, %c) return %s }",
        )?;
        Ok(())
    });

const MUL: OpDef = OpDef::new("npu.Mul", 1)
    .operands(2, 2)
    .traits(OpTraits::PURE.with(OpTraits::ILLEGAL))
    .decompose(|call| {
        call.set_body("fn @mul(%a, %b) { %m = onnx.Mul(%a, %b) return %m }")?;
        Ok(())
    });

/// Its legalization contains the op itself.
const LOOP: OpDef = OpDef::new("npu.Loop", 1)
    .traits(OpTraits::ILLEGAL)
    .decompose(|call| {
        call.set_body("fn @again(%x) { %y = npu.Loop(%x) return %y }")?;
        Ok(())
    });

plugin! {
    name: "npu",
    ops: [FMA, MUL, LOOP],
}
