//! Loss functions.

use passdock_plugin_api::attrs;

use super::operator::{Operator, body};
use crate::infer::{Infer, Inferred, invalid};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.NegativeLogLikelihoodLoss", 12, (2, 3))
        .attrs(attrs![ignore_index: int, reduction: string = "mean"])
        .infers(likelihood)
        .decomposes(body!("NegativeLogLikelihoodLoss")),
    Operator::new("onnx.SoftmaxCrossEntropyLoss", 12, (2, 3))
        .results((1, 2))
        .attrs(attrs![ignore_index: int, reduction: string = "mean"])
        .infers(cross_entropy)
        .decomposes(body!("SoftmaxCrossEntropyLoss")),
];

/// Infers a scalar, or the labels' shape if `reduction` is `none`. Scores are `[N, C, …]`, labels `[N, …]`.
fn likelihood(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let scores = match op.dims(0) {
        Some(dims) if dims.len() < 2 => {
            return invalid!("operand 0 has rank {}, expected at least 2", dims.len());
        }
        Some(mut dims) => {
            dims.remove(1);
            Some(dims)
        }
        None => None,
    };
    let labels = match (scores, op.dims(1)) {
        (Some(scores), Some(labels)) if scores.len() != labels.len() => {
            return invalid!(
                "operand 1 has rank {}, expected {}",
                labels.len(),
                scores.len()
            );
        }
        (scores, labels) => op.agree_all(scores, labels)?,
    };
    match op.enum_value("reduction", &["mean", "none", "sum"])? {
        "none" => op.set(0, dtype, labels),
        _ => op.set(0, dtype, Some(vec![])),
    }
}

/// Like [`likelihood`]. The second result, the logarithms of the probabilities, has the scores' shape.
fn cross_entropy(op: &Infer) -> Inferred {
    likelihood(op)?;
    op.set(1, op.dtype(0)?, op.dims(0))
}
