//! Functions that strip messages of the fields that the IR models.
//!
//! A field is removed if the writer would encode it from the IR. For a value in another field than the writer would
//! choose, an empty record of its field remains as a mark. Documentation and metadata move to the entity.

use passdock_abi::{AttrKind, DType};
use passdock_ir::{Extras, Function};
use rustc_hash::FxHashSet;

use crate::extras::importer_data::ImporterData;
use crate::format::attribute::{Attribute, is_list, is_value, type_and_field};
use crate::format::error::Result;
use crate::format::fields::bodies;
use crate::format::header::{METADATA, read_metadata};
use crate::format::opsets::{Opsets, put_import, read_opset};
use crate::format::schema::{attr, doc, entry, function, graph, model, node, tensor, value_info};
use crate::format::tensor::{EXTERNAL_KEYS, PLAIN_VALUES};
use crate::format::texts::{Pairs, plain_doc, plain_metadata};
use crate::format::typed::{is_data, typed_field};
use crate::format::types::{dtype, encode_type, read_type};
use crate::format::wire::{
    Message, Value, WireField, fields_of, put_bytes, put_float, put_int, string_of,
};

/// A message without the fields that the IR models.
#[derive(Debug, Default)]
pub(crate) struct StrippedMessage<'a> {
    /// The documentation.
    pub(crate) doc: Option<&'a str>,
    /// The metadata.
    pub(crate) metadata: Pairs<'a>,
    /// The original message in the file.
    pub(crate) original: Option<Message<'a>>,
    /// The other fields, as unchanged records.
    pub(crate) records: Vec<WireField<'a>>,
    /// Records that mark values of the IR with another form in the file.
    pub(crate) marks: Vec<u8>,
    /// Whether the message is stored even if it is empty. It records that a graph has no name and shouldn't get one.
    pub(crate) stays: bool,
    /// The field of a `Constant` node's value, if the value isn't a tensor.
    pub(crate) form: Option<u32>,
}

