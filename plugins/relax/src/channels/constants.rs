//! [`KnownTensor`]: a float tensor whose elements are constant: a constant or a splat.

use passdock_plugin_api::prelude::*;

use super::numbers::{self, Numbers};
use crate::shared::read::{is_one, operand, operator};

/// The maximum number of views between a splat and its use.
const VIEWS: usize = 8;

/// A float tensor whose elements are known.
#[derive(Clone, Debug)]
pub(crate) struct KnownTensor {
    pub(crate) value: ValueId,
    pub(crate) dtype: DType,
    pub(crate) dims: Vec<i64>,
    /// The value of each element, for an `onnx.ConstantOfShape`; `None` for a constant.
    pub(crate) splat: Option<f64>,
}

/// The channel axis of a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) rank: usize,
    pub(crate) at: usize,
    pub(crate) channels: usize,
}

impl Axis {
    /// Returns the axis of a one-dimensional tensor with one element per channel.
    pub(crate) fn list(channels: usize) -> Axis {
        Axis {
            rank: 1,
            at: 0,
            channels,
        }
    }
}

impl KnownTensor {
    pub(crate) fn from_value(f: &Function, value: ValueId) -> Result<KnownTensor, EditError> {
        let dtype = f.dtype(value).ok_or(NoMatch)?;
        let dims = f.shape(value).ok_or(NoMatch)?;
        let size = numbers::size_of(dtype).ok_or(NoMatch)?;
        let mut known = KnownTensor {
            value,
            dtype,
            dims,
            splat: None,
        };
        if f.constant(value).is_some() {
            return Ok(known);
        }
        let mut from = value;
        for _ in 0..VIEWS {
            let op = f.defining_op(from).ok_or(NoMatch)?;
            let element = match operator(f, op) {
                "onnx.ConstantOfShape" => match f.attr(op, "value") {
                    None => Some(0.0),
                    Some(Attr::Tensor(id)) => {
                        let element = f.constant_bytes(id)?;
                        NoMatch::unless(element.len() == size)?;
                        Some(numbers::read(dtype, element))
                    }
                    Some(_) => return Err(NoMatch.into()),
                },
                "onnx.Reshape" | "onnx.Unsqueeze" | "onnx.Squeeze" | "onnx.Flatten"
                | "onnx.Expand" | "onnx.Identity" => {
                    from = operand(f, op, 0);
                    let element = match is_one(f, from) && f.dtype(from) == Some(dtype) {
                        true => f.constant_data(from)?,
                        false => None,
                    };
                    element.map(|element| numbers::read(dtype, element))
                }
                _ => return Err(NoMatch.into()),
            };
            if element.is_some() {
                known.splat = element;
                return Ok(known);
            }
        }
        Err(NoMatch.into())
    }

    /// Returns the size of the constant in bytes; 0 for a splat.
    pub(crate) fn byte_len(&self, f: &Function) -> u64 {
        let constant = f.constant(self.value).and_then(|id| f.constant_record(id));
        constant.map_or(0, |constant| constant.byte_len)
    }

    /// Returns one number per channel.
    ///
    /// Fails with [`NoMatch`] if the tensor varies along another axis, or if broadcasting it would change the shape of
    /// a tensor with this channel axis.
    pub(crate) fn along(&self, f: &Function, axis: Axis) -> Result<Numbers, EditError> {
        let more = axis.rank.checked_sub(self.dims.len()).ok_or(NoMatch)?;
        let fits = |(at, &size): (usize, &i64)| {
            size == 1 || at + more == axis.at && size == axis.channels as i64
        };
        NoMatch::unless(self.dims.iter().enumerate().all(fits))?;
        if let Some(number) = self.splat {
            return Ok(Numbers::every(number));
        }
        self.numbers(f)
    }

    /// Returns all elements in row-major order.
    fn numbers(&self, f: &Function) -> Result<Numbers, EditError> {
        let read = f.constant_floats(self.value)?.ok_or(NoMatch)?;
        let count: usize = self.dims.iter().map(|&size| size.max(0) as usize).product();
        NoMatch::unless(!read.is_empty() && read.len() == count)?;
        Ok(Numbers::new(read))
    }
}

/// Returns one number per channel of a value; see [`KnownTensor::along`].
pub(crate) fn along(f: &Function, value: ValueId, axis: Axis) -> Result<Numbers, EditError> {
    KnownTensor::from_value(f, value)?.along(f, axis)
}
