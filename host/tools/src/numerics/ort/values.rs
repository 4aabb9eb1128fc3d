//! Copying values to and from ONNX Runtime.

use std::ffi::{CString, c_int};
use std::ptr;

use passdock_abi::DType;
use passdock_ir::constant::{string_data, string_elements};

use super::OrtSession;
use super::api::{Api, MAP, Object, Result, SEQUENCE, TENSOR, Text, c_text, dtype_code, kind_name};
use super::tensor::{OutputValue, Tensor};

impl OrtSession<'_> {
    /// Copies a tensor into ONNX Runtime.
    pub(super) fn create(&self, tensor: &Tensor) -> Result<Object> {
        let (api, allocator) = (self.runtime.api, self.runtime.allocator);
        let (shape, code) = (&tensor.shape, dtype_code(tensor.dtype));
        let count = Tensor::elements(shape).ok_or("shape is negative or too large")?;
        // SAFETY: the shape outlives the call.
        let value = api.object(Api::release_value, |out| unsafe {
            api.create_tensor_as_ort_value(allocator, shape.as_ptr(), shape.len(), code, out)
        })?;
        if tensor.dtype == DType::STRING {
            let texts = string_elements(&tensor.data, count).ok_or("invalid string offsets")?;
            let texts = texts.map(c_text).collect::<Result<Vec<CString>>>()?;
            let pointers: Vec<Text> = texts.iter().map(|text| text.as_ptr()).collect();
            // SAFETY: there are as many strings as elements; the call copies them.
            api.check(unsafe {
                api.fill_string_tensor(value.pointer, pointers.as_ptr(), pointers.len())
            })?;
            return Ok(value);
        }
        if tensor.dtype.byte_len(count) != Some(tensor.data.len() as u64) {
            return Err("data length does not match the shape".to_owned());
        }
        // SAFETY: the value is a tensor.
        let data =
            api.borrowed(|out| unsafe { api.get_tensor_mutable_data(value.pointer, out) })?;
        if !tensor.data.is_empty() {
            // SAFETY: the tensor was allocated for this type and shape, so it has this many bytes.
            unsafe {
                ptr::copy_nonoverlapping(tensor.data.as_ptr(), data.cast(), tensor.data.len())
            };
        }
        Ok(value)
    }

    /// Copies a value out of ONNX Runtime, including the tensors of sequences and maps.
    pub(super) fn read_value(&self, value: Object) -> Result<OutputValue> {
        let (api, allocator) = (self.runtime.api, self.runtime.allocator);
        let mut tensors = Vec::new();
        let mut stack = vec![(String::new(), value)];
        while let Some((position, value)) = stack.pop() {
            if value.pointer.is_null() {
                return Ok(OutputValue::Opaque("absent"));
            }
            // SAFETY: the value is valid until it is dropped.
            let kind = api.value(|out| unsafe { api.get_value_type(value.pointer, out) });
            let parts = match kind {
                Ok(TENSOR) => {
                    let tensor = self.read(&value)?;
                    tensors.push((position, tensor));
                    continue;
                }
                Ok(SEQUENCE | MAP) => {
                    // SAFETY: as above.
                    api.value(|out| unsafe { api.get_value_count(value.pointer, out) })?
                }
                Ok(other) => return Ok(OutputValue::Opaque(kind_name(other))),
                // An absent optional.
                Err(_) => return Ok(OutputValue::Opaque("absent")),
            };
            for part in (0..parts).rev() {
                let position = match (&kind, part) {
                    (Ok(MAP), 0) => format!("{position}.keys"),
                    (Ok(MAP), _) => format!("{position}.values"),
                    _ => format!("{position}[{part}]"),
                };
                let index = part as c_int;
                // SAFETY: the value has a part of this index; the result is a new object.
                let part = api.object(Api::release_value, |out| unsafe {
                    api.get_value(value.pointer, index, allocator, out)
                })?;
                stack.push((position, part));
            }
        }
        Ok(OutputValue::Tensors(tensors))
    }

    /// Copies a tensor out of ONNX Runtime.
    fn read(&self, value: &Object) -> Result<Tensor> {
        let api = self.runtime.api;
        // SAFETY: the value is a tensor.
        let info = api.object(Api::release_tensor_type_and_shape_info, |out| unsafe {
            api.get_tensor_type_and_shape(value.pointer, out)
        })?;
        let (dtype, shape) = self.runtime.tensor_type(info.pointer)?;
        let count = Tensor::elements(&shape).ok_or("shape is negative or too large")?;
        if dtype == DType::STRING {
            let data = self.read_strings(value, count as usize)?;
            return Ok(Tensor { dtype, shape, data });
        }
        let len = dtype.byte_len(count);
        let len = len.ok_or_else(|| format!("unknown element type {}", dtype.0))? as usize;
        // SAFETY: the value is a tensor.
        let from =
            api.borrowed(|out| unsafe { api.get_tensor_mutable_data(value.pointer, out) })?;
        let data = match len == 0 || from.is_null() {
            true => Vec::new(),
            // SAFETY: a tensor of this type and shape has this many bytes. They are copied while the value is
            // valid.
            false => unsafe { std::slice::from_raw_parts(from.cast::<u8>(), len) }.to_vec(),
        };
        Ok(Tensor { dtype, shape, data })
    }

    fn read_strings(&self, value: &Object, count: usize) -> Result<Vec<u8>> {
        let (api, value) = (self.runtime.api, value.pointer);
        // SAFETY: the value is a tensor of strings.
        let len = api.value(|out| unsafe { api.get_string_tensor_data_length(value, out) })?;
        let (mut bytes, mut starts) = (vec![0_u8; len], vec![0_usize; count]);
        let (to, offsets) = (bytes.as_mut_ptr(), starts.as_mut_ptr());
        // SAFETY: the buffers have the lengths that are passed.
        api.check(unsafe { api.get_string_tensor_content(value, to, len, offsets, count) })?;
        let ends = starts.iter().skip(1).copied().chain([len]);
        let texts: Option<Vec<&[u8]>> = starts
            .iter()
            .zip(ends)
            .map(|(&start, end)| bytes.get(start..end))
            .collect();
        Ok(string_data(
            &texts.ok_or("string offsets are not in order")?,
        ))
    }
}