impl<'a> StrippedMessage<'a> {
    /// Returns the message stored in an entity's extras.
    pub(crate) fn from_extras(extras: Option<&'a Extras>) -> Result<StrippedMessage<'a>> {
        let Some(extras) = extras else {
            return Ok(StrippedMessage::default());
        };
        let data = ImporterData::from_extras(extras);
        let stripped = StrippedMessage {
            stays: data.stripped.is_some(),
            form: data.form,
            ..StrippedMessage::from_records(data.stripped)?
        };
        Ok(stripped.with_extras(Some(extras)))
    }

    /// Reads a stripped message from its records.
    pub(crate) fn from_records(message: Option<Message<'a>>) -> Result<StrippedMessage<'a>> {
        let mut stripped = StrippedMessage {
            original: message.filter(|message| !message.is_detached()),
            ..StrippedMessage::default()
        };
        for field in fields_of(message) {
            stripped.records.push(field?);
        }
        Ok(stripped)
    }

    /// Replaces documentation and metadata with those in the entity's extras, if there are any.
    pub(crate) fn with_extras(mut self, extras: Option<&'a Extras>) -> StrippedMessage<'a> {
        if let Some(extras) = extras {
            self.doc = extras.doc.as_deref().or(self.doc);
            if let Some(metadata) = &extras.metadata {
                let pairs = metadata.iter();
                self.metadata = pairs.map(|(key, value)| (&**key, &**value)).collect();
            }
        }
        self
    }

    /// Returns the starts of a field's records.
    pub(crate) fn starts(&self, number: u32) -> impl Iterator<Item = u64> {
        let records = self.records.iter();
        let records = records.filter(move |field| field.number == number);
        records.map(|field| field.body().at)
    }

    /// Returns the bytes of all records.
    pub(crate) fn rest(&self) -> Vec<u8> {
        let mut rest = self.marks.clone();
        for field in &self.records {
            rest.extend(field.record.bytes);
        }
        rest
    }

    /// Removes the documentation and metadata from a message. For each other field, `keep` returns whether it remains,
    /// and may write a mark for it instead. `singles` are fields that aren't repeated.
    fn from_message(
        message: Message<'a>,
        [doc, metadata]: [u32; 2],
        singles: &[u32],
        mut keep: impl FnMut(WireField<'a>, &mut Vec<u8>) -> Result<bool>,
    ) -> Result<StrippedMessage<'a>> {
        let plain_doc = plain_doc(message, doc)?;
        let plain_metadata = plain_metadata(message, metadata)?;
        let mut stripped = StrippedMessage {
            original: (!message.is_detached()).then_some(message),
            ..StrippedMessage::default()
        };
        let count = |number| {
            message
                .fields()
                .flatten()
                .filter(|field| field.number == number)
                .count()
        };
        let singles = singles.iter().copied();
        // Of several records, the last one counts. All of them remain.
        let repeated: Vec<u32> = singles.filter(|&number| count(number) > 1).collect();
        for field in message.fields() {
            let field = field?;
            let is_plain_doc = field.number == doc && plain_doc.is_some()
                || field.number == metadata && plain_metadata.is_some();
            let is_repeated = repeated.contains(&field.number);
            if !is_plain_doc && (is_repeated || keep(field, &mut stripped.marks)?) {
                stripped.records.push(field);
            }
        }
        stripped.doc = plain_doc;
        stripped.metadata = plain_metadata.unwrap_or_default();
        Ok(stripped)
    }
}

/// Whether a domain has an unusual spelling: an empty string, or the alias `ai.onnx` of ONNX's own.
fn is_unusual_domain(domain: Message<'_>) -> bool {
    matches!(domain.bytes, b"" | b"ai.onnx")
}

/// Appends an empty record that marks a field.
fn mark(field: WireField<'_>, rest: &mut Vec<u8>) {
    match field.value {
        Value::Varint(_) => put_int(rest, field.number, 0),
        Value::Fixed32(_) => put_float(rest, field.number, 0),
        _ => put_bytes(rest, field.number, &[]),
    }
}

/// Strips a `ModelProto`.
pub(crate) fn model(message: Message<'_>) -> Result<StrippedMessage<'_>> {
    let plain = is_plain_imports(message, model::OPSET_IMPORT)?;
    StrippedMessage::from_message(
        message,
        doc::MODEL,
        &METADATA.map(|row| row.0),
        |field, _| {
            Ok(match (field.number, field.value) {
                (model::GRAPH | model::FUNCTIONS, Value::Bytes(_)) => false,
                (model::OPSET_IMPORT, Value::Bytes(_)) => !plain,
                (number, value) => read_metadata(number, value)?.is_none(),
            })
        },
    )
}

/// Strips a `GraphProto`. The caller strips its value infos.
pub(crate) fn graph(message: Message<'_>, texts: [u32; 2]) -> Result<StrippedMessage<'_>> {
    let mut stays = true;
    let stripped = StrippedMessage::from_message(message, texts, &[graph::NAME], |field, _| {
        stays &= field.number != graph::NAME;
        Ok(match (field.number, field.value) {
            (graph::NAME, Value::Bytes(body)) => body.bytes.is_empty(),
            (
                graph::NODE
                | graph::INPUT
                | graph::OUTPUT
                | graph::INITIALIZER
                | graph::SPARSE_INITIALIZER
                | graph::VALUE_INFO,
                Value::Bytes(_),
            ) => false,
            _ => true,
        })
    })?;
    Ok(StrippedMessage { stays, ..stripped })
}

/// Strips a `FunctionProto`. The caller strips its value infos.
pub(crate) fn function<'a>(
    f: &mut Function,
    message: Message<'a>,
    texts: [u32; 2],
) -> Result<StrippedMessage<'a>> {
    let plain = is_plain_imports(message, function::OPSET_IMPORT)?;
    let mut attrs = Attrs::new(message, function::ATTRIBUTE_PROTO)?;
    let singles = [function::NAME, function::DOMAIN, function::OVERLOAD];
    StrippedMessage::from_message(message, texts, &singles, |field, marks| {
        Ok(match (field.number, field.value) {
            (function::NAME | function::OVERLOAD, Value::Bytes(body)) => body.bytes.is_empty(),
            (function::DOMAIN, Value::Bytes(body)) => is_unusual_domain(body),
            (
                function::NODE
                | function::INPUT
                | function::OUTPUT
                | function::ATTRIBUTE
                | function::VALUE_INFO,
                Value::Bytes(_),
            ) => false,
            (function::OPSET_IMPORT, Value::Bytes(_)) => !plain,
            (function::ATTRIBUTE_PROTO, Value::Bytes(body)) => attrs.strip(f, body, marks)?,
            _ => true,
        })
    })
}

/// Whether the writer would encode a message's opset imports in the same way.
fn is_plain_imports(message: Message<'_>, number: u32) -> Result<bool> {
    let (mut opsets, mut encoded) = (Opsets::new(), Vec::new());
    let mut records: Vec<u8> = Vec::new();
    for field in message.fields() {
        let field = field?;
        if let (true, Value::Bytes(body)) = (field.number == number, field.value) {
            read_opset(body, &mut opsets)?;
            records.extend(field.record.bytes);
        }
    }
    for (domain, version) in &opsets {
        put_import(&mut encoded, number, Some(domain), *version);
    }
    Ok(encoded == records)
}

/// Strips a `NodeProto`. With `keeps_attributes`, attributes remain unchanged.
pub(crate) fn node<'a>(
    f: &mut Function,
    message: Message<'a>,
    keeps_attributes: bool,
) -> Result<StrippedMessage<'a>> {
    let mut attrs = Attrs::new(message, node::ATTRIBUTE)?;
    let singles = [node::NAME, node::OP_TYPE, node::DOMAIN, node::OVERLOAD];
    StrippedMessage::from_message(message, doc::NODE, &singles, |field, marks| {
        Ok(match (field.number, field.value) {
            (node::INPUT | node::OUTPUT | node::NAME, Value::Bytes(_)) => false,
            (node::OP_TYPE | node::OVERLOAD, Value::Bytes(body)) => body.bytes.is_empty(),
            (node::DOMAIN, Value::Bytes(body)) => is_unusual_domain(body),
            (node::ATTRIBUTE, Value::Bytes(body)) if !keeps_attributes => {
                attrs.strip(f, body, marks)?
            }
            _ => true,
        })
    })
}

/// Strips the `NodeProto` of a `Constant` that is a constant in the IR. `form` is set to the field of its value, if the
/// value isn't a tensor.
pub(crate) fn constant_node(message: Message<'_>) -> Result<StrippedMessage<'_>> {
    let mut form = None;
    let stripped = StrippedMessage::from_message(message, doc::NODE, &[], |field, marks| {
        Ok(match (field.number, field.value) {
            (node::OUTPUT | node::NAME | node::OP_TYPE, Value::Bytes(_)) => false,
            (node::OVERLOAD, Value::Bytes(body)) => body.bytes.is_empty(),
            (node::DOMAIN, Value::Bytes(body)) => is_unusual_domain(body),
            (node::ATTRIBUTE, Value::Bytes(body)) => {
                let (stripped, number) = constant_attr(body)?;
                form = number;
                if let Some(stripped) = stripped {
                    put_bytes(marks, node::ATTRIBUTE, &stripped);
                }
                false
            }
            _ => true,
        })
    })?;
    Ok(StrippedMessage { form, ..stripped })
}

/// Strips the attribute of a `Constant`. Returns `None` if the writer would encode it in the same way, and the field of
/// its value if that isn't a tensor.
fn constant_attr(message: Message<'_>) -> Result<(Option<Vec<u8>>, Option<u32>)> {
    let attribute = Attribute::read(message)?;
    let number = type_and_field(attribute.kind).map_or(0, |(_, number)| number);
    let form = PLAIN_VALUES.iter().find(|form| form.1 == number);
    let mut plain = attribute.name == form.map_or("value", |form| form.0);
    let (mut rest, mut typed, mut marked) = (Vec::new(), false, false);
    for field in message.fields() {
        let field = field?;
        match (field.number, field.value) {
            (attr::T, Value::Bytes(body)) if attribute.kind == AttrKind::TENSOR => {
                // The tensor's documentation isn't the node's.
                let inner = tensor(body, false, NO_TEXTS)?.rest();
                plain &= inner.is_empty();
                put_bytes(&mut rest, attr::T, &inner);
            }
            (of, value) if of == number && is_value(of, value) => {
                if !std::mem::replace(&mut marked, true) {
                    mark(field, &mut rest);
                }
            }
            (of, _) => {
                typed |= of == attr::TYPE;
                plain &= matches!(of, attr::NAME | attr::TYPE);
                rest.extend(field.record.bytes);
            }
        }
    }
    if plain && typed && (form.is_none() || marked) {
        return Ok((None, form.map(|form| form.1)));
    }
    Ok((Some(rest), None))
}

/// A stripper of a message's attributes. The writer finds what remains of an attribute by name.
struct Attrs<'a> {
    number: u32,
    seen: FxHashSet<&'a [u8]>,
    /// Whether several attributes have the same name. Only the first is in the IR, so all leave a record.
    has_duplicates: bool,
}

impl<'a> Attrs<'a> {
    fn new(message: Message<'a>, number: u32) -> Result<Attrs<'a>> {
        let (mut seen, mut has_duplicates) = (FxHashSet::default(), false);
        for body in bodies(message, number) {
            has_duplicates |= !seen.insert(string_of(body?, attr::NAME)?);
        }
        seen.clear();
        Ok(Attrs {
            number,
            seen,
            has_duplicates,
        })
    }

    /// Strips an attribute. Returns whether it remains unchanged.
    fn strip(
        &mut self,
        f: &mut Function,
        message: Message<'a>,
        marks: &mut Vec<u8>,
    ) -> Result<bool> {
        let attribute = Attribute::read(message)?;
        if !self.seen.insert(attribute.name.as_bytes()) {
            return Ok(true);
        }
        let (rest, plain) = attr(f, attribute)?;
        if !plain || self.has_duplicates {
            put_bytes(marks, self.number, &rest);
        }
        Ok(false)
    }
}

/// Strips an `AttributeProto`. Also returns whether the writer would encode it in the same way.
fn attr(f: &mut Function, attribute: Attribute<'_>) -> Result<(Vec<u8>, bool)> {
    let (kind, message) = (attribute.kind, attribute.message);
    let number = type_and_field(kind).map_or(attr::REF_ATTR_NAME, |(_, number)| number);
    let types = matches!(kind, AttrKind::TYPE | AttrKind::TYPES);
    let (mut rest, mut plain) = (Vec::new(), true);
    let (mut names, mut kinds, mut values) = (0, 0, 0);
    if kind == AttrKind::OPAQUE {
        put_bytes(&mut rest, attr::NAME, attribute.name.as_bytes());
        return Ok((rest, true));
    }
    for field in message.fields() {
        let field = field?;
        match (field.number, field.value) {
            (attr::NAME, Value::Bytes(_)) => {
                names += 1;
                rest.extend(field.record.bytes);
            }
            (attr::TYPE, Value::Varint(_)) => {
                kinds += 1;
                rest.extend(field.record.bytes);
            }
            (of, Value::Bytes(body)) if of == number && types => {
                values += 1;
                let id = read_type(f, body)?;
                plain &= encode_type(f, id)? == body.bytes;
                rest.extend(field.record.bytes);
            }
            (of, value) if of == number && (of == attr::REF_ATTR_NAME || is_value(of, value)) => {
                values += 1;
                if values == 1 {
                    mark(field, &mut rest);
                }
            }
            _ => {
                plain = false;
                rest.extend(field.record.bytes);
            }
        }
    }
    plain &= names == 1 && kinds == 1 && (is_list(kind) || values == 1);
    Ok((rest, plain))
}

/// The field numbers for messages whose documentation and metadata aren't removed.
pub(crate) const NO_TEXTS: [u32; 2] = [0; 2];

/// Strips a `ValueInfoProto`. `encoded` is its type as the writer encodes it.
pub(crate) fn info<'a>(
    message: Message<'a>,
    encoded: &[u8],
    texts: [u32; 2],
) -> Result<StrippedMessage<'a>> {
    StrippedMessage::from_message(message, texts, &[value_info::NAME], |field, _| {
        Ok(match (field.number, field.value) {
            (value_info::NAME, Value::Bytes(body)) => body.bytes.is_empty(),
            (value_info::TYPE, Value::Bytes(body)) => body.bytes != encoded || encoded.is_empty(),
            _ => true,
        })
    })
}

