//! ONNX's preview operators: `ai.onnx.preview`, and optimizers for training.

use passdock_plugin_api::{OpTraits, attrs};

use super::operator::{MANY, Operator};
use crate::infer::{Infer, Inferred, invalid};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("ai.onnx.preview.FlexAttention", 1, (3, 3))
        .attrs(attrs![prob_mod: graph, scale: float, score_mod: graph, softmax_precision: int])
        .infers(flex_attention),
    Operator::new("ai.onnx.preview.training.Adagrad", 1, (3, MANY))
        .results((1, MANY))
        .attrs(attrs![
            decay_factor: float = 0.0, epsilon: float = 1e-6, norm_coefficient: float = 0.0,
        ])
        .infers(|op| updated(op, 3)),
    Operator::new("ai.onnx.preview.training.Adam", 1, (3, MANY))
        .results((1, MANY))
        .attrs(attrs![
            alpha: float = 0.9, beta: float = 0.999, epsilon: float = 1e-6,
            norm_coefficient: float = 0.0, norm_coefficient_post: float = 0.0,
        ])
        .infers(|op| updated(op, 4)),
    // It differentiates the surrounding graph, which isn't an operand.
    Operator::new("ai.onnx.preview.training.Gradient", 1, (1, MANY))
        .results((1, MANY))
        .attrs(attrs![xs: required strings, y: required string, zs: strings])
        .only(OpTraits::NONE),
    Operator::new("ai.onnx.preview.training.Momentum", 1, (3, MANY))
        .results((1, MANY))
        .attrs(attrs![
            alpha: required float, beta: required float, mode: required string,
            norm_coefficient: required float,
        ])
        .infers(|op| updated(op, 3)),
];

/// Infers the query's dims, with the head size of the values.
fn flex_attention(op: &Infer) -> Inferred {
    let [batch, heads, length, size] = op.dims_of(0, "Q")?;
    let [key_batch, kv_heads, kv_length, key_size] = op.dims_of(1, "K")?;
    let [value_batch, value_heads, value_length, value_size] = op.dims_of(2, "V")?;
    op.agree(size, key_size)?;
    op.agree(kv_length, value_length)?;
    op.agree(kv_heads, value_heads)?;
    let batch = op.agree(op.agree(batch, key_batch)?, value_batch)?;
    let dims = vec![batch, heads, length, value_size];
    op.set(0, op.dtype(0)?, Some(dims))
}

/// Infers the results of an optimizer. Its operands are a rate, a count, and `groups` groups of equal size: tensors,
/// their gradients, and the optimizer's states. Its results are the updated tensors and states, with unchanged types.
fn updated(op: &Infer, groups: usize) -> Inferred {
    let tensors = op.host.operand_count().saturating_sub(2);
    if !tensors.is_multiple_of(groups) {
        return invalid!(
            "number of operands starting at operand 2 is {tensors}, expected a multiple of {groups}"
        );
    }
    let count = tensors / groups;
    let (results, expected) = (op.host.result_count(), count * (groups - 1));
    if results != expected {
        return invalid!("number of results is {results}, expected {expected}");
    }
    for index in 0..expected {
        // Gradients have no result.
        let operand = if index < count { index } else { index + count };
        if let Ok(dtype) = op.dtype(2 + operand) {
            op.set(index, dtype, op.dims(2 + operand))?;
        }
    }
    Ok(())
}
