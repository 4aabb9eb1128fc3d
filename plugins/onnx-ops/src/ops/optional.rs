//! Values that may be missing.

use passdock_plugin_api::{DType, attrs};

use super::Operator;
use crate::infer::{Answer, Infer};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.Optional", 15, (0, 1)).attrs(attrs![type: type]),
    Operator::new("onnx.OptionalGetElement", 15, (1, 1)),
    Operator::new("onnx.OptionalHasElement", 15, (1, 1)).infers(truth),
    Operator::new("onnx.OptionalHasElement", 18, (0, 1)).infers(truth),
];

/// A bool.
fn truth(op: &Infer) -> Answer {
    op.set(0, DType::BOOL, Some(vec![]))
}
