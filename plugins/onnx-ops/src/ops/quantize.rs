//! Quantisation.

use passdock_plugin_api::{DType, OpTraits, attrs};

use super::Operator;
use crate::decompose;
use crate::eval::quantize;
use crate::infer::{Answer, Infer};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.DequantizeLinear", 10, (2, 3))
        .with(OpTraits::GROWS)
        .infers(dequantize)
        .folds(quantize::dequantize),
    Operator::new("onnx.DequantizeLinear", 13, (2, 3))
        .attrs(attrs![axis: int = 1])
        .with(OpTraits::GROWS)
        .infers(dequantize)
        .folds(quantize::dequantize),
    Operator::new("onnx.DequantizeLinear", 21, (2, 3))
        .attrs(attrs![axis: int = 1, block_size: int = 0])
        .with(OpTraits::GROWS)
        .infers(dequantize)
        .folds(quantize::dequantize),
    Operator::new("onnx.DequantizeLinear", 23, (2, 3))
        .attrs(attrs![axis: int = 1, block_size: int = 0, output_dtype: int = 0])
        .with(OpTraits::GROWS)
        .infers(dequantize)
        .folds(quantize::dequantize),
    Operator::new("onnx.DynamicQuantizeLinear", 11, (1, 1))
        .infers(dynamic)
        .decomposes(decompose::make::dynamic_quantize),
    Operator::new("onnx.QuantizeLinear", 10, (2, 3))
        .infers(quantized)
        .folds(quantize::quantize),
    Operator::new("onnx.QuantizeLinear", 13, (2, 3))
        .attrs(attrs![axis: int = 1])
        .infers(quantized)
        .folds(quantize::quantize),
    Operator::new("onnx.QuantizeLinear", 19, (2, 3))
        .attrs(attrs![axis: int = 1, saturate: int = 1])
        .infers(quantized)
        .folds(quantize::quantize),
    Operator::new("onnx.QuantizeLinear", 21, (2, 3))
        .attrs(attrs![
            axis: int = 1, block_size: int = 0, output_dtype: int = 0, saturate: int = 1,
        ])
        .infers(quantized)
        .folds(quantize::quantize),
    Operator::new("onnx.QuantizeLinear", 23, (2, 3))
        .attrs(attrs![
            axis: int = 1, block_size: int = 0, output_dtype: int = 0, precision: int = 0,
            saturate: int = 1,
        ])
        .infers(quantized)
        .folds(quantize::quantize),
];

/// The operand's shape, of the type that `output_dtype` says, else of the scale's.
fn dequantize(op: &Infer) -> Answer {
    let dtype = match op.int_or("output_dtype", 0)? {
        0 => op.dtype(1)?,
        given => DType(u32::try_from(given).unwrap_or(0)),
    };
    op.set(0, dtype, op.dims(0))
}

/// The operand's shape, of the zero point's type, else of what `output_dtype` says, else uint8.
fn quantized(op: &Infer) -> Answer {
    let dtype = match (op.has(2), op.int_or("output_dtype", 0)?) {
        (true, _) => op.dtype(2)?,
        (false, 0) => DType::U8,
        (false, given) => DType(u32::try_from(given).unwrap_or(0)),
    };
    op.set(0, dtype, op.dims(0))
}

/// The operand's shape as uint8, and the scale and zero point found.
fn dynamic(op: &Infer) -> Answer {
    op.set(0, DType::U8, op.dims(0))?;
    op.set(1, DType::F32, Some(vec![]))?;
    op.set(2, DType::U8, Some(vec![]))
}
