//! A plugin for an accelerator: the ONNX operators that it doesn't support, and their legalizations.

use passdock_plugin_api::prelude::*;

/// The accelerator convolves blocks of four channels, so other numbers are padded.
const CONV: OpDef = OpDef::extending("onnx.Conv", 1).decompose(|call| {
    let dims = call.operand_type(0).dims().ok_or("its rank isn't known")?;
    let channels = dims.get(1).and_then(Dim::as_const);
    let lack = -channels.ok_or("its channels aren't known")? & 3;
    if lack == 0 {
        return Err("its channels are whole blocks".into());
    }
    let attrs = call.attrs(call.op()).filter_map(|(name, attr)| match attr {
        Attr::Ints(values) => Some(format!("{} = {values:?}", call.text(name))),
        _ => None,
    });
    let attrs: Vec<String> = attrs.collect();
    call.set_body(&format!(
        "fn @conv(%x, %w) {{
           %p = const i64[8] [0, 0, 0, 0, 0, {lack}, 0, 0]
           %x4 = onnx.Pad(%x, %p)
           %w4 = onnx.Pad(%w, %p)
           %y = onnx.Conv(%x4, %w4) {{{}}}
           return %y
         }}",
        attrs.join(", ")
    ))?;
    Ok(())
});

/// The accelerator has a `Max` for all element types.
const RELU: OpDef = OpDef::extending("onnx.Relu", 1).decompose(|call| {
    let dtype = call.operand_type(0).dtype();
    let name = dtype
        .and_then(DType::name)
        .ok_or("its elements aren't known")?;
    let zero = match dtype {
        Some(DType::I8 | DType::I32) => "0",
        _ => "0.0",
    };
    call.set_body(&format!(
        "fn @relu(%x) {{ %zero = const {name}[] {zero} %y = onnx.Max(%zero, %x) return %y }}"
    ))?;
    Ok(())
});

/// The accelerator concatenates two operands at a time.
const CONCAT: OpDef = OpDef::extending("onnx.Concat", 1).decompose(|call| {
    let count = call.operand_count();
    if count <= 2 {
        return Err("it joins two".into());
    }
    let types = (0..count).map(|index| call.operand_type(index));
    if types.clone().any(|ty| ty.dtype() != Some(DType::F32)) {
        return Err("it joins numbers of 32 bits".into());
    }
    let axis = call.int(call.op(), "axis").ok_or("its axis isn't known")?;
    let names: Vec<String> = (0..count).map(|index| format!("%x{index}")).collect();
    let rest = names[1..].join(", ");
    call.set_body(&format!(
        "fn @concat({}) {{
           %r = onnx.Concat({rest}) {{axis = {axis}}}
           %y = onnx.Concat(%x0, %r) {{axis = {axis}}}
           return %y
         }}",
        names.join(", ")
    ))?;
    Ok(())
});

/// At inference, the result is the operand.
const DROPOUT: OpDef = OpDef::extending("onnx.Dropout", 1).decompose(|call| {
    call.set_body(
        "fn @dropout(%x) {
           %shape = onnx.Shape(%x)
           %mask = onnx.ConstantOfShape(%shape) {value = tensor bool[1] [true]}
           return %x, %mask
         }",
    )?;
    Ok(())
});

/// The legalization contains a `MatMul` itself, with twice the weights.
const MATMUL: OpDef = OpDef::extending("onnx.MatMul", 1).decompose(|call| {
    call.set_body(
        "fn @matmul(%x, %w) {
           %two = const f32[] 2.0
           %v = onnx.Mul(%w, %two)
           %y = onnx.MatMul(%x, %v)
           return %y
         }",
    )?;
    Ok(())
});

/// An operator of the accelerator, which is legalized to ops that have to be legalized, too.
const CONV_RELU: OpDef = OpDef::new("npu.ConvRelu", 1)
    .operands(2, 2)
    .traits(OpTraits::PURE.with(OpTraits::ILLEGAL))
    .decompose(|call| {
        call.set_body(
            "fn @conv_relu(%x, %w) { %c = onnx.Conv(%x, %w) %y = onnx.Relu(%c) return %y }",
        )?;
        Ok(())
    });

plugin! {
    name: "npu",
    ops: [CONV, RELU, CONCAT, DROPOUT, MATMUL, CONV_RELU],
}
