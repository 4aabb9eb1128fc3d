//! Losses of training.

use passdock_plugin_api::attrs;

use super::Operator;
use crate::decompose;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.NegativeLogLikelihoodLoss", 12, (2, 3))
        .attrs(attrs![ignore_index: int, reduction: string = "mean"])
        .decomposes(decompose::loss::negative_log_likelihood),
    Operator::new("onnx.SoftmaxCrossEntropyLoss", 12, (2, 3))
        .attrs(attrs![ignore_index: int, reduction: string = "mean"])
        .decomposes(decompose::loss::softmax_cross_entropy),
];
