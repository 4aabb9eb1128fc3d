//! `TensorProto`: the forms that its data has, and constants as `Constant` nodes.

use super::error::Result;
use super::schema::{attr, attr_type, tensor};
use super::typed::is_data;
use super::wire::{Message, Value};

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

impl DataForm {
    /// The form of a tensor of the file, or of what is left of one: that has marks of typed data.
    pub(crate) fn from_tensor(original: Message<'_>) -> Result<DataForm> {
        let left = original.is_detached();
        let (mut raw, mut external) = (left, false);
        for field in original.fields() {
            let field = field?;
            match (field.number, field.value) {
                // Said twice, the last counts.
                (tensor::DATA_LOCATION, Value::Varint(code)) => external = code == EXTERNAL,
                (number, Value::Bytes(body)) if left => {
                    raw &= !(is_data(number) && body.bytes.is_empty());
                }
                (tensor::RAW_DATA, _) => raw = true,
                _ => {}
            }
        }
        Ok(match raw {
            _ if external => DataForm::External,
            true => DataForm::Raw,
            false => DataForm::Typed,
        })
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
pub(crate) const EXTERNAL: u64 = 1;
