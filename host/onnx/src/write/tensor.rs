//! Encoding `TensorProto`, and constants as `Constant` nodes.

use passdock_abi::{ConstId, Constant, DType};
use passdock_ir::FileRange;
use passdock_ir::constant::{element_count, string_elements};

use super::message::RestFields;
use super::placement::DataPlacement;
use super::writer::FunctionWriter;
use crate::detach::stripped::StrippedMessage;
use crate::format::attribute::{Attribute, is_value};
use crate::format::error::{OnnxError, Result, Within};
use crate::format::schema::{attr, attr_type, doc, entry, node, tensor};
use crate::format::tensor::{EXTERNAL_KEYS, PLAIN_VALUES, ends_with_location};
use crate::format::typed::{is_data, put_typed, typed_field};
use crate::format::types::check_dtype;
use crate::format::wire::{Message, Value, WireField, put_bytes, put_float, put_int, string_of};
use crate::layout::constants::is_imported;

/// The form in which a tensor's data is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DataForm {
    /// In the field for raw data.
    Raw,
    /// In the field for its element type.
    Typed,
    /// In the same external file as before.
    External,
    /// In a new external file.
    Moved,
}

/// Whether an entry of external data is a part of its location. Other entries, such as a checksum, remain valid if the
/// same bytes move to another file.
fn is_location(entry: &WireField<'_>) -> bool {
    let key = string_of(entry.body(), entry::KEY);
    key.is_ok_and(|key| EXTERNAL_KEYS.contains(&key))
}

