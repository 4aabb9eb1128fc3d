//! The amounts and the fill value of `onnx.Pad`, in all opset versions.

use passdock_plugin_api::element;
use passdock_plugin_api::prelude::*;

use crate::shared::read::{axis_in, float_or, is_float, operand};

/// Returns the amounts at the start of each axis, then at the end of each axis, if they are constant.
pub(crate) fn pads(f: &Function, op: OpId) -> Result<Vec<i64>, EditError> {
    let listed = match f.opset("").ok_or(NoMatch)? {
        ..2 => f.ints(op, "paddings").map(<[i64]>::to_vec),
        2..11 => f.ints(op, "pads").map(<[i64]>::to_vec),
        _ => f.constant_ints(operand(f, op, 1))?,
    };
    let listed = listed.ok_or(NoMatch)?;
    let axes = operand(f, op, 3);
    if axes.is_none() {
        NoMatch::unless(listed.len() % 2 == 0)?;
        return Ok(listed);
    }
    let axes = f.constant_ints(axes)?.ok_or(NoMatch)?;
    let rank = f.rank(operand(f, op, 0)).ok_or(NoMatch)?;
    NoMatch::unless(listed.len() == 2 * axes.len())?;
    let mut pads = vec![0; 2 * rank];
    for (at, &axis) in axes.iter().enumerate() {
        let axis = axis_in(axis, rank).ok_or(NoMatch)?;
        pads[axis] = listed[at];
        pads[rank + axis] = listed[axes.len() + at];
    }
    Ok(pads)
}

/// Replaces a `Pad` of any mode with its operand if all amounts are 0.
pub(crate) fn pad_nothing(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let is_nothing = pads(f, m.root())?.iter().all(|&pad| pad == 0);
    Ok(is_nothing.then(|| vec![m.value(f, "x")]))
}

/// The fill of a `Pad`.
#[derive(PartialEq)]
pub(crate) enum Fill {
    /// A mode other than `constant`.
    Mode(Vec<u8>),
    /// The zero of the element type.
    Zero,
    /// A constant element and its dtype.
    Element(DType, Vec<u8>),
    Value(ValueId),
}

impl Fill {
    pub(crate) fn from_op(f: &Function, op: OpId) -> Result<Fill, EditError> {
        let mode = match f.attr(op, "mode") {
            None | Some(Attr::Unset) => &b"constant"[..],
            Some(Attr::String(mode)) => mode,
            Some(_) => return Err(NoMatch.into()),
        };
        if mode != b"constant" {
            return Ok(Fill::Mode(mode.to_vec()));
        }
        let value = operand(f, op, 2);
        let (dtype, bytes) = match f.constant_data(value)? {
            Some(bytes) => (f.dtype(value).ok_or(NoMatch)?, bytes.to_vec()),
            None if value.is_some() => return Ok(Fill::Value(value)),
            None => {
                let number = float_or(f, op, "value", 0.0).ok_or(NoMatch)?;
                (DType::F32, number.to_le_bytes().to_vec())
            }
        };
        Ok(match bytes.iter().all(|&byte| byte == 0) {
            true => Fill::Zero,
            false => Fill::Element(dtype, bytes),
        })
    }

    pub(crate) fn is_constant(&self) -> bool {
        !matches!(self, Fill::Mode(_))
    }

    /// Whether the fill is 0.0, -0.0 or an integer 0.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Fill::Zero => true,
            Fill::Element(dtype, element) => {
                is_float(*dtype) && element::read(*dtype, element) == 0.0
            }
            _ => false,
        }
    }

    /// Whether the fill is negative infinity.
    pub(crate) fn is_lowest(&self) -> bool {
        matches!(self, Fill::Element(dtype, element)
            if is_float(*dtype) && element::read(*dtype, element) == f64::NEG_INFINITY)
    }
}
