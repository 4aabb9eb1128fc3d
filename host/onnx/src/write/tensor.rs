//! `TensorProto`, and constants as `Constant` nodes.

use passdock_abi::{ConstId, DType, LocId, LocKind};
use passdock_ir::Payload;

use super::FunctionWriter;
use super::placement::Home;
use super::rope::Chain;
use crate::data::{put_typed, split_strings, typed_field};
use crate::error::{OnnxError, Result};
use crate::read::attr::{Attribute, is_value};
use crate::schema::{attr, attr_type, entry, node, tensor};
use crate::wire::{Message, Value, put_bytes, put_float, put_head, put_int, put_varint};

/// `TensorProto.DataLocation.EXTERNAL`.
const EXTERNAL: i64 = 1;

/// Whether a field holds a tensor's shape, type or data.
fn is_content(number: u32) -> bool {
    matches!(number, tensor::DIMS | tensor::DATA_TYPE) || is_data(number)
}

fn is_data(number: u32) -> bool {
    matches!(
        number,
        tensor::RAW_DATA
            | tensor::FLOAT_DATA
            | tensor::INT32_DATA
            | tensor::STRING_DATA
            | tensor::INT64_DATA
            | tensor::DOUBLE_DATA
            | tensor::UINT64_DATA
    )
}

/// Whether a field says where data is that goes elsewhere. What else external data has, a checksum
/// perhaps, stays true of the same bytes, as long as they are external.
fn is_replaced(number: u32, value: Value<'_>, home: &Home) -> bool {
    match (number, value) {
        (tensor::DATA_LOCATION, _) => true,
        (tensor::EXTERNAL_DATA, _) if matches!(home, Home::Inline) => true,
        (tensor::EXTERNAL_DATA, Value::Bytes(body)) => {
            let mut fields = body.fields().map_while(std::result::Result::ok);
            fields.any(|field| match (field.number, field.value) {
                (entry::KEY, Value::Bytes(key)) => {
                    matches!(key.bytes, b"location" | b"offset" | b"length")
                }
                _ => false,
            })
        }
        _ => false,
    }
}

/// The fields that say where external data is.
fn put_external(location: &str, offset: u64, len: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in [
        ("location", location.to_owned()),
        ("offset", offset.to_string()),
        ("length", len.to_string()),
    ] {
        let mut body = Vec::new();
        put_bytes(&mut body, entry::KEY, key.as_bytes());
        put_bytes(&mut body, entry::VALUE, value.as_bytes());
        put_bytes(&mut bytes, tensor::EXTERNAL_DATA, &body);
    }
    put_int(&mut bytes, tensor::DATA_LOCATION, EXTERNAL);
    bytes
}

impl<'w> FunctionWriter<'w> {
    /// Writes a tensor as field `number`, over the original if there is one. `name`: the name of
    /// the value it is; `None`: whatever name the original has.
    pub(super) fn tensor(
        &mut self,
        chain: &mut Chain,
        number: u32,
        id: ConstId,
        name: Option<&str>,
        original: Option<Message<'_>>,
    ) -> Result {
        let mark = self.store.begin(chain);
        let mut named = name.is_none_or(str::is_empty);
        let home = self.homes.and_then(|homes| homes.get(&id));
        let encode = match original {
            _ if home.is_some() => true,
            Some(original) => self.fresh && self.is_encodable(id, original)?,
            None => true,
        };
        if encode {
            self.content(chain, id, original, home)?;
        }
        for field in original.iter().flat_map(|original| original.fields()) {
            let field = field?;
            match (field.number, field.value, name) {
                (tensor::NAME, Value::Bytes(body), Some(name)) => {
                    named = true;
                    if self.fresh || body.bytes != name.as_bytes() {
                        self.store.field(chain, tensor::NAME, name.as_bytes());
                    } else {
                        self.store.copy(chain, field.record);
                    }
                }
                (number, ..) if encode && is_content(number) => {}
                (number, value, _) if home.is_some_and(|home| is_replaced(number, value, home)) => {
                }
                _ => self.store.copy(chain, field.record),
            }
        }
        if let (false, Some(name)) = (named, name) {
            self.store.field(chain, tensor::NAME, name.as_bytes());
        }
        if let Some(Home::At {
            location,
            offset,
            len,
        }) = home
        {
            let bytes = put_external(location, *offset, *len);
            self.store.bytes(chain, &bytes);
        }
        self.store.end(chain, mark, number);
        Ok(())
    }

