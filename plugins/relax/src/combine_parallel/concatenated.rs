//! Concatenation of constants.

use passdock_plugin_api::prelude::*;

use crate::shared::read::add_tensor;

/// Constants that are concatenated along an axis.
pub(super) struct Concatenated {
    dtype: DType,
    shape: Vec<i64>,
    bytes: Vec<u8>,
}

impl Concatenated {
    /// Concatenates constants whose shapes differ only in the size of the axis.
    pub(super) fn new(
        f: &Function,
        values: &[ValueId],
        axis: usize,
    ) -> Result<Concatenated, EditError> {
        let &first = values.first().ok_or(NoMatch)?;
        let dtype = f.dtype(first).ok_or(NoMatch)?;
        let mut shape = f.shape(first).unwrap_or_default();
        NoMatch::unless(axis < shape.len())?;
        let rows: i64 = shape[..axis].iter().product();
        shape[axis] = 0;
        let (mut parts, mut size) = (Vec::with_capacity(values.len()), 0);
        for &value in values {
            let mut own = f.shape(value).ok_or(NoMatch)?;
            let data = f.constant_data(value)?.ok_or(NoMatch)?;
            NoMatch::unless(f.dtype(value) == Some(dtype) && own.len() == shape.len())?;
            let channels = std::mem::replace(&mut own[axis], shape[axis]);
            NoMatch::unless(own == shape)?;
            shape[axis] += channels;
            size += data.len();
            parts.push((data, data.len() / rows.max(1) as usize));
        }
        let mut bytes = Vec::with_capacity(size);
        for row in 0..rows.max(0) as usize {
            for (data, width) in &parts {
                bytes.extend_from_slice(&data[row * width..(row + 1) * width]);
            }
        }
        Ok(Concatenated {
            dtype,
            shape,
            bytes,
        })
    }

    pub(super) fn make(self, f: &mut Function) -> Result<ValueId, EditError> {
        add_tensor(f, self.dtype, &self.shape, &self.bytes)
    }
}
