//! `TensorProto`: the forms that its data has, and constants as `Constant` nodes.

use super::error::Result;
use super::fields::put_pair;
use super::schema::{attr, attr_type, tensor};
use super::typed::is_data;
use super::wire::{Message, Value, put_bytes, put_int};

/// The form of the data of a tensor that isn't copied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataForm {
    /// Bytes in the field for raw data.
    Raw,
    /// Elements in the field for its type.
    Typed,
    /// Bytes in another file, as it was.
    External,
    /// Bytes in another file than it was.
    Moved,
}

/// Whether a data location is another file.
fn is_external(code: u64) -> bool {
    code == EXTERNAL as u64
}

impl DataForm {
    /// The form that a tensor of the file has.
    pub(crate) fn of(original: Message<'_>) -> Result<DataForm> {
        let (mut form, mut external) = (DataForm::Typed, false);
        for field in original.fields() {
            let field = field?;
            match (field.number, field.value) {
                // Said twice, the last counts.
                (tensor::DATA_LOCATION, Value::Varint(code)) => external = is_external(code),
                (tensor::RAW_DATA, _) => form = DataForm::Raw,
                _ => {}
            }
        }
        Ok(if external { DataForm::External } else { form })
    }

    /// The form that is left of a tensor.
    pub(crate) fn left(original: Message<'_>) -> Result<DataForm> {
        let (mut form, mut external) = (DataForm::Raw, false);
        for field in original.fields() {
            let field = field?;
            match (field.number, field.value) {
                (tensor::DATA_LOCATION, Value::Varint(code)) => external = is_external(code),
                (number, Value::Bytes(body)) if is_data(number) && body.bytes.is_empty() => {
                    form = DataForm::Typed;
                }
                _ => {}
            }
        }
        Ok(if external { DataForm::External } else { form })
    }
}

/// The attributes of a `Constant` that aren't tensors: name, field and `AttributeType`.
pub(crate) const PLAIN_VALUES: [(&str, u32, u32); 6] = [
    ("value_float", attr::F, attr_type::FLOAT),
    ("value_int", attr::I, attr_type::INT),
    ("value_string", attr::S, attr_type::STRING),
    ("value_floats", attr::FLOATS, attr_type::FLOATS),
    ("value_ints", attr::INTS, attr_type::INTS),
    ("value_strings", attr::STRINGS, attr_type::STRINGS),
];

/// Whether a file stands at a location of some directory's.
pub(crate) fn stands_at(name: &str, location: &[u8]) -> bool {
    let directory = name.as_bytes().strip_suffix(location);
    !location.is_empty() && directory.is_some_and(|directory| directory.ends_with(b"/"))
}

/// The keys of a tensor's data in another file, as they usually are.
pub(crate) const EXTERNAL_KEYS: [&[u8]; 3] = [b"location", b"offset", b"length"];

/// The number of `TensorProto.DataLocation.EXTERNAL`.
const EXTERNAL: i64 = 1;

/// The fields that say where external data is.
pub(crate) fn put_external(location: &str, offset: u64, len: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in [
        ("location", location.to_owned()),
        ("offset", offset.to_string()),
        ("length", len.to_string()),
    ] {
        let mut body = Vec::new();
        put_pair(&mut body, key.as_bytes(), value.as_bytes());
        put_bytes(&mut bytes, tensor::EXTERNAL_DATA, &body);
    }
    put_int(&mut bytes, tensor::DATA_LOCATION, EXTERNAL);
    bytes
}
