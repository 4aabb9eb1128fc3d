//! `AttributeProto`: determining an attribute's kind before its value is decoded.

use passdock_abi::AttrKind;

use super::error::{OnnxError, Result};
use super::fields::text;
use super::schema::{attr, attr_type};
use super::wire::{Message, Value, WireError, push_fixed, push_varints, put_bytes, put_int};

/// The maximum number of attributes of a node.
pub(crate) const MAX_ATTRS: usize = 4096;

/// An attribute whose value isn't decoded yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute<'a> {
    pub(crate) message: Message<'a>,
    pub(crate) name: &'a str,
    /// The kind. `OPAQUE` if the IR has no such kind; the value is then the whole message.
    pub(crate) kind: AttrKind,
    /// The kind of the attribute that a reference refers to.
    pub(crate) referred: AttrKind,
    /// The value of a kind with a single one, or the parameter's name of a reference. If absent, the value is ONNX's
    /// default.
    pub(crate) single: Option<Value<'a>>,
}

/// Each kind of value with its `AttributeType` and field.
const KINDS: [(AttrKind, u32, u32); 12] = [
    (AttrKind::FLOAT, attr_type::FLOAT, attr::F),
    (AttrKind::INT, attr_type::INT, attr::I),
    (AttrKind::STRING, attr_type::STRING, attr::S),
    (AttrKind::TENSOR, attr_type::TENSOR, attr::T),
    (AttrKind::REGION, attr_type::GRAPH, attr::G),
    (AttrKind::FLOATS, attr_type::FLOATS, attr::FLOATS),
    (AttrKind::INTS, attr_type::INTS, attr::INTS),
    (AttrKind::STRINGS, attr_type::STRINGS, attr::STRINGS),
    (AttrKind::TENSORS, attr_type::TENSORS, attr::TENSORS),
    (AttrKind::REGIONS, attr_type::GRAPHS, attr::GRAPHS),
    (AttrKind::TYPE, attr_type::TYPE_PROTO, attr::TP),
    (AttrKind::TYPES, attr_type::TYPE_PROTOS, attr::TYPE_PROTOS),
];

/// Returns the `AttributeType` and field of a kind.
pub(crate) fn type_and_field(kind: AttrKind) -> Option<(u32, u32)> {
    KINDS
        .iter()
        .find(|row| row.0 == kind)
        .map(|row| (row.1, row.2))
}

/// Whether values of a kind are lists.
pub(crate) fn is_list(kind: AttrKind) -> bool {
    matches!(
        kind,
        AttrKind::INTS
            | AttrKind::FLOATS
            | AttrKind::STRINGS
            | AttrKind::TENSORS
            | AttrKind::TYPES
            | AttrKind::REGIONS
    )
}

fn kind_of_type(code: u64) -> Option<AttrKind> {
    KINDS
        .iter()
        .find(|row| u64::from(row.1) == code)
        .map(|row| row.0)
}

fn kind_of_field(number: u32) -> Option<AttrKind> {
    KINDS.iter().find(|row| row.2 == number).map(|row| row.0)
}

/// Whether a field holds an attribute's value, with the right wire type.
pub(crate) fn is_value(number: u32, value: Value<'_>) -> bool {
    match number {
        attr::I => matches!(value, Value::Varint(_)),
        attr::F => matches!(value, Value::Fixed32(_)),
        attr::INTS => matches!(value, Value::Varint(_) | Value::Bytes(_)),
        attr::FLOATS => matches!(value, Value::Fixed32(_) | Value::Bytes(_)),
        attr::SPARSE_TENSOR | attr::SPARSE_TENSORS => matches!(value, Value::Bytes(_)),
        _ => kind_of_field(number).is_some() && matches!(value, Value::Bytes(_)),
    }
}

