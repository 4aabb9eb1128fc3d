//! Operators that ONNX only tries out: `ai.onnx.preview` and optimizers of training.

use passdock_plugin_api::{OpTraits, attrs};

use super::{MANY, Operator};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("ai.onnx.preview.FlexAttention", 1, (3, 3))
        .attrs(attrs![prob_mod: graph, scale: float, score_mod: graph, softmax_precision: int]),
    Operator::new("ai.onnx.preview.training.Adagrad", 1, (3, MANY)).attrs(attrs![
        decay_factor: float = 0.0, epsilon: float = 1e-6, norm_coefficient: float = 0.0,
    ]),
    Operator::new("ai.onnx.preview.training.Adam", 1, (3, MANY)).attrs(attrs![
        alpha: float = 0.9, beta: float = 0.999, epsilon: float = 1e-6,
        norm_coefficient: float = 0.0, norm_coefficient_post: float = 0.0,
    ]),
    // What it differentiates is the graph around it, which no operand says.
    Operator::new("ai.onnx.preview.training.Gradient", 1, (1, MANY))
        .attrs(attrs![xs: required strings, y: required string, zs: strings])
        .only(OpTraits::NONE),
    Operator::new("ai.onnx.preview.training.Momentum", 1, (3, MANY)).attrs(attrs![
        alpha: required float, beta: required float, mode: required string,
        norm_coefficient: required float,
    ]),
];