impl<'w> FunctionWriter<'w> {
    /// Writes a tensor as field `number`. With `name`, it gets a value's name; otherwise it keeps its own.
    pub(super) fn tensor(
        &mut self,
        number: u32,
        id: ConstId,
        name: Option<&str>,
        stripped: &StrippedMessage<'_>,
    ) -> Result {
        let mark = self.store.begin();
        let mut rest = RestFields::new(stripped, self.store)?;
        let data_placement = self.placements.and_then(|placements| placements.get(&id));
        let is_mark = |field: &WireField<'_>| {
            let is_empty = matches!(field.value, Value::Bytes(body) if body.bytes.is_empty());
            is_empty && is_data(field.number)
        };
        let is_typed = !rest.take_if(is_mark).is_empty();
        let form = match data_placement {
            Some(DataPlacement::At(_)) => DataForm::Moved,
            None if rest.has_external_data() => DataForm::External,
            _ if is_typed => DataForm::Typed,
            _ => DataForm::Raw,
        };
        let ty = self.f.constant(id).ty;
        let dtype = self.f.ty(ty).dtype;
        self.check_constant(id)?;
        let dims = self.f.static_shape(ty).unwrap_or_default();
        self.store
            .put(|to| dims.iter().for_each(|&dim| put_int(to, tensor::DIMS, dim)));
        if dtype != DType::NONE {
            let code = i64::from(dtype.0 as i32);
            self.store.put(|to| put_int(to, tensor::DATA_TYPE, code));
        }
        let data = match form {
            DataForm::Raw if dtype != DType::STRING => tensor::RAW_DATA,
            _ => typed_field(dtype).unwrap_or(tensor::INT32_DATA),
        };
        if let Some(name) = name {
            self.text(tensor::NAME, name, &mut rest);
        }
        self.data(data, id, dtype, form)?;
        self.external_data(id, form, data_placement, &mut rest)?;
        self.texts(doc::TENSOR, stripped);
        rest.finish(self.store)?;
        self.store.end(mark, number);
        Ok(())
    }

    /// Writes a tensor's elements.
    fn data(&mut self, number: u32, id: ConstId, dtype: DType, form: DataForm) -> Result {
        if matches!(form, DataForm::Moved | DataForm::External) {
            return Ok(());
        }
        if number == tensor::RAW_DATA {
            self.store.hold(number, self.f.constant_data(id));
            return Ok(());
        }
        // The data in the file has this form. For an unknown type, all fields are data.
        if let Some(message) = self.stripper.tensor(id)? {
            let is_known = typed_field(dtype).is_some();
            for field in message.fields() {
                let field = field?;
                if field.number == number || (!is_known && is_data(field.number)) {
                    self.store.copy(field.record);
                }
            }
            return Ok(());
        }
        let (bytes, count) = self.elements(id)?;
        self.store.put(|to| put_typed(to, dtype, bytes, count))
    }

    /// Writes the location of a tensor's external data, if it has some.
    fn external_data(
        &mut self,
        id: ConstId,
        form: DataForm,
        data_placement: Option<&DataPlacement>,
        rest: &mut RestFields<'_>,
    ) -> Result {
        let entries = rest.take(tensor::EXTERNAL_DATA);
        if data_placement.is_some() {
            rest.take_if(|field| field.number == tensor::DATA_LOCATION);
        }
        match (form, data_placement) {
            (DataForm::External, _) if entries.is_empty() => {
                for key in EXTERNAL_KEYS {
                    let mut entry = Vec::new();
                    put_bytes(&mut entry, entry::KEY, key);
                    self.external_entry(id, Message::detached(&entry))?;
                }
            }
            (DataForm::External, _) => {
                for entry in entries {
                    self.external_entry(id, entry.body())?;
                }
            }
            (_, Some(DataPlacement::Inline)) => {}
            (_, Some(DataPlacement::At(range))) => {
                let others = entries.iter().filter(|entry| !is_location(entry));
                others.for_each(|entry| self.store.copy(entry.record));
                self.store.put(|to| range.put(to));
            }
            (_, None) => entries
                .iter()
                .for_each(|entry| self.store.copy(entry.record)),
        }
        Ok(())
    }

    /// Writes an entry of external data. An existing value is kept, except for the location.
    fn external_entry(&mut self, id: ConstId, body: Message<'_>) -> Result {
        let (key, value) = (string_of(body, entry::KEY)?, string_of(body, entry::VALUE)?);
        let Some(FileRange {
            source,
            offset,
            len,
        }) = self.f.constant_data(id).external()
        else {
            let what = "a constant has `extra` for external data, but is not `external`; remove the `extra`";
            return Err(OnnxError::new(what));
        };
        let known = match key {
            // The location is relative to the model's directory, which may differ from the text's.
            b"location" if ends_with_location(source.name(), value) => String::new(),
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

    /// Returns the bytes of a constant, and the number of its elements.
    fn elements(&self, id: ConstId) -> Result<(&'w [u8], u64)> {
        let f = self.f;
        self.check_constant(id)?;
        let dims = f.static_shape(f.constant(id).ty).unwrap_or_default();
        let count = element_count(&dims).unwrap_or(u64::MAX);
        Ok((f.constant_data(id).bytes().map_err(OnnxError::new)?, count))
    }

    /// Rejects a constant whose element type ONNX doesn't have.
    fn check_constant(&self, id: ConstId) -> Result {
        let constant = self.f.constant(id);
        let checked = check_dtype(self.f.ty(constant.ty).dtype);
        match constant.value.option() {
            Some(value) => checked.within(|| self.f.describe(value)),
            // A constant in an attribute is described with its op.
            None => checked,
        }
    }

    /// Writes a constant as a `Constant` node.
    pub(super) fn constant_node(&mut self, number: u32, id: ConstId) -> Result {
        let record = *self.f.constant(id);
        let mut stripped = self.stripper.constant(id)?;
        if record.flags & Constant::NODE == 0 {
            // The records are those of a tensor and not of a node.
            stripped.records.clear();
        }
        // A new node, unless it was read from a file or from text.
        self.added_nodes |= !is_imported(self.f, id);
        let name = self.name(record.value);
        let mark = self.store.begin();
        let mut rest = RestFields::new(&stripped, self.store)?;
        self.store.field(node::OUTPUT, name.as_bytes());
        if let Some(name) = self.loc_name(record.loc) {
            self.store.field(node::NAME, name.as_bytes());
        }
        self.store.field(node::OP_TYPE, b"Constant");
        let attributes = rest.take(node::ATTRIBUTE);
        let inner = self.store.begin();
        match attributes.first() {
            Some(attribute) => self.constant_attr(id, attribute.body())?,
            None => self.constant_value(id, stripped.form)?,
        }
        self.store.end(inner, node::ATTRIBUTE);
        self.texts(doc::NODE, &stripped);
        rest.finish(self.store)?;
        self.store.end(mark, number);
        Ok(())
    }

    /// Writes the standard fields of a `Constant`'s attribute. `form` is the field of its value, if that isn't a
    /// tensor.
    fn constant_value(&mut self, id: ConstId, form: Option<u32>) -> Result {
        let form = PLAIN_VALUES.iter().find(|plain| Some(plain.1) == form);
        let &(name, field, kind) = form.unwrap_or(&("value", attr::T, attr_type::TENSOR));
        self.store.field(attr::NAME, name.as_bytes());
        if field == attr::T {
            self.tensor(attr::T, id, None, &StrippedMessage::default())?;
        } else {
            let (bytes, count) = self.elements(id)?;
            self.store.put(|to| put_plain(to, field, bytes, count));
        }
        self.store.put(|to| put_int(to, attr::TYPE, kind.into()));
        Ok(())
    }

    /// Writes the attribute of a `Constant` in the form of the original.
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
                    let tensor = StrippedMessage::from_records(Some(body))?;
                    self.tensor(attr::T, id, None, &tensor)?;
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

/// Appends the value of a `Constant`'s plain attribute from the constant's bytes.
fn put_plain(to: &mut Vec<u8>, number: u32, bytes: &[u8], count: u64) {
    match number {
        attr::I | attr::INTS => {
            let chunks = bytes.as_chunks::<8>().0.iter();
            chunks.for_each(|&chunk| put_int(to, number, i64::from_le_bytes(chunk)));
        }
        attr::F | attr::FLOATS => {
            let chunks = bytes.as_chunks::<4>().0.iter();
            chunks.for_each(|&chunk| put_float(to, number, u32::from_le_bytes(chunk)));
        }
        _ => {
            let texts = string_elements(bytes, count).into_iter().flatten();
            texts.for_each(|text| put_bytes(to, number, text));
        }
    }
}
