//! [`KnownTensor`]: a tensor of floats that is known before the model runs, a constant or a splat.

use passdock_plugin_api::prelude::*;

use super::numbers::{self, Numbers};
use super::operator;

/// Views of a splat that are looked through.
const VIEWS: usize = 8;

/// A tensor of floats whose elements are known.
#[derive(Clone, Debug)]
pub(crate) struct KnownTensor {
    pub(crate) value: ValueId,
    pub(crate) dtype: DType,
    pub(crate) dims: Vec<i64>,
    /// The number that an `onnx.ConstantOfShape` puts everywhere; `None` for a constant.
    pub(crate) splat: Option<f64>,
}

/// Where the channels of a tensor are: along one of its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) rank: usize,
    pub(crate) at: usize,
    pub(crate) channels: usize,
}

impl KnownTensor {
    pub(crate) fn from_value(
        f: &Function,
        value: ValueId,
    ) -> Result<Option<KnownTensor>, EditError> {
        let (dtype, Some(dims)) = (f.dtype(value), f.shape(value)) else {
            return Ok(None);
        };
        let Some(size) = numbers::size_of(dtype) else {
            return Ok(None);
        };
        let known = |splat| {
            Some(KnownTensor {
                value,
                dtype,
                dims: dims.clone(),
                splat,
            })
        };
        if f.constant(value).is_some() {
            return Ok(known(None));
        }
        let mut from = value;
        for _ in 0..VIEWS {
            let Some(op) = f.defining_op(from) else {
                return Ok(None);
            };
            match (operator(f, op), f.operand(op, 0)) {
                ("onnx.ConstantOfShape", _) => {
                    let number = match f.attr(op, "value") {
                        None => 0.0,
                        Some(Attr::Tensor(id)) => match f.constant_bytes(id)? {
                            element if element.len() == size => numbers::read(dtype, element),
                            _ => return Ok(None),
                        },
                        Some(_) => return Ok(None),
                    };
                    return Ok(known(Some(number)));
                }
                (
                    "onnx.Reshape" | "onnx.Unsqueeze" | "onnx.Squeeze" | "onnx.Flatten"
                    | "onnx.Expand" | "onnx.Identity",
                    Some(operand),
                ) => {
                    let is_one = f.type_of(operand).element_count() == Some(1);
                    if f.constant(operand).is_some() && is_one && f.dtype(operand) == dtype {
                        let element = f.constant_data(operand)?;
                        return Ok(known(element.map(|bytes| numbers::read(dtype, bytes))));
                    }
                    from = operand;
                }
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The bytes of a constant.
    pub(crate) fn byte_len(&self, f: &Function) -> u64 {
        let constant = f.constant(self.value).and_then(|id| f.constant_record(id));
        constant.map_or(0, |constant| constant.byte_len)
    }

    /// The number of elements.
    fn count(&self) -> usize {
        self.dims.iter().map(|&size| size.max(0) as usize).product()
    }

    /// One number a channel, if that is all it says of a tensor with these channels that it is spread over, and
    /// that tensor's shape stays.
    pub(crate) fn along(&self, f: &Function, axis: Axis) -> Result<Option<Numbers>, EditError> {
        let Some(more) = axis.rank.checked_sub(self.dims.len()) else {
            return Ok(None);
        };
        let fits = |(at, &size): (usize, &i64)| {
            size == 1 || at + more == axis.at && size == axis.channels as i64
        };
        if !self.dims.iter().enumerate().all(fits) {
            return Ok(None);
        }
        if let Some(number) = self.splat {
            return Ok(Some(Numbers::every(number)));
        }
        self.numbers(f)
    }

    /// All elements in order.
    fn numbers(&self, f: &Function) -> Result<Option<Numbers>, EditError> {
        let (Some(size), Some(bytes)) =
            (numbers::size_of(self.dtype), f.constant_data(self.value)?)
        else {
            return Ok(None);
        };
        let elements = bytes.chunks_exact(size);
        let read: Vec<f64> = elements
            .map(|element| numbers::read(self.dtype, element))
            .collect();
        Ok((!read.is_empty() && read.len() == self.count()).then(|| Numbers::new(read)))
    }
}

/// One number a channel that a value says, as [`KnownTensor::along`] does.
pub(crate) fn along(
    f: &Function,
    value: ValueId,
    axis: Axis,
) -> Result<Option<Numbers>, EditError> {
    match KnownTensor::from_value(f, value)? {
        Some(known) => known.along(f, axis),
        None => Ok(None),
    }
}
