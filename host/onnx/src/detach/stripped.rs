//! Messages without what the IR says itself.
//!
//! What the writer would encode from the IR in the same way is left out; a value that it would put in
//! another form leaves an empty record of its field, which says where and in what form it stood.
//! Documentation and metadata become the entity's own.

use passdock_abi::{AttrKind, DType};
use passdock_ir::{Extras, Function};

use crate::extras::function_attributes;
use crate::extras::importer_data::ImporterDataBuilder;
use crate::format::attribute::{Attribute, is_list, is_value, of_kind};
use crate::format::error::Result;
use crate::format::header::read_metadata;
use crate::format::opsets::{Opsets, put_import, read_opset};
use crate::format::schema::{attr, doc, entry, function, graph, model, node, tensor, value_info};
use crate::format::tensor::{EXTERNAL_KEYS, PLAIN_VALUES};
use crate::format::texts::{plain_doc, plain_metadata};
use crate::format::typed::{is_data, typed_field};
use crate::format::types::{dtype, encode_type, read_type};
use crate::format::wire::{Message, Value, WireField, put_bytes, put_float, put_int};

/// A message without what the IR says itself.
#[derive(Debug, Default)]
pub(super) struct StrippedMessage {
    /// Its documentation and metadata.
    pub(super) extras: Extras,
    /// The records of its other fields.
    pub(super) rest: Vec<u8>,
    /// Whether it is kept though nothing is left of it: a graph that came without a name isn't given one.
    pub(super) stays: bool,
    /// The other data that its entity's extras keep.
    pub(super) data: ImporterDataBuilder,
}

impl StrippedMessage {
    /// Removes the attributes that a function has from its metadata; all of that stays as it is
    /// where an attribute isn't written as the writer would. The answer is the places of the
    /// entries among those left, then of the attributes.
    pub(super) fn without_attributes(
        &mut self,
        f: &Function,
        message: Message<'_>,
        number: u32,
    ) -> Result<Vec<usize>> {
        let metadata = std::mem::take(&mut self.extras.metadata);
        let pairs = metadata.iter().map(|(key, value)| (&**key, &**value));
        if !function_attributes::is_plain(f, pairs) {
            for field in message.fields() {
                let field = field?;
                if field.number == number {
                    self.rest.extend(field.record.bytes);
                }
            }
            return Ok(Vec::new());
        }
        let (own, left): (Vec<_>, Vec<_>) = metadata
            .into_iter()
            .enumerate()
            .partition(|(_, (key, value))| function_attributes::is_attribute(f, key, value));
        let order = left.iter().map(|(at, _)| *at);
        let order: Vec<usize> = order.chain(own.into_iter().map(|(at, _)| at)).collect();
        self.extras.metadata = left.into_iter().map(|(_, pair)| pair).collect();
        // Which of them stands at each place, the other way around.
        let mut places = vec![0; order.len()];
        for (rank, at) in order.into_iter().enumerate() {
            places[at] = rank;
        }
        Ok(places)
    }

    /// Removes the documentation and metadata from a message; `keep` says whether another field
    /// remains, or writes what does.
    fn from_message<'a>(
        message: Message<'a>,
        [doc, metadata]: [u32; 2],
        mut keep: impl FnMut(WireField<'a>, &mut Vec<u8>) -> Result<bool>,
    ) -> Result<StrippedMessage> {
        let mut stripped = StrippedMessage::default();
        let plain_doc = plain_doc(message, doc)?;
        let plain_metadata = plain_metadata(message, metadata)?;
        for field in message.fields() {
            let field = field?;
            let taken = field.number == doc && plain_doc.is_some()
                || field.number == metadata && plain_metadata.is_some();
            if !taken && keep(field, &mut stripped.rest)? {
                stripped.rest.extend(field.record.bytes);
            }
        }
        stripped.extras.doc = plain_doc.map(Into::into);
        stripped.extras.metadata = plain_metadata.unwrap_or_default();
        Ok(stripped)
    }
}

/// Whether a domain has to be kept: it is there and empty, or ONNX's own by its other name.
fn is_odd_domain(domain: Message<'_>) -> bool {
    matches!(domain.bytes, b"" | b"ai.onnx")
}

