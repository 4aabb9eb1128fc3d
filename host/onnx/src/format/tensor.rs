//! `TensorProto`: external data, and values of `Constant` nodes.

use super::schema::{attr, attr_type};

/// The attributes of a `Constant` whose values aren't tensors: name, field and `AttributeType`.
pub(crate) const PLAIN_VALUES: [(&str, u32, u32); 6] = [
    ("value_float", attr::F, attr_type::FLOAT),
    ("value_int", attr::I, attr_type::INT),
    ("value_string", attr::S, attr_type::STRING),
    ("value_floats", attr::FLOATS, attr_type::FLOATS),
    ("value_ints", attr::INTS, attr_type::INTS),
    ("value_strings", attr::STRINGS, attr_type::STRINGS),
];

/// Whether a path ends with a location, after a directory.
pub(crate) fn ends_with_location(name: &str, location: &[u8]) -> bool {
    let directory = name.as_bytes().strip_suffix(location);
    !location.is_empty() && directory.is_some_and(|directory| directory.ends_with(b"/"))
}

/// The standard keys of external data.
pub(crate) const EXTERNAL_KEYS: [&[u8]; 3] = [b"location", b"offset", b"length"];

/// The number of `TensorProto.DataLocation.EXTERNAL`.
pub(crate) const EXTERNAL: u64 = 1;
