//! [`Affine`]: ops that multiply each channel by a number and add one to it.

use passdock_plugin_api::prelude::*;

use super::constants::{self, Axis};
use super::numbers::Numbers;
use super::operator;

/// `x * factor + offset`, channel by channel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Affine {
    pub(crate) factor: Numbers,
    pub(crate) offset: Numbers,
}

impl Affine {
    /// What an op does with the channels of one of its operands; `None` if it does anything else, if what it does
    /// isn't known, or isn't finite.
    pub(crate) fn from_op(
        f: &Function,
        op: OpId,
        index: usize,
        axis: Axis,
    ) -> Result<Option<Affine>, EditError> {
        let name = operator(f, op);
        if name == "onnx.BatchNormalization" {
            return Ok(match index {
                0 => batch_norm(f, op, axis)?.filter(Affine::is_finite),
                _ => None,
            });
        }
        if name == "onnx.Neg" {
            return Ok(Some(Affine {
                factor: Numbers::every(-1.0),
                offset: Numbers::every(0.0),
            }));
        }
        let is_arithmetic = matches!(name, "onnx.Mul" | "onnx.Div" | "onnx.Add" | "onnx.Sub");
        // Older ones say by attributes how operands are spread.
        let is_spread = f.opset("").is_some_and(|version| version >= 7);
        if !is_arithmetic || !is_spread || f.operand_count(op) != 2 {
            return Ok(None);
        }
        let Some(other) = f.operand(op, 1 - index) else {
            return Ok(None);
        };
        let Some(numbers) = constants::along(f, other, axis)? else {
            return Ok(None);
        };
        let (one, zero) = (Numbers::every(1.0), Numbers::every(0.0));
        let (factor, offset) = match (name, index) {
            ("onnx.Mul", _) => (numbers, zero),
            ("onnx.Div", 0) => (numbers.map(|number| 1.0 / number), zero),
            ("onnx.Add", _) => (one, numbers),
            ("onnx.Sub", 0) => (one, numbers.map(|number| -number)),
            ("onnx.Sub", _) => (Numbers::every(-1.0), numbers),
            _ => return Ok(None),
        };
        Ok(Some(Affine { factor, offset }).filter(Affine::is_finite))
    }

    pub(crate) fn nothing() -> Affine {
        Affine {
            factor: Numbers::every(1.0),
            offset: Numbers::every(0.0),
        }
    }

    /// What another one does to what this one gives.
    pub(crate) fn then(&self, next: &Affine) -> Affine {
        let scaled = self
            .offset
            .with(&next.factor, |offset, factor| offset * factor);
        Affine {
            factor: self.factor.with(&next.factor, |a, b| a * b),
            offset: scaled.with(&next.offset, |a, b| a + b),
        }
    }

    fn is_finite(&self) -> bool {
        self.factor.all(f64::is_finite) && self.offset.all(f64::is_finite)
    }
}

/// Whether an op is a BatchNormalization that doesn't train, and normalises each channel, which is axis 1.
fn infers(f: &Function, op: OpId) -> bool {
    let is = |name: &str, default: i64, wanted: i64| match f.attr(op, name) {
        None => default == wanted,
        // An attribute of the function around it may be anything.
        Some(value) => matches!(value, Attr::Int(value) if value == wanted),
    };
    // Before version 14, one that trains gives more than one result.
    let infers = f.result_count(op) == 1 && is("training_mode", 0, 0);
    match f.opset("") {
        Some(version) if version < 7 => infers && is("is_test", 0, 1) && is("spatial", 1, 1),
        Some(_) => infers && is("spatial", 1, 1),
        None => false,
    }
}

fn batch_norm(f: &Function, op: OpId, axis: Axis) -> Result<Option<Affine>, EditError> {
    let epsilon = match f.attr(op, "epsilon") {
        None => 1e-5_f32,
        Some(Attr::Float(epsilon)) => epsilon,
        Some(_) => return Ok(None),
    };
    if !infers(f, op) || axis.at != 1 {
        return Ok(None);
    }
    let list = Axis {
        rank: 1,
        at: 0,
        channels: axis.channels,
    };
    let mut numbers = Vec::new();
    for index in 1..5 {
        let Some(value) = f.operand(op, index) else {
            return Ok(None);
        };
        match constants::along(f, value, list)? {
            Some(read) => numbers.push(read),
            None => return Ok(None),
        }
    }
    let [scale, bias, mean, var] = &numbers[..] else {
        return Ok(None);
    };
    let deviation = var.map(|var| (var + f64::from(epsilon)).sqrt());
    let factor = scale.with(&deviation, |scale, deviation| scale / deviation);
    let moved = mean.with(&factor, |mean, factor| mean * factor);
    Ok(Some(Affine {
        offset: bias.with(&moved, |bias, moved| bias - moved),
        factor,
    }))
}
