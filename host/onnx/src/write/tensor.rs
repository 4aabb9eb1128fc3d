//! `TensorProto`, and constants as `Constant` nodes.

use passdock_abi::{ConstId, DType};
use passdock_ir::constant::{element_count, string_elements};
use passdock_ir::{Entity, FileRange};

use super::placement::Home;
use super::writer::FunctionWriter;
use crate::extras::importer_data::ImporterData;
use crate::format::attribute::{Attribute, is_value};
use crate::format::error::{OnnxError, Result, Within};
use crate::format::schema::{attr, attr_type, doc, entry, node, tensor};
use crate::format::tensor::{DataForm, EXTERNAL_KEYS, PLAIN_VALUES, stands_at};
use crate::format::typed::{is_data, put_typed};
use crate::format::types::check_dtype;
use crate::format::wire::{
    Message, Value, fields_of, has_field, put_bytes, put_float, put_head, put_int, put_varint,
    string_of,
};
use crate::layout::constants::is_imported;

/// Whether a field holds a tensor's shape, type or data; what is left of it holds only marks of them.
fn is_content(number: u32, value: Value<'_>, detached: bool) -> bool {
    match value {
        Value::Bytes(body) if detached => is_data(number) && body.bytes.is_empty(),
        _ if detached => false,
        _ => matches!(number, tensor::DIMS | tensor::DATA_TYPE) || is_data(number),
    }
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

impl<'w> FunctionWriter<'w> {
    /// Writes a tensor as field `number`, over the original if there is one. `name`: the name of
    /// the value it is; `None`: whatever name the original has. `entity`: whose documentation and
    /// metadata are its.
    pub(super) fn tensor(
        &mut self,
        number: u32,
        id: ConstId,
        name: Option<&str>,
        original: Option<Message<'_>>,
        entity: Option<Entity>,
    ) -> Result {
        let mark = self.store.begin();
        let mut named = name.is_none_or(str::is_empty);
        let home = self.homes.and_then(|homes| homes.get(&id));
        let detached = original.is_none_or(Message::is_detached);
        let encode = detached || home.is_some();
        let form = match (home, original) {
            (Some(Home::At(_)), _) => DataForm::Moved,
            (_, Some(original)) => DataForm::from_tensor(original)?,
            (_, None) => DataForm::Raw,
        };
        let form = match form {
            DataForm::External if home.is_some() => DataForm::Raw,
            form => form,
        };
        if encode {
            self.content(id, form, original)?;
        }
        for field in fields_of(original) {
            let field = field?;
            match (field.number, field.value, name) {
                (tensor::NAME, Value::Bytes(_), Some(name)) => {
                    named = true;
                    self.store.text(field, name);
                }
                (number, value, _) if encode && is_content(number, value, detached) => {}
                (number, value, _) if home.is_some_and(|home| is_replaced(number, value, home)) => {
                }
                (tensor::EXTERNAL_DATA, Value::Bytes(body), _)
                    if detached && form == DataForm::External =>
                {
                    self.external_entry(id, body)?;
                }
                _ => self.store.copy(field.record),
            }
        }
        if let (false, Some(name)) = (named, name) {
            self.store.field(tensor::NAME, name.as_bytes());
        }
        if let Some(Home::At(place)) = home {
            self.store.put(|to| place.put(to));
        }
        if let Some(entity) = entity {
            self.texts(entity, doc::TENSOR);
        }
        self.store.end(mark, number);
        Ok(())
    }

    /// Dims, element type and data.
    fn content(&mut self, id: ConstId, form: DataForm, original: Option<Message<'_>>) -> Result {
        let ty = self.f.constant(id).ty;
        let dtype = self.f.ty(ty).dtype;
        self.check_constant(id)?;
        let dims = self.f.static_shape(ty).unwrap_or_default();
        let whole = original.filter(|original| !original.is_detached());
        let is_typed = dtype != DType::NONE || has_field(whole, tensor::DATA_TYPE)?;
        self.store.put(|to| {
            dims.iter().for_each(|&dim| put_int(to, tensor::DIMS, dim));
            if is_typed {
                put_int(to, tensor::DATA_TYPE, i64::from(dtype.0 as i32));
            }
        });
        match form {
            DataForm::Moved => {}
            DataForm::External => {
                let external = has_field(original, tensor::EXTERNAL_DATA)?;
                for key in EXTERNAL_KEYS.iter().filter(|_| !external) {
                    let mut entry = Vec::new();
                    put_bytes(&mut entry, entry::KEY, key);
                    self.external_entry(id, Message::detached(&entry))?;
                }
            }
            DataForm::Raw if dtype != DType::STRING => {
                self.store.hold(tensor::RAW_DATA, self.f.constant_data(id));
            }
            _ => {
                let (bytes, count) = self.elements(id)?;
                self.store.put(|to| put_typed(to, dtype, bytes, count))?;
            }
        }
        Ok(())
    }

    /// Writes one key of external data with its value; a value that is there says more than the IR.
    fn external_entry(&mut self, id: ConstId, body: Message<'_>) -> Result {
        let (key, value) = (string_of(body, entry::KEY)?, string_of(body, entry::VALUE)?);
        let Some(FileRange {
            source,
            offset,
            len,
        }) = self.f.constant_data(id).external()
        else {
            let what = "the `extra` of a constant says that its data is in a file of its own, and it \
                        isn't `external`; without the `extra` it goes into the model";
            return Err(OnnxError::new(what));
        };
        let known = match key {
            // A directory of the model's that the text doesn't stand in.
            b"location" if stands_at(source.name(), value) => String::new(),
            b"location" => source.location().to_owned(),
            b"offset" => offset.to_string(),
            b"length" => len.to_string(),
            _ => String::new(),
        };
        let stale = key == b"location" || value.is_empty();
        if stale && !known.is_empty() {
            self.store.pair(tensor::EXTERNAL_DATA, key, known);
        } else {
            self.store.copy_field(tensor::EXTERNAL_DATA, body);
        }
        Ok(())
    }

    /// The bytes of a constant, and the number of its elements.
    fn elements(&self, id: ConstId) -> Result<(&'w [u8], u64)> {
        let f = self.f;
        self.check_constant(id)?;
        let dims = f.static_shape(f.constant(id).ty).unwrap_or_default();
        let count = element_count(&dims).unwrap_or(u64::MAX);
        Ok((f.constant_data(id).bytes().map_err(OnnxError::new)?, count))
    }

    /// Refuses a constant whose element type ONNX doesn't have.
    fn check_constant(&self, id: ConstId) -> Result {
        let constant = self.f.constant(id);
        let checked = check_dtype(self.f.ty(constant.ty).dtype);
        match constant.value.option() {
            Some(value) => checked.within(|| self.f.describe(value)),
            // One of an attribute has its op.
            None => checked,
        }
    }

    /// Writes a constant as a `Constant` node, over the original node if there is one.
    pub(super) fn constant_node(
        &mut self,
        number: u32,
        id: ConstId,
        original: Option<Message<'_>>,
    ) -> Result {
        let name = self.name(self.f.constant(id).value);
        let mark = self.store.begin();
        // Added, if it isn't what a text says of one that was there.
        self.added_nodes |= original.is_none() && !is_imported(self.f, id);
        let detached = original.is_none_or(Message::is_detached);
        let mut valued = false;
        for field in fields_of(original) {
            let field = field?;
            match (field.number, field.value) {
                (node::OUTPUT, Value::Bytes(_)) => self.store.text(field, name),
                (node::ATTRIBUTE, Value::Bytes(body)) if detached => {
                    valued = true;
                    let inner = self.store.begin();
                    self.constant_attr(id, body)?;
                    self.store.end(inner, node::ATTRIBUTE);
                }
                _ => self.store.copy(field.record),
            }
        }
        if detached {
            self.constant_parts(id, !valued)?;
            self.texts(Entity::Constant(id), doc::NODE);
        }
        self.store.end(mark, number);
        Ok(())
    }

    /// The usual fields of a `Constant` node.
    fn constant_parts(&mut self, id: ConstId, valued: bool) -> Result {
        let record = *self.f.constant(id);
        let name = self.name(record.value);
        self.store.field(node::OUTPUT, name.as_bytes());
        if let Some(name) = self.loc_name(record.loc) {
            self.store.field(node::NAME, name.as_bytes());
        }
        self.store.field(node::OP_TYPE, b"Constant");
        if !valued {
            return Ok(());
        }
        let form = ImporterData::from_entity(self.f, Entity::Constant(id)).form;
        let form = PLAIN_VALUES.iter().find(|plain| Some(plain.1) == form);
        let &(name, field, kind) = form.unwrap_or(&("value", attr::T, attr_type::TENSOR));
        let inner = self.store.begin();
        self.store.field(attr::NAME, name.as_bytes());
        if field == attr::T {
            self.tensor(attr::T, id, None, None, None)?;
        } else {
            let (bytes, count) = self.elements(id)?;
            self.store.put(|to| put_plain(to, field, bytes, count));
        }
        self.store.put(|to| put_int(to, attr::TYPE, kind.into()));
        self.store.end(inner, node::ATTRIBUTE);
        Ok(())
    }

    /// The attribute of a `Constant`, encoded again in the form it has.
    fn constant_attr(&mut self, id: ConstId, original: Message<'_>) -> Result {
        let attribute = Attribute::read(original)?;
        let mut written = false;
        for field in original.fields() {
            let field = field?;
            match (field.number, field.value) {
                (attr::NAME, _) => {
                    self.store.field(attr::NAME, attribute.name.as_bytes());
                }
                (attr::T, Value::Bytes(body)) => {
                    self.tensor(attr::T, id, None, Some(body), None)?;
                }
                (number, value) if is_value(number, value) => {
                    if !std::mem::replace(&mut written, true) {
                        let (bytes, count) = self.elements(id)?;
                        self.store.put(|to| put_plain(to, number, bytes, count));
                    }
                }
                _ => self.store.copy(field.record),
            }
        }
        Ok(())
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
        _ => {
            let texts = string_elements(bytes, count).into_iter().flatten();
            texts.for_each(|text| put_bytes(to, number, text));
        }
    }
}