/// An empty record of a field: a value stood there.
fn mark(field: WireField<'_>, rest: &mut Vec<u8>) {
    match field.value {
        Value::Varint(_) => put_int(rest, field.number, 0),
        Value::Fixed32(_) => put_float(rest, field.number, 0),
        _ => put_bytes(rest, field.number, &[]),
    }
}

/// Strips a `ModelProto`.
pub(super) fn model(message: Message<'_>) -> Result<StrippedMessage> {
    let plain = is_plain_imports(message, model::OPSET_IMPORT)?;
    StrippedMessage::from_message(message, doc::MODEL, |field, _| {
        Ok(match (field.number, field.value) {
            (model::GRAPH | model::FUNCTIONS, Value::Bytes(_)) => false,
            (model::OPSET_IMPORT, Value::Bytes(_)) => !plain,
            (number, value) => read_metadata(number, value)?.is_none(),
        })
    })
}

/// `GraphProto`, without the value infos.
pub(super) fn graph(message: Message<'_>) -> Result<StrippedMessage> {
    let mut stays = true;
    let stripped = StrippedMessage::from_message(message, doc::GRAPH, |field, _| {
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

/// `FunctionProto`, without the value infos.
pub(super) fn function(f: &mut Function, message: Message<'_>) -> Result<StrippedMessage> {
    let plain = is_plain_imports(message, function::OPSET_IMPORT)?;
    let mut attrs = Attrs::default();
    let mut stripped = StrippedMessage::from_message(message, doc::FUNCTION, |field, _| {
        Ok(match (field.number, field.value) {
            (function::NAME | function::OVERLOAD, Value::Bytes(body)) => body.bytes.is_empty(),
            (function::DOMAIN, Value::Bytes(body)) => is_odd_domain(body),
            (
                function::NODE
                | function::INPUT
                | function::OUTPUT
                | function::ATTRIBUTE
                | function::VALUE_INFO,
                Value::Bytes(_),
            ) => false,
            (function::OPSET_IMPORT, Value::Bytes(_)) => !plain,
            (function::ATTRIBUTE_PROTO, Value::Bytes(body)) => attrs.add(f, body)?,
            _ => true,
        })
    })?;
    attrs.put(&mut stripped.rest, function::ATTRIBUTE_PROTO);
    Ok(stripped)
}

/// Whether a message's opset imports are what the writer makes of the IR's.
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

/// Strips a `NodeProto`.
pub(super) fn node(f: &mut Function, message: Message<'_>) -> Result<StrippedMessage> {
    let mut attrs = Attrs::default();
    let mut stripped = StrippedMessage::from_message(message, doc::NODE, |field, _| {
        Ok(match (field.number, field.value) {
            (node::INPUT | node::OUTPUT | node::NAME, Value::Bytes(_)) => false,
            (node::OP_TYPE | node::OVERLOAD, Value::Bytes(body)) => body.bytes.is_empty(),
            (node::DOMAIN, Value::Bytes(body)) => is_odd_domain(body),
            (node::ATTRIBUTE, Value::Bytes(body)) => attrs.add(f, body)?,
            _ => true,
        })
    })?;
    attrs.put(&mut stripped.rest, node::ATTRIBUTE);
    Ok(stripped)
}

/// `NodeProto` of a `Constant` that is a constant in the IR; its extras keep the field of its value if that isn't a
/// tensor.
pub(super) fn constant_node(message: Message<'_>) -> Result<StrippedMessage> {
    let mut form = None;
    let mut stripped = StrippedMessage::from_message(message, doc::NODE, |field, rest| {
        Ok(match (field.number, field.value) {
            (node::OUTPUT | node::NAME | node::OP_TYPE, Value::Bytes(_)) => false,
            (node::OVERLOAD, Value::Bytes(body)) => body.bytes.is_empty(),
            (node::DOMAIN, Value::Bytes(body)) => is_odd_domain(body),
            (node::ATTRIBUTE, Value::Bytes(body)) => {
                let (stripped, number) = constant_attr(body)?;
                form = number;
                if let Some(stripped) = stripped {
                    put_bytes(rest, node::ATTRIBUTE, &stripped);
                }
                false
            }
            _ => true,
        })
    })?;
    form.into_iter()
        .for_each(|number| stripped.data.form(number));
    Ok(stripped)
}

/// The remains of the attribute of a `Constant`; `None`: it is as the writer would make it, of the
/// field if there is one.
fn constant_attr(message: Message<'_>) -> Result<(Option<Vec<u8>>, Option<u32>)> {
    let attribute = Attribute::read(message)?;
    let number = of_kind(attribute.kind).map_or(0, |(_, number)| number);
    let form = PLAIN_VALUES.iter().find(|form| form.1 == number);
    let mut plain = attribute.name == form.map_or("value", |form| form.0);
    let (mut rest, mut typed, mut marked) = (Vec::new(), false, false);
    for field in message.fields() {
        let field = field?;
        match (field.number, field.value) {
            (attr::T, Value::Bytes(body)) if attribute.kind == AttrKind::TENSOR => {
                // Its documentation isn't the node's.
                let inner = tensor(body, false, NO_TEXTS)?.rest;
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

/// The attributes of a message. They are found again by name, so all up to the last that isn't plain
/// have a record.
#[derive(Default)]
struct Attrs<'a> {
    list: Vec<(&'a str, Option<Vec<u8>>)>,
}

impl<'a> Attrs<'a> {
    /// Adds one; of its record nothing remains in its place.
    fn add(&mut self, f: &mut Function, message: Message<'a>) -> Result<bool> {
        let attribute = Attribute::read(message)?;
        // Only the first of a name is the IR's.
        let rest = if self.list.iter().any(|(name, _)| *name == attribute.name) {
            Some(message.bytes.to_vec())
        } else {
            attr(f, attribute)?
        };
        self.list.push((attribute.name, rest));
        Ok(false)
    }

    fn put(self, to: &mut Vec<u8>, number: u32) {
        let count = self.list.iter().rposition(|(_, rest)| rest.is_some());
        for (name, rest) in self.list.into_iter().take(count.map_or(0, |at| at + 1)) {
            let rest = rest.unwrap_or_else(|| {
                let mut only = Vec::new();
                put_bytes(&mut only, attr::NAME, name.as_bytes());
                only
            });
            put_bytes(to, number, &rest);
        }
    }
}

/// `AttributeProto`; `None`: as the writer would make it.
fn attr(f: &mut Function, attribute: Attribute<'_>) -> Result<Option<Vec<u8>>> {
    let (kind, message) = (attribute.kind, attribute.message);
    if kind == AttrKind::OPAQUE {
        return Ok(None);
    }
    let number = of_kind(kind).map_or(attr::REF_ATTR_NAME, |(_, number)| number);
    let types = matches!(kind, AttrKind::TYPE | AttrKind::TYPES);
    let (mut rest, mut plain) = (Vec::new(), true);
    let (mut names, mut kinds, mut values) = (0, 0, 0);
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
    Ok((!plain).then_some(rest))
}

/// No documentation and metadata: these stay where they are.
pub(super) const NO_TEXTS: [u32; 2] = [0; 2];

/// `ValueInfoProto` whose type the IR has: `encoded`.
pub(super) fn info(
    message: Message<'_>,
    encoded: &[u8],
    texts: [u32; 2],
) -> Result<StrippedMessage> {
    StrippedMessage::from_message(message, texts, |field, _| {
        Ok(match (field.number, field.value) {
            (value_info::NAME, Value::Bytes(body)) => body.bytes.is_empty(),
            (value_info::TYPE, Value::Bytes(body)) => body.bytes != encoded || encoded.is_empty(),
            _ => true,
        })
    })
}

/// `TensorProto`; `named`: its name is a value's.
pub(super) fn tensor(
    message: Message<'_>,
    named: bool,
    texts: [u32; 2],
) -> Result<StrippedMessage> {
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
    let mut stripped = StrippedMessage::from_message(message, texts, |field, _| {
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
            // Left here, it would say that the data is typed.
            (number, Value::Bytes(body)) if is_data(number) => !body.bytes.is_empty(),
            _ => true,
        })
    })?;
    if !(usual && keys == EXTERNAL_KEYS) {
        stripped.rest.extend(entries);
    }
    if let Some(number) = typed.filter(|_| dtype != DType::STRING) {
        put_bytes(&mut stripped.rest, number, &[]);
    }
    Ok(stripped)
}

/// Hollows one key and value of external data, of which the IR says file, offset and length;
/// whether it says this one.
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
    // The text names a file by where it is; only a plain name is the same from everywhere.
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
