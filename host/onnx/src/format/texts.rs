//! The documentation and metadata fields, which many messages have.

use super::error::Result;
use super::schema::entry;
use super::wire::{Message, Value};

/// Returns the documentation of a message, if it has exactly one and that is UTF-8.
pub(crate) fn plain_doc(message: Message<'_>, number: u32) -> Result<Option<&str>> {
    let (mut found, mut times) = (None, 0);
    for field in message.fields() {
        let field = field?;
        if field.number == number {
            times += 1;
            found = match field.value {
                Value::Bytes(body) => std::str::from_utf8(body.bytes).ok(),
                _ => None,
            };
        }
    }
    Ok(found.filter(|_| times == 1))
}

/// Metadata: keys and values.
pub(crate) type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// Returns the metadata of a message; `None` if an entry isn't exactly one key and one value in UTF-8.
pub(crate) fn plain_metadata(message: Message<'_>, number: u32) -> Result<Option<Pairs<'_>>> {
    let mut pairs = Pairs::new();
    for field in message.fields() {
        let field = field?;
        if field.number != number {
            continue;
        }
        let Value::Bytes(body) = field.value else {
            return Ok(None);
        };
        let pair = body.lasts([entry::KEY, entry::VALUE])?;
        match pair.map(|text| std::str::from_utf8(text?.bytes).ok()) {
            [Some(key), Some(value)] if body.fields().count() == 2 => pairs.push((key, value)),
            _ => return Ok(None),
        }
    }
    Ok(Some(pairs))
}
