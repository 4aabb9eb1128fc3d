//! Operators with random results, which are never folded or merged.

use passdock_plugin_api::{DType, Dim, OpTraits, attrs};

use super::create::like;
use super::operator::{Operator, body};
use crate::infer::{Infer, Inferred, sizes};

const fn random(name: &'static str, since: i64, operands: u32) -> Operator {
    Operator::new(name, since, (operands, operands)).only(OpTraits::RANDOM)
}

pub(super) const OPERATORS: &[Operator] = &[
    random("onnx.Bernoulli", 15, 1)
        .attrs(attrs![dtype: int, seed: float])
        .infers(like)
        .decomposes(body!("Bernoulli")),
    random("onnx.Multinomial", 7, 1)
        .attrs(attrs![dtype: int = 6, sample_size: int = 1, seed: float])
        .infers(multinomial),
    random("onnx.RandomNormal", 1, 0)
        .attrs(attrs![
            dtype: int = 1, mean: float = 0.0, scale: float = 1.0, seed: float,
            shape: required ints,
        ])
        .infers(shaped),
    random("onnx.RandomNormalLike", 1, 1)
        .attrs(attrs![dtype: int, mean: float = 0.0, scale: float = 1.0, seed: float])
        .infers(like),
    random("onnx.RandomUniform", 1, 0)
        .attrs(attrs![
            dtype: int = 1, high: float = 1.0, low: float = 0.0, seed: float,
            shape: required ints,
        ])
        .infers(shaped),
    random("onnx.RandomUniformLike", 1, 1)
        .attrs(attrs![dtype: int, high: float = 1.0, low: float = 0.0, seed: float])
        .infers(like),
];

/// Infers the shape in the attribute.
fn shaped(op: &Infer) -> Inferred {
    let dims = op.ints("shape")?.map(|shape| sizes(shape.iter().copied()));
    op.set(0, op.dtype_attr("dtype")?.unwrap_or(DType::F32), dims)
}

/// Infers the number of samples per row in the attribute.
fn multinomial(op: &Infer) -> Inferred {
    let dtype = op.dtype_attr("dtype")?.unwrap_or(DType::I32);
    let samples = Dim::constant(op.int_or("sample_size", 1)?);
    op.set(0, dtype, Some(vec![op.dim(0, 0), samples]))
}
