//! A custom operator: `acme.ScaledAdd(x, y) {scale}` computes `scale * x + y` elementwise.

use passdock_plugin_api::prelude::*;

const SCALE: f32 = 1.0;

const SCALED_ADD: OpDef = OpDef::new("acme.ScaledAdd", 1)
    .operands(2, 2)
    .attrs(attrs![
        /// Factor of the first operand.
        scale: float = SCALE,
    ])
    .traits(OpTraits::PURE.with(OpTraits::ELEMENTWISE))
    .infer(infer)
    .evaluate(evaluate)
    .decompose(decompose);

/// Infers the type of the result, which is that of both operands.
fn infer(call: &OpCall) -> OpResult {
    let (x, y) = (call.operand_type(0), call.operand_type(1));
    if let (Some(x), Some(y)) = (x.shape(), y.shape()) {
        if x != y {
            return Err(format!("operands have different shapes: {x:?} and {y:?}").into());
        }
    }
    // Uses the operand with more type information.
    let operand = usize::from(x.shape().is_none() && y.rank().is_some());
    let like = call.operand(operand).ok_or("missing operand")?;
    call.set_result_like(0, like)?;
    Ok(())
}

fn evaluate(call: &OpCall) -> OpResult {
    let (x, y) = (call.operand_type(0), call.operand_type(1));
    if x.dtype() != Some(DType::F32) || y.dtype() != x.dtype() || x.shape() != y.shape() {
        return Err("only f32 operands of the same shape can be evaluated".into());
    }
    let missing = "an operand is not constant";
    let (a, b) = (call.operand_data(0)?, call.operand_data(1)?);
    let (a, b) = (floats(a.ok_or(missing)?), floats(b.ok_or(missing)?));
    let scale = scale(call)?;
    let room = call.allocate_result(0, &TypeSpec::from(x), 4 * a.len())?;
    for ((out, a), b) in room.chunks_exact_mut(4).zip(a).zip(b) {
        out.copy_from_slice(&(scale * a + b).to_le_bytes());
    }
    Ok(())
}

/// Decomposes an op into a constant of the operands' element type, a Mul and an Add.
fn decompose(call: &OpCall) -> OpResult {
    if call.operand_type(0).dtype() != Some(DType::F32) {
        return Err("only f32 operands can be decomposed".into());
    }
    call.set_body(&format!(
        "fn @scaled_add(%x, %y) {{
            %scale = const f32[] {:?}
            %scaled = onnx.Mul(%x, %scale)
            %sum = onnx.Add(%scaled, %y)
            return %sum
        }}",
        scale(call)?
    ))?;
    Ok(())
}

/// Returns the attribute's value. It is unknown here if the function's caller sets it.
fn scale(call: &OpCall) -> Result<f32, OpError> {
    match call.attr(call.op(), "scale") {
        None => Ok(SCALE),
        Some(Attr::Float(scale)) => Ok(scale),
        Some(_) => Err("`scale` is not a float".into()),
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let float = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    bytes.chunks_exact(4).map(float).collect()
}

/// Replaces the operator with its decomposition, for tools that don't support it.
fn lower(f: &mut Function, cx: &PassContext) -> PassResult {
    for op in f.ops_named("acme.ScaledAdd") {
        if let Some(values) = cx.decompose(f, op)? {
            f.replace_op_with(op, &values)?;
        }
    }
    Ok(())
}

plugin! {
    name: "acme",
    passes: [
        /// Replaces acme's operators with their decompositions.
        function "acme.transform.Lower" => lower { thread_safe: true, phase: "lower" },
    ],
    ops: [SCALED_ADD],
}
export_plugin!(PLUGIN);
