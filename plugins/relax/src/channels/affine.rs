//! [`Affine`]: ops that scale and shift each channel.

use passdock_plugin_api::prelude::*;

use super::constants::{self, Axis};
use super::numbers::Numbers;
use crate::shared::read::{float_or, int_or, operand, operator};

/// `x * factor + offset`, channel by channel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Affine {
    pub(crate) factor: Numbers,
    pub(crate) offset: Numbers,
}

impl Affine {
    /// Returns the affine map that an op applies to the channels of one operand.
    ///
    /// Fails with [`NoMatch`] if the op does anything else, or if a number is unknown or not finite.
    pub(crate) fn from_op(
        f: &Function,
        op: OpId,
        index: usize,
        axis: Axis,
    ) -> Result<Affine, EditError> {
        let name = operator(f, op);
        if name == "onnx.BatchNormalization" {
            NoMatch::unless(index == 0)?;
            return batch_norm(f, op, axis)?.if_finite();
        }
        if name == "onnx.Neg" {
            return Ok(Affine {
                factor: Numbers::every(-1.0),
                offset: Numbers::every(0.0),
            });
        }
        let is_arithmetic = matches!(name, "onnx.Mul" | "onnx.Div" | "onnx.Add" | "onnx.Sub");
        // Before opset 7, attributes define how operands broadcast.
        let is_spread = f.opset("").is_some_and(|version| version >= 7);
        NoMatch::unless(is_arithmetic && is_spread && f.operand_count(op) == 2)?;
        let other = f.operand(op, 1 - index).ok_or(NoMatch)?;
        let numbers = constants::along(f, other, axis)?;
        let (one, zero) = (Numbers::every(1.0), Numbers::every(0.0));
        let (factor, offset) = match (name, index) {
            ("onnx.Mul", _) => (numbers, zero),
            ("onnx.Div", 0) => (numbers.map(|number| 1.0 / number), zero),
            ("onnx.Add", _) => (one, numbers),
            ("onnx.Sub", 0) => (one, numbers.map(|number| -number)),
            ("onnx.Sub", _) => (Numbers::every(-1.0), numbers),
            _ => return Err(NoMatch.into()),
        };
        Affine { factor, offset }.if_finite()
    }

    pub(crate) fn nothing() -> Affine {
        Affine {
            factor: Numbers::every(1.0),
            offset: Numbers::every(0.0),
        }
    }

    /// Returns the composition: `self`, then `next`.
    pub(crate) fn then(&self, next: &Affine) -> Affine {
        let scaled = self
            .offset
            .with(&next.factor, |offset, factor| offset * factor);
        Affine {
            factor: self.factor.with(&next.factor, |a, b| a * b),
            offset: scaled.with(&next.offset, |a, b| a + b),
        }
    }

    fn if_finite(self) -> Result<Affine, EditError> {
        let is_finite = self.factor.all(f64::is_finite) && self.offset.all(f64::is_finite);
        NoMatch::unless(is_finite)?;
        Ok(self)
    }
}

/// Whether a BatchNormalization runs in inference mode and normalizes each channel along axis 1.
pub(crate) fn is_inference(f: &Function, op: OpId) -> bool {
    let is = |name: &str, default, expected| int_or(f, op, name, default) == Some(expected);
    // Before opset 14, a BatchNormalization in training mode has more than one result.
    let infers = f.result_count(op) == 1 && is("training_mode", 0, 0);
    match f.opset("") {
        Some(version) if version < 7 => infers && is("is_test", 0, 1) && is("spatial", 1, 1),
        Some(_) => infers && is("spatial", 1, 1),
        None => false,
    }
}

fn batch_norm(f: &Function, op: OpId, axis: Axis) -> Result<Affine, EditError> {
    let epsilon = float_or(f, op, "epsilon", 1e-5).ok_or(NoMatch)?;
    NoMatch::unless(is_inference(f, op) && axis.at == 1)?;
    let list = Axis::list(axis.channels);
    let along = |index: usize| constants::along(f, operand(f, op, index), list);
    let [scale, bias, mean, var] = [along(1)?, along(2)?, along(3)?, along(4)?];
    let deviation = var.map(|var| (var + f64::from(epsilon)).sqrt());
    let factor = scale.with(&deviation, |scale, deviation| scale / deviation);
    let moved = mean.with(&factor, |mean, factor| mean * factor);
    Ok(Affine {
        offset: bias.with(&moved, |bias, moved| bias - moved),
        factor,
    })
}
