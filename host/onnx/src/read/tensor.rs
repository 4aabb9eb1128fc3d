//! Reading `TensorProto` as a type and a constant's data, which stays in the file.

use std::sync::Arc;

use passdock_abi::{DType, Dim, TypeId};
use passdock_ir::constant::element_count;
use passdock_ir::{ConstantData, Deferred, FileRange, Function, Payload, SourceSpan, TypeData};

use super::context::Context;
use super::frame::span;
use crate::file::source::Source;
use crate::format::error::{OnnxError, Result};
use crate::format::fields::{name_of, quoted, read_pair};
use crate::format::schema::tensor;
use crate::format::tensor::EXTERNAL;
use crate::format::typed::{decode, records_len, string_len, typed_field};
use crate::format::types::dtype;
use crate::format::wire::{Message, Value, push_varints};

/// The parts of a tensor that the IR models.
pub(crate) struct Tensor<'a> {
    /// The tensor's name, if it has one.
    pub(crate) name: Option<Message<'a>>,
    pub(crate) dtype: DType,
    pub(crate) dims: Vec<Dim>,
    pub(crate) data: Arc<ConstantData>,
}

impl Tensor<'_> {
    /// The tensor's type.
    pub(crate) fn ty(&self, f: &mut Function) -> TypeId {
        f.add_type(TypeData::Tensor(self.dtype, Some(&self.dims)))
    }
}

/// Typed data in the file, which is decoded on demand.
struct Typed {
    source: Arc<Source>,
    /// The `TensorProto`.
    origin: SourceSpan,
    dtype: DType,
    byte_len: u64,
}

impl Deferred for Typed {
    fn load(&self) -> std::result::Result<Vec<u8>, String> {
        let tensor = self.source.message(self.origin);
        let tensor = tensor.ok_or("the tensor is outside of its file")?;
        let decoded = decode(tensor, self.dtype, self.byte_len);
        decoded.map_err(|error| {
            let error = match name_of(tensor, tensor::NAME) {
                Some(name) => error.inside(format!("tensor {}", quoted(name))),
                None => error.inside("tensor"),
            };
            let file = self.source.path().display().to_string();
            error.in_file(&file).to_string()
        })
    }
}

/// The fields of a tensor.
#[derive(Default)]
struct Found<'a> {
    name: Option<Message<'a>>,
    code: u64,
    raw: Option<Message<'a>>,
    external: bool,
    location: Option<&'a str>,
    offset: u64,
    length: Option<u64>,
}

impl<'a> Context<'a> {
    /// Reads a tensor's header and locates its data.
    pub(crate) fn tensor(&mut self, message: Message<'a>) -> Result<Tensor<'a>> {
        let mut found = Found::default();
        self.ints.clear();
        for field in message.fields() {
            let field = field?;
            match (field.number, field.value) {
                (tensor::DIMS, value) => _ = push_varints(value, &mut self.ints)?,
                (tensor::DATA_TYPE, Value::Varint(code)) => found.code = code,
                (tensor::NAME, Value::Bytes(body)) => found.name = Some(body),
                (tensor::RAW_DATA, Value::Bytes(body)) => found.raw = Some(body),
                (tensor::EXTERNAL_DATA, Value::Bytes(body)) => read_entry(body, &mut found)?,
                (tensor::DATA_LOCATION, Value::Varint(code)) => found.external = code == EXTERNAL,
                _ => {}
            }
        }
        let dtype = dtype(found.code);
        let count = element_count(&self.ints);
        // If the size of an element is known, the total size has to be representable.
        let sized = dtype.bits() > 0;
        let count = count.filter(|&count| !sized || dtype.byte_len(count).is_some());
        let Some(count) = count else {
            let some = &self.ints[..self.ints.len().min(16)];
            let dots = if self.ints.len() > 16 { "…" } else { "" };
            let what = format!("invalid tensor shape {some:?}{dots}: negative or too large");
            return Err(OnnxError::at(message.at, what));
        };
        let dims = self.ints.iter().map(|&dim| Dim::constant(dim)).collect();
        let payload = match found.raw {
            _ if found.external => self.external(message, &found, dtype, count)?,
            Some(_) if dtype == DType::STRING => {
                return Err(OnnxError::at(message.at, "strings cannot be raw data"));
            }
            Some(raw) => self.raw(raw, dtype, count)?,
            None => self.typed(message, dtype, count)?,
        };
        Ok(Tensor {
            name: found.name,
            dtype,
            dims,
            data: ConstantData::new(payload),
        })
    }

    fn raw(&self, raw: Message<'a>, dtype: DType, count: u64) -> Result<Payload> {
        let expected = dtype
            .byte_len(count)
            .filter(|&expected| expected != raw.len());
        if let Some(expected) = expected {
            let what = format!(
                "expected {expected} bytes of data for the tensor's shape, found {}",
                raw.len()
            );
            return Err(OnnxError::at(raw.at, what));
        }
        Ok(Payload::Mapped(FileRange {
            source: self.source.clone(),
            offset: raw.at,
            len: raw.len(),
        }))
    }

    fn typed(&self, message: Message<'a>, dtype: DType, count: u64) -> Result<Payload> {
        let len = if dtype == DType::STRING {
            let (strings, len) = string_len(message)?;
            if strings != count {
                let what =
                    format!("expected {count} strings for the tensor's shape, found {strings}");
                return Err(OnnxError::at(message.at, what));
            }
            len
        } else {
            match typed_field(dtype).and_then(|_| dtype.byte_len(count)) {
                Some(len) => len,
                None => records_len(message)?,
            }
        };
        let load = Typed {
            source: self.source.clone(),
            origin: span(message),
            dtype,
            byte_len: len,
        };
        Ok(Payload::Deferred {
            load: Box::new(load),
            len,
        })
    }

    fn external(
        &mut self,
        message: Message<'a>,
        found: &Found<'a>,
        dtype: DType,
        count: u64,
    ) -> Result<Payload> {
        let Some(location) = found.location else {
            return Err(OnnxError::at(message.at, "external data has no location"));
        };
        let Some(len) = dtype.byte_len(count).or(found.length) else {
            return Err(OnnxError::at(message.at, "external data has no length"));
        };
        if let Some(length) = found.length.filter(|&length| length != len) {
            let what = format!(
                "expected {len} bytes of external data for the tensor's shape, found {length}"
            );
            return Err(OnnxError::at(message.at, what));
        }
        Ok(Payload::External(FileRange {
            source: self.external_file(location),
            offset: found.offset,
            len,
        }))
    }
}

/// Reads a key-value entry of external data.
fn read_entry<'a>(message: Message<'a>, found: &mut Found<'a>) -> Result {
    let (key, value) = read_pair(message)?;
    let number = || {
        value.parse().map_err(|_| {
            OnnxError::at(
                message.at,
                format!("the {key} {value:?} of external data is not a number"),
            )
        })
    };
    match key {
        "location" => found.location = Some(value),
        "offset" => found.offset = number()?,
        "length" => found.length = Some(number()?),
        _ => {}
    }
    Ok(())
}