/// Strips a `TensorProto`. `named` is whether its name is a value's.
pub(crate) fn tensor(
    message: Message<'_>,
    named: bool,
    texts: [u32; 2],
) -> Result<StrippedMessage<'_>> {
    let (mut code, mut raw, mut external) = (0, false, false);
    for field in message.fields() {
        let field = field?;
        match (field.number, field.value) {
            (tensor::DATA_TYPE, Value::Varint(value)) => code = value,
            (tensor::RAW_DATA, Value::Bytes(_)) => raw = true,
            (tensor::DATA_LOCATION, Value::Varint(value)) => external = value == 1,
            _ => {}
        }
    }
    let dtype = dtype(code);
    let known = typed_field(dtype);
    let typed = (!raw && !external).then(|| known.unwrap_or(tensor::INT32_DATA));
    let (mut keys, mut entries, mut usual) = (Vec::new(), Vec::new(), true);
    let mut stripped = StrippedMessage::from_message(message, texts, &[], |field, _| {
        Ok(match (field.number, field.value) {
            (tensor::DIMS, Value::Varint(_) | Value::Bytes(_)) => false,
            (tensor::DATA_TYPE, Value::Varint(value)) => value == 0 && code == 0,
            (tensor::NAME, Value::Bytes(body)) if named => body.bytes.is_empty(),
            (tensor::RAW_DATA, Value::Bytes(_)) if !external => false,
            (tensor::EXTERNAL_DATA, Value::Bytes(body)) if external => {
                usual &= external_entry(body, &mut keys, &mut entries)?;
                false
            }
            (number, _) if Some(number) == typed => false,
            (number, _) if typed.is_some() && known.is_none() && is_data(number) => false,
            // If the empty field remained, it would mark the data as typed.
            (number, Value::Bytes(body)) if is_data(number) => !body.bytes.is_empty(),
            _ => true,
        })
    })?;
    if !(usual && keys == EXTERNAL_KEYS) {
        stripped.marks.extend(entries);
    }
    if let Some(number) = typed.filter(|_| dtype != DType::STRING) {
        put_bytes(&mut stripped.marks, number, &[]);
    }
    Ok(stripped)
}

/// Strips a key-value entry of external data. The IR models the file, offset and length. Returns whether the writer
/// would encode the entry in the same way.
fn external_entry<'a>(
    body: Message<'a>,
    keys: &mut Vec<&'a [u8]>,
    to: &mut Vec<u8>,
) -> Result<bool> {
    let (mut key, mut value, mut plain) = (&b""[..], &b""[..], true);
    for field in body.fields() {
        let field = field?;
        match (field.number, field.value) {
            (entry::KEY, Value::Bytes(body)) => key = body.bytes,
            (entry::VALUE, Value::Bytes(body)) => value = body.bytes,
            _ => plain = false,
        }
    }
    // IR text names a file relative to the text, so only a plain file name is the same for every location.
    plain &= match key {
        b"location" => !value.is_empty() && !value.iter().any(|byte| b"/\\".contains(byte)),
        b"offset" | b"length" => value == b"0" || value.first().is_some_and(|&first| first != b'0'),
        _ => false,
    };
    keys.push(key);
    let mut only = Vec::new();
    put_bytes(&mut only, entry::KEY, key);
    let rest = if plain { &only } else { body.bytes };
    put_bytes(to, tensor::EXTERNAL_DATA, rest);
    Ok(plain)
}
