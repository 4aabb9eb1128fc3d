//! Functions that read common fields of messages: strings, names, pairs.

use super::error::{OnnxError, Result};
use super::schema::entry;
use super::wire::{Message, Value, fields_of, put_bytes};

/// Returns the messages of one repeated field.
pub(crate) fn bodies<'a>(
    message: impl Into<Option<Message<'a>>>,
    number: u32,
) -> impl Iterator<Item = Result<Message<'a>>> {
    fields_of(message.into()).filter_map(move |field| match field {
        Ok(field) => match field.value {
            Value::Bytes(body) if field.number == number => Some(Ok(body)),
            _ => None,
        },
        Err(error) => Some(Err(error.into())),
    })
}

/// Decodes a string of the file, which has to be UTF-8.
pub(crate) fn text(message: Message<'_>) -> Result<&str> {
    std::str::from_utf8(message.bytes).map_err(|_| OnnxError::at(message.at, "a name is not UTF-8"))
}

/// Returns the name of a message, which may be malformed.
pub(crate) fn name_of(message: Message<'_>, number: u32) -> Option<&[u8]> {
    let names = bodies(message, number).map_while(Result::ok);
    let name = names.last().map(|name| name.bytes);
    name.filter(|name| !name.is_empty())
}

/// Returns a name of the file in quotes. Invalid UTF-8 is replaced, and a long name is shortened.
pub(crate) fn quoted(name: &[u8]) -> String {
    const MAX_LEN: usize = 200;
    let dots = if name.len() > MAX_LEN { "…" } else { "" };
    let name = String::from_utf8_lossy(&name[..name.len().min(MAX_LEN)]);
    format!("'{}{dots}'", name.escape_debug())
}

/// Returns the key and value of a `StringStringEntryProto`; absent ones are empty.
pub(crate) fn read_pair(message: Message<'_>) -> Result<(&str, &str)> {
    let [key, value] = message.lasts([entry::KEY, entry::VALUE])?;
    Ok((key.map_or(Ok(""), text)?, value.map_or(Ok(""), text)?))
}

/// Appends the fields of a `StringStringEntryProto`.
pub(crate) fn put_pair(to: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    put_bytes(to, entry::KEY, key);
    put_bytes(to, entry::VALUE, value);
}
