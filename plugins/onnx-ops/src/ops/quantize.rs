//! Quantization.

use passdock_plugin_api::{DType, Dim, OpTraits, attrs};

use super::operator::{Operator, body};
use crate::eval::quantize;
use crate::infer::{Infer, Inferred};

pub(super) const OPERATORS: &[Operator] = &[
    DEQUANTIZE_LINEAR,
    DEQUANTIZE_LINEAR.since(13).attrs(attrs![axis: int = 1]),
    DEQUANTIZE_LINEAR
        .since(21)
        .attrs(attrs![axis: int = 1, block_size: int = 0]),
    DEQUANTIZE_LINEAR
        .since(23)
        .attrs(attrs![axis: int = 1, block_size: int = 0, output_dtype: int = 0]),
    Operator::new("onnx.DynamicQuantizeLinear", 11, (1, 1))
        .results((3, 3))
        .infers(dynamic)
        .decomposes(body!("DynamicQuantizeLinear")),
    QUANTIZE_LINEAR,
    QUANTIZE_LINEAR.since(13).attrs(attrs![axis: int = 1]),
    QUANTIZE_LINEAR
        .since(19)
        .attrs(attrs![axis: int = 1, saturate: int = 1]),
    QUANTIZE_LINEAR.since(21).attrs(attrs![
        axis: int = 1, block_size: int = 0, output_dtype: int = 0, saturate: int = 1,
    ]),
    QUANTIZE_LINEAR.since(23).attrs(attrs![
        axis: int = 1, block_size: int = 0, output_dtype: int = 0, precision: int = 0,
        saturate: int = 1,
    ]),
];

const DEQUANTIZE_LINEAR: Operator = Operator::new("onnx.DequantizeLinear", 10, (2, 3))
    .with(OpTraits::GROWS.with(OpTraits::INJECTIVE))
    .infers(dequantize)
    .folds(quantize::dequantize);

const QUANTIZE_LINEAR: Operator = Operator::new("onnx.QuantizeLinear", 10, (2, 3))
    .with(OpTraits::INJECTIVE)
    .infers(quantized)
    .folds(quantize::quantize);

/// Infers the operand's shape, with the type in `output_dtype` or else that of the scale.
fn dequantize(op: &Infer) -> Inferred {
    let dtype = match output_dtype(op)? {
        None => op.dtype(1)?,
        Some(dtype) => dtype,
    };
    op.set(0, dtype, op.dims(0))?;
    scaled(op)
}

/// Infers the operand's shape, with the zero point's type, or else the one in `output_dtype`, or else uint8.
fn quantized(op: &Infer) -> Inferred {
    let dtype = match (op.has(2), output_dtype(op)?) {
        (true, _) => op.dtype(2)?,
        (false, given) => given.unwrap_or(DType::U8),
    };
    op.set(0, dtype, op.dims(0))?;
    scaled(op)
}

/// Returns the element type in `output_dtype`, if it is given.
fn output_dtype(op: &Infer) -> Inferred<Option<DType>> {
    match op.int_or("output_dtype", 0)? {
        0 => Ok(None),
        _ => op.dtype_attr("output_dtype"),
    }
}

/// Checks the axis if there is more than one scale.
fn scaled(op: &Infer) -> Inferred {
    let one = |dim: Dim| dim.as_const() == Some(1);
    let (Some(dims), Some(scale)) = (op.dims(0), op.dims(1)) else {
        return Ok(());
    };
    if dims.len() > 1 && !scale.iter().copied().all(one) {
        op.axis(op.int_or("axis", 1)?, dims.len())?;
    }
    Ok(())
}

/// Infers the operand's shape as uint8, and a scalar scale and zero point.
fn dynamic(op: &Infer) -> Inferred {
    op.set(0, DType::U8, op.dims(0))?;
    op.set(1, DType::F32, Some(vec![]))?;
    op.set(2, DType::U8, Some(vec![]))
}