    /// Whether what the IR knows of a tensor's data is all there is.
    fn is_encodable(&self, id: ConstId, original: Message<'_>) -> Result<bool> {
        let dtype = self.f.ty(self.f.constant(id).ty).dtype;
        let data = self.f.constant_data(id);
        let expected = match data.payload() {
            Payload::Mapped { .. } => Some(tensor::RAW_DATA),
            Payload::Deferred { .. } => typed_field(dtype),
            _ => None,
        };
        for field in original.fields() {
            let number = field?.number;
            if is_data(number) && Some(number) != expected {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Dims, element type and data.
    fn content(
        &mut self,
        chain: &mut Chain,
        id: ConstId,
        original: Option<Message<'_>>,
        home: Option<&Home>,
    ) -> Result {
        let ty = self.f.constant(id).ty;
        let dtype = self.f.ty(ty).dtype;
        let dims = self.f.static_shape(ty).unwrap_or_default();
        let mut head = Vec::new();
        for &dim in &dims {
            put_int(&mut head, tensor::DIMS, dim);
        }
        let mut there = false;
        for field in original.iter().flat_map(|original| original.fields()) {
            there |= field?.number == tensor::DATA_TYPE;
        }
        if dtype != DType::NONE || there {
            put_int(&mut head, tensor::DATA_TYPE, i64::from(dtype.0 as i32));
        }
        let count = self.elements(id);
        let data = self.f.constant_data(id).clone();
        match data.payload() {
            _ if matches!(home, Some(Home::At { .. })) => self.store.bytes(chain, &head),
            Payload::External { .. } if original.is_some() && home.is_none() => {
                self.store.bytes(chain, &head);
            }
            Payload::Deferred { .. } => {
                put_typed(
                    &mut head,
                    dtype,
                    data.bytes().map_err(OnnxError::new)?,
                    count,
                )?;
                self.store.bytes(chain, &head);
            }
            _ if dtype == DType::STRING => {
                put_typed(
                    &mut head,
                    dtype,
                    data.bytes().map_err(OnnxError::new)?,
                    count,
                )?;
                self.store.bytes(chain, &head);
            }
            _ => {
                self.store.bytes(chain, &head);
                self.store.hold(chain, tensor::RAW_DATA, &data);
            }
        }
        Ok(())
    }

    fn elements(&self, id: ConstId) -> u64 {
        let dims = self
            .f
            .static_shape(self.f.constant(id).ty)
            .unwrap_or_default();
        dims.iter()
            .fold(1, |all, &dim| all.saturating_mul(dim as u64))
    }

    /// Writes a constant as a `Constant` node, over the original node if there is one.
    pub(super) fn constant_node(
        &mut self,
        chain: &mut Chain,
        number: u32,
        id: ConstId,
        original: Option<Message<'_>>,
    ) -> Result {
        let record = *self.f.constant(id);
        let name = self.name(record.value);
        let mark = self.store.begin(chain);
        let Some(original) = original else {
            self.added_nodes = true;
            self.store.field(chain, node::OUTPUT, name.as_bytes());
            if let Some(name) = self.loc_name(record.loc) {
                self.store.field(chain, node::NAME, name.as_bytes());
            }
            self.store.field(chain, node::OP_TYPE, b"Constant");
            let inner = self.store.begin(chain);
            self.store.field(chain, attr::NAME, b"value");
            self.tensor(chain, attr::T, id, None, None)?;
            let mut kind = Vec::new();
            put_int(&mut kind, attr::TYPE, attr_type::TENSOR.into());
            self.store.bytes(chain, &kind);
            self.store.end(chain, inner, node::ATTRIBUTE);
            self.store.end(chain, mark, number);
            return Ok(());
        };
        for field in original.fields() {
            let field = field?;
            match (field.number, field.value) {
                (node::OUTPUT, Value::Bytes(body))
                    if self.fresh || body.bytes != name.as_bytes() =>
                {
                    self.store.field(chain, node::OUTPUT, name.as_bytes());
                }
                (node::NAME, Value::Bytes(_)) if self.fresh => {
                    let name = self.loc_name(record.loc).unwrap_or_default();
                    self.store.field(chain, node::NAME, name.as_bytes());
                }
                (node::ATTRIBUTE, Value::Bytes(body)) if self.fresh => {
                    let inner = self.store.begin(chain);
                    self.constant_attr(chain, id, body)?;
                    self.store.end(chain, inner, node::ATTRIBUTE);
                }
                _ => self.store.copy(chain, field.record),
            }
        }
        self.store.end(chain, mark, number);
        Ok(())
    }

    /// The attribute of a `Constant`, encoded again in the form it has.
    fn constant_attr(&mut self, chain: &mut Chain, id: ConstId, original: Message<'_>) -> Result {
        let attribute = Attribute::read(original)?;
        let mut written = false;
        for field in original.fields() {
            let field = field?;
            match (field.number, field.value) {
                (attr::NAME, _) => {
                    self.store
                        .field(chain, attr::NAME, attribute.name.as_bytes());
                }
                (attr::T, Value::Bytes(body)) => {
                    self.tensor(chain, attr::T, id, None, Some(body))?
                }
                (number, value) if is_value(number, value) => {
                    if !std::mem::replace(&mut written, true) {
                        let data = self.f.constant_data(id).clone();
                        let bytes = data.bytes().map_err(OnnxError::new)?;
                        let mut plain = Vec::new();
                        put_plain(&mut plain, number, bytes, self.elements(id));
                        self.store.bytes(chain, &plain);
                    }
                }
                _ => self.store.copy(chain, field.record),
            }
        }
        Ok(())
    }

    /// The node name that a location gives; a fused one gives its first.
    pub(super) fn loc_name(&self, loc: LocId) -> Option<&'w str> {
        let f = self.f;
        let loc = f.loc(loc)?;
        if loc.kind == LocKind::NAME {
            return Some(f.text(loc.name));
        }
        if loc.kind != LocKind::FUSED {
            return None;
        }
        let parts = f.ids_in(passdock_abi::Range {
            start: loc.a,
            len: loc.b,
        });
        let mut parts = parts.iter().filter_map(|&part| f.loc(LocId(part)));
        let named = parts.find(|part| part.kind == LocKind::NAME)?;
        Some(f.text(named.name))
    }
}

/// The value of a `Constant`'s plain attribute, from the constant's bytes.
fn put_plain(to: &mut Vec<u8>, number: u32, bytes: &[u8], count: u64) {
    let ints = bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|&word| i64::from_le_bytes(word));
    match number {
        attr::I => ints.for_each(|int| put_int(to, attr::I, int)),
        attr::F => {
            let words = bytes.as_chunks::<4>().0;
            words
                .iter()
                .for_each(|&word| put_float(to, attr::F, u32::from_le_bytes(word)));
        }
        attr::INTS => {
            let mut packed = Vec::new();
            ints.for_each(|int| put_varint(&mut packed, int as u64));
            put_head(to, attr::INTS, packed.len() as u64);
            to.extend(packed);
        }
        attr::FLOATS => put_bytes(to, attr::FLOATS, bytes),
        _ => split_strings(bytes, count)
            .unwrap_or_default()
            .iter()
            .for_each(|text| put_bytes(to, number, text)),
    }
}
