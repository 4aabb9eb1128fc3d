//! Attention, and what language models have beside it.

use passdock_plugin_api::attrs;

use super::Operator;
use super::shape::{same_elements, same_type};
use crate::decompose;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.Attention", 23, (3, 6))
        .attrs(attrs![
            is_causal: int = 0, kv_num_heads: int, q_num_heads: int,
            qk_matmul_output_mode: int = 0, scale: float, softcap: float = 0.0,
            softmax_precision: int,
        ])
        .infers(same_elements)
        .decomposes(decompose::attention::attention),
    Operator::new("onnx.Attention", 24, (3, 7))
        .attrs(attrs![
            is_causal: int = 0, kv_num_heads: int, q_num_heads: int,
            qk_matmul_output_mode: int = 0, scale: float, softcap: float = 0.0,
            softmax_precision: int,
        ])
        .infers(same_elements)
        .decomposes(decompose::attention::attention),
    Operator::new("onnx.Attention", 25, (3, 7))
        .attrs(attrs![
            is_causal: int = 0, kv_num_heads: int, left_window_size: int = -1, q_num_heads: int,
            qk_matmul_output_mode: int = 0, right_window_size: int = -1, scale: float,
            softcap: float = 0.0, softmax_precision: int,
        ])
        .infers(same_elements)
        .decomposes(decompose::attention::attention),
    Operator::new("onnx.CausalConvWithState", 27, (2, 4))
        .attrs(attrs![activation: string = "none"]),
    Operator::new("onnx.LinearAttention", 27, (3, 6)).attrs(attrs![
        chunk_size: int = 64, kv_num_heads: required int, q_num_heads: required int,
        scale: float = 0.0, update_rule: string = "gated_delta",
    ]),
    Operator::new("onnx.RotaryEmbedding", 23, (3, 4))
        .attrs(attrs![interleaved: int = 0, num_heads: int, rotary_embedding_dim: int = 0])
        .infers(same_type)
        .decomposes(decompose::attention::rotary),
    Operator::new("onnx.SwiGLU", 28, (2, 2))
        .attrs(attrs![alpha: float = 1.0])
        .infers(same_elements)
        .decomposes(decompose::elementwise::swiglu),
    Operator::new("onnx.TensorScatter", 24, (2, 3))
        .attrs(attrs![axis: int = -2, mode: string = "linear"])
        .infers(same_type),
];
