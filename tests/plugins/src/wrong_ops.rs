//! Operators with wrong definitions, for the test of `passdock plugin check`.

use std::sync::atomic::{AtomicU32, Ordering};

use passdock_plugin_api::prelude::*;

const ANY_AXIS: OpDef = OpDef::new("wrong.AnyAxis", 1)
    .operands(1, 1)
    .attrs(attrs![axis: int = 0])
    .infer(|call| {
        let axis = call.int(call.op(), "axis").unwrap_or(0);
        match call.operand_type(0).rank() {
            Some(rank) if axis >= rank as i64 => Err("there is no such axis".into()),
            _ => without_axis(call, |_| axis as usize),
        }
    });
const LAST_AXIS: OpDef = OpDef::new("wrong.LastAxis", 1)
    .operands(1, 1)
    .infer(|call| without_axis(call, |rank| rank - 1));
const BODY_TYPE: OpDef = OpDef::new("wrong.BodyType", 1)
    .operands(1, 1)
    .infer(same_type)
    .decompose(|call| body(call, "onnx.Cast(%x) {to = 10}"));
const BODY_VALUE: OpDef = defined("wrong.BodyValue", OpTraits::NONE)
    .evaluate(|call| compute(call, |x, _| x))
    .decompose(|call| body(call, "onnx.Abs(%x)"));
const COMMUTATIVE: OpDef = defined("wrong.Commutative", OpTraits::COMMUTATIVE)
    .operands(2, 2)
    .evaluate(|call| compute(call, |x, y| x - y));
const ELEMENTWISE: OpDef = defined("wrong.Elementwise", OpTraits::ELEMENTWISE)
    .evaluate(|call| compute(call, |x, first| x - first));
const IDEMPOTENT: OpDef = defined("wrong.Idempotent", OpTraits::IDEMPOTENT)
    .evaluate(|call| compute(call, |x, _| x + 1.0));
const IDENTITY: OpDef =
    defined("wrong.Identity", OpTraits::IDENTITY).evaluate(|call| compute(call, |x, _| x.abs()));
const SHAPE_ONLY: OpDef =
    defined("wrong.ShapeOnly", OpTraits::SHAPE_ONLY).evaluate(|call| compute(call, |x, _| x * 2.0));
const IMPURE: OpDef = defined("wrong.Impure", OpTraits::PURE).evaluate(|call| {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let number = CALLS.fetch_add(1, Ordering::Relaxed);
    compute(call, |x, _| x + number as f32)
});
const TYPE: OpDef = OpDef::new("wrong.Type", 1)
    .operands(1, 1)
    .infer(|call| Ok(call.set_result_type(0, &TypeSpec::shaped(DType::F32, &[7]))?))
    .evaluate(|call| compute(call, |x, _| x));

const fn defined(name: &'static str, traits: OpTraits) -> OpDef {
    OpDef::new(name, 1)
        .operands(1, 1)
        .traits(traits.with(OpTraits::PURE))
        .infer(same_type)
}

fn same_type(call: &OpCall) -> OpResult {
    let x = call.operand(0).ok_or("missing operand")?;
    Ok(call.set_result_like(0, x)?)
}

/// Infers the type of the operand without an axis.
fn without_axis(call: &OpCall, axis: impl Fn(usize) -> usize) -> OpResult {
    let x = call.operand_type(0);
    let Some(dims) = x.dims() else { return Ok(()) };
    let mut dims: Vec<Dim> = dims.collect();
    dims.remove(axis(dims.len()));
    Ok(call.set_result_type(0, &TypeSpec::tensor(x.dtype().unwrap_or(DType::NONE), dims))?)
}

fn body(call: &OpCall, value: &str) -> OpResult {
    Ok(call.set_body(&format!("fn @body(%x) {{ %y = {value} return %y }}"))?)
}

/// Computes a result from each element of the first operand, and from the first element of the last operand.
fn compute(call: &OpCall, element: impl Fn(f32, f32) -> f32) -> OpResult {
    let (x, last) = (call.operand_type(0), call.operand_count() - 1);
    let data = (call.operand_data(0)?, call.operand_data(last)?);
    let ((Some(bytes), Some(other)), Some(DType::F32)) = (data, x.dtype()) else {
        return Err("only constants of type f32 are evaluated".into());
    };
    let first = other.first_chunk().ok_or("empty operand")?;
    let results = call.allocate_result(0, &TypeSpec::from(x), bytes.len())?;
    for (result, x) in results.chunks_exact_mut(4).zip(bytes.chunks_exact(4)) {
        let x = f32::from_le_bytes([x[0], x[1], x[2], x[3]]);
        let value = element(x, f32::from_le_bytes(*first));
        result.copy_from_slice(&value.to_le_bytes());
    }
    Ok(())
}

plugin! {
    name: "wrong",
    ops: [
        ANY_AXIS, LAST_AXIS, BODY_TYPE, BODY_VALUE, COMMUTATIVE, ELEMENTWISE, IDEMPOTENT, IDENTITY, SHAPE_ONLY,
        IMPURE, TYPE,
    ],
}