impl<'a> Attribute<'a> {
    /// Determines the name and kind of a message.
    pub(crate) fn read(message: Message<'a>) -> Result<Attribute<'a>> {
        let mut name = None;
        let mut reference = None;
        let mut code = 0;
        let (mut seen, mut times) = (0_u32, 0);
        let mut single = None;
        for field in message.fields() {
            let field = field?;
            match (field.number, field.value) {
                (attr::NAME, Value::Bytes(body)) => name = Some(body),
                (attr::REF_ATTR_NAME, Value::Bytes(body)) => reference = Some(body),
                (attr::TYPE, Value::Varint(value)) => code = value,
                (number, value) if is_value(number, value) => {
                    seen |= 1 << number;
                    times += 1;
                    single = Some(value);
                }
                _ => {}
            }
        }
        let name = match name {
            Some(name) => text(name)?,
            None => return Err(OnnxError::at(message.at, "an attribute has no name")),
        };
        let read = |kind, single| Attribute {
            message,
            name,
            kind,
            referred: AttrKind::NONE,
            single,
        };
        let opaque = read(AttrKind::OPAQUE, None);
        if let Some(reference) = reference.filter(|reference| !reference.bytes.is_empty()) {
            text(reference)?;
            let referred = kind_of_type(code).unwrap_or(AttrKind::NONE);
            let plain = seen == 0 && (code == 0 || referred != AttrKind::NONE);
            let reference = read(AttrKind::REFERENCE, Some(Value::Bytes(reference)));
            return Ok(if plain {
                Attribute {
                    referred,
                    ..reference
                }
            } else {
                opaque
            });
        }
        let kind = match code {
            0 if seen.count_ones() == 1 => kind_of_field(seen.trailing_zeros()),
            code => kind_of_type(code),
        };
        let graphs = 1 << attr::G | 1 << attr::GRAPHS;
        let fits = kind.filter(|&kind| {
            let Some((_, number)) = type_and_field(kind) else {
                return false;
            };
            let is_message = matches!(kind, AttrKind::TENSOR | AttrKind::REGION | AttrKind::TYPE);
            seen & !(1 << number) == 0 && (times == 1 || !is_message)
        });
        match fits {
            Some(kind) => Ok(read(kind, single)),
            // If the attribute were opaque, the values that the graph uses would be hidden.
            None if seen & graphs != 0 => Err(OnnxError::at(
                message.at,
                "the attribute has a graph and another value",
            )),
            None => Ok(opaque),
        }
    }

    /// Whether the value consists of graphs.
    pub(crate) fn is_graphs(self) -> bool {
        matches!(self.kind, AttrKind::REGION | AttrKind::REGIONS)
    }

    /// Returns the records of the value, in order.
    pub(crate) fn items(self) -> impl Iterator<Item = std::result::Result<Value<'a>, WireError>> {
        let number = type_and_field(self.kind).map_or(0, |(_, number)| number);
        self.message.fields().filter_map(move |field| match field {
            Ok(field) if field.number == number && is_value(number, field.value) => {
                Some(Ok(field.value))
            }
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })
    }

    /// Returns the messages or strings of the value, in order.
    pub(crate) fn bodies(
        self,
    ) -> impl Iterator<Item = std::result::Result<Message<'a>, WireError>> {
        self.items().filter_map(|item| match item {
            Ok(Value::Bytes(body)) => Some(Ok(body)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })
    }

    /// Returns the strings of the value, in order.
    pub(crate) fn texts(self) -> Result<Vec<&'a [u8]>> {
        self.bodies().map(|body| Ok(body?.bytes)).collect()
    }

    /// Returns the message or string of a kind with a single one.
    pub(crate) fn body(self) -> Message<'a> {
        match self.single {
            Some(Value::Bytes(body)) => body,
            _ => Message::empty(self.message.at),
        }
    }

    /// Returns the bits of an `INT` or `FLOAT`.
    pub(crate) fn bits(self) -> u64 {
        match self.single {
            Some(Value::Varint(value)) => value,
            Some(Value::Fixed32(bits)) => u64::from(bits),
            _ => 0,
        }
    }
}

/// Decodes an `INTS` attribute.
pub(crate) fn read_ints(attribute: Attribute<'_>) -> Result<Vec<i64>> {
    let mut ints = Vec::new();
    for item in attribute.items() {
        push_varints(item?, &mut ints)?;
    }
    Ok(ints)
}

/// Decodes a `FLOATS` attribute.
pub(crate) fn read_floats(attribute: Attribute<'_>) -> Result<Vec<f32>> {
    let mut bytes = Vec::new();
    for item in attribute.items() {
        push_fixed(item?, 4, &mut bytes)?;
    }
    let chunks = bytes.as_chunks::<4>().0;
    Ok(chunks
        .iter()
        .map(|&four| f32::from_le_bytes(four))
        .collect())
}

/// Appends the `sparse_value` attribute of a `Constant` with a sparse initializer.
pub(crate) fn put_sparse_value(to: &mut Vec<u8>, sparse: &[u8]) {
    put_bytes(to, attr::NAME, b"sparse_value");
    put_int(to, attr::TYPE, attr_type::SPARSE_TENSOR.into());
    put_bytes(to, attr::SPARSE_TENSOR, sparse);
}
