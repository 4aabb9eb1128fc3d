//! Protobuf's wire format, read in place, one message at a time.
//!
//! A [`Message`] is a span of the file. Its fields are found by walking tags; nested messages are skipped by their
//! length until they are read. Nothing is copied and no function is recursive, so messages may nest to any depth. Each
//! length is checked against the containing message.

use std::fmt;

/// The maximum depth of nested groups. ONNX has none, so they only occur in unknown fields.
const MAX_GROUPS: usize = 100;

/// The start of messages that aren't in a file: an offset after the end of any file.
pub(crate) const DETACHED: u64 = 1 << 63;

/// The bytes of a message and their offset in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    pub(crate) bytes: &'a [u8],
    /// The offset of the first byte in the file.
    pub(crate) at: u64,
}

/// A field of a message in its original encoding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireField<'a> {
    pub(crate) number: u32,
    pub(crate) value: Value<'a>,
    /// The bytes of tag, length and value.
    pub(crate) record: Message<'a>,
}

impl<'a> WireField<'a> {
    /// Returns the message or string in the field; empty for numbers.
    pub(crate) fn body(self) -> Message<'a> {
        match self.value {
            Value::Bytes(body) => body,
            _ => Message::empty(self.record.at),
        }
    }
}

/// A field's value, by wire type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(Message<'a>),
    /// A group. Its contents aren't decoded.
    Group,
    Fixed32(u32),
}

/// An error in the wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireError {
    pub(crate) at: u64,
    pub(crate) what: &'static str,
}

/// The error for a length beyond the end of the containing message.
const BEYOND: &str = "a length exceeds the rest of its message";

impl WireError {
    /// Whether the bytes are a valid prefix that was cut off.
    pub(crate) fn is_cut(&self) -> bool {
        self.what == BEYOND
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

impl<'a> Message<'a> {
    /// Creates a message that isn't in a file.
    pub(crate) const fn detached(bytes: &'a [u8]) -> Message<'a> {
        Message {
            bytes,
            at: DETACHED,
        }
    }

    /// Whether the message isn't in a file.
    pub(crate) const fn is_detached(self) -> bool {
        self.at >= DETACHED
    }

    /// Returns the fields, in the order of the file.
    pub(crate) fn fields(self) -> WireFields<'a> {
        WireFields {
            message: self,
            pos: 0,
        }
    }

    /// Returns the last message or string of a field.
    pub(crate) fn last(self, number: u32) -> Result<Option<Message<'a>>, WireError> {
        let [found] = self.lasts([number])?;
        Ok(found)
    }

    /// Returns the last message or string of several fields.
    pub(crate) fn lasts<const N: usize>(
        self,
        numbers: [u32; N],
    ) -> Result<[Option<Message<'a>>; N], WireError> {
        let mut found = [None; N];
        for field in self.fields() {
            let field = field?;
            let position = numbers.iter().position(|&number| number == field.number);
            if let (Some(position), Value::Bytes(body)) = (position, field.value) {
                found[position] = Some(body);
            }
        }
        Ok(found)
    }

    /// Creates a message from the bytes of a whole file.
    pub(crate) const fn whole(bytes: &'a [u8]) -> Message<'a> {
        Message { bytes, at: 0 }
    }

    /// Creates a message without fields.
    pub(crate) const fn empty(at: u64) -> Message<'a> {
        Message { bytes: &[], at }
    }

    pub(crate) fn len(self) -> u64 {
        self.bytes.len() as u64
    }

    fn slice(self, start: usize, end: usize) -> Message<'a> {
        Message {
            bytes: &self.bytes[start..end],
            at: self.at + start as u64,
        }
    }
}

/// Returns the fields of an optional message.
pub(crate) fn fields_of<'a>(
    message: Option<Message<'a>>,
) -> impl Iterator<Item = Result<WireField<'a>, WireError>> {
    message.into_iter().flat_map(Message::fields)
}

/// An iterator over the fields of a message. It ends after an error.
#[derive(Clone, Debug)]
pub(crate) struct WireFields<'a> {
    message: Message<'a>,
    pos: usize,
}

impl<'a> Iterator for WireFields<'a> {
    type Item = Result<WireField<'a>, WireError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.pos >= self.message.bytes.len() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.pos = self.message.bytes.len();
        }
        Some(field)
    }
}

impl<'a> WireFields<'a> {
    #[inline]
    fn field(&mut self) -> Result<WireField<'a>, WireError> {
        let start = self.pos;
        let (number, wire) = self.tag()?;
        let value = match wire {
            3 => {
                self.skip_group(number)?;
                Value::Group
            }
            4 => return Err(self.error(start, "unexpected end of a group")),
            _ => self.plain_value(wire)?,
        };
        Ok(WireField {
            number,
            value,
            record: self.message.slice(start, self.pos),
        })
    }

    #[inline]
    fn tag(&mut self) -> Result<(u32, u32), WireError> {
        let start = self.pos;
        let tag = self.varint()?;
        match u32::try_from(tag) {
            Ok(tag) if tag >= 8 => Ok((tag >> 3, tag & 7)),
            _ => Err(self.error(start, "invalid field number")),
        }
    }

    #[inline]
    fn plain_value(&mut self, wire: u32) -> Result<Value<'a>, WireError> {
        match wire {
            0 => Ok(Value::Varint(self.varint()?)),
            1 => Ok(Value::Fixed64(u64::from_le_bytes(self.array()?))),
            2 => {
                let start = self.pos;
                let len = self.varint()?;
                let rest = self.message.bytes.len() - self.pos;
                if len > rest as u64 {
                    return Err(self.error(start, BEYOND));
                }
                let begin = self.pos;
                self.pos += len as usize;
                Ok(Value::Bytes(self.message.slice(begin, self.pos)))
            }
            5 => Ok(Value::Fixed32(u32::from_le_bytes(self.array()?))),
            _ => Err(self.error(self.pos, "invalid wire type")),
        }
    }

    fn skip_group(&mut self, number: u32) -> Result<(), WireError> {
        let mut open = vec![number];
        while let Some(&innermost) = open.last() {
            let start = self.pos;
            let (number, wire) = self.tag()?;
            match wire {
                3 if open.len() == MAX_GROUPS => {
                    return Err(self.error(start, "groups are nested too deeply"));
                }
                3 => open.push(number),
                4 if number == innermost => _ = open.pop(),
                4 => return Err(self.error(start, "unexpected end of a group")),
                _ => _ = self.plain_value(wire)?,
            }
        }
        Ok(())
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, WireError> {
        match self.message.bytes.get(self.pos) {
            Some(&byte) if byte < 0x80 => {
                self.pos += 1;
                Ok(u64::from(byte))
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Result<u64, WireError> {
        let (value, len) = varint(&self.message.bytes[self.pos..])
            .ok_or_else(|| self.error(self.pos, "a number is truncated or too long"))?;
        self.pos += len;
        Ok(value)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        match self.message.bytes[self.pos..].first_chunk::<N>() {
            Some(&array) => {
                self.pos += N;
                Ok(array)
            }
            None => Err(self.error(self.pos, "a number is truncated")),
        }
    }

    fn error(&self, pos: usize, what: &'static str) -> WireError {
        WireError {
            at: self.message.at + pos as u64,
            what,
        }
    }
}

/// Decodes a varint and returns its length, too. Bits above the 64th are dropped, as in protobuf.
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (at, &byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Some((value, at + 1));
        }
    }
    None
}

/// Appends the numbers of one record of a repeated field, which may be packed. Returns `false` if the record's wire
/// type isn't one for numbers.
pub(crate) fn push_varints(value: Value<'_>, to: &mut Vec<i64>) -> Result<bool, WireError> {
    match value {
        Value::Varint(number) => to.push(number as i64),
        Value::Bytes(packed) => {
            let mut rest = packed.bytes;
            while !rest.is_empty() {
                let at = packed.at + (packed.bytes.len() - rest.len()) as u64;
                let (number, len) = varint(rest).ok_or(WireError {
                    at,
                    what: "a packed number is truncated or too long",
                })?;
                to.push(number as i64);
                rest = &rest[len..];
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Appends the little-endian bytes of one record of a repeated `float` (`size` 4) or `double` (8) field. Returns
/// `false` as [`push_varints`] does.
pub(crate) fn push_fixed(
    value: Value<'_>,
    size: usize,
    to: &mut Vec<u8>,
) -> Result<bool, WireError> {
    match value {
        Value::Fixed32(bits) if size == 4 => to.extend(bits.to_le_bytes()),
        Value::Fixed64(bits) if size == 8 => to.extend(bits.to_le_bytes()),
        Value::Bytes(packed) if packed.bytes.len().is_multiple_of(size) => to.extend(packed.bytes),
        Value::Bytes(packed) => {
            let what = match size {
                4 => "packed floats are truncated",
                _ => "packed doubles are truncated",
            };
            return Err(WireError {
                at: packed.at,
                what,
            });
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Returns the last string of a field in a message; empty if there is none.
pub(crate) fn string_of(message: Message<'_>, number: u32) -> Result<&[u8], WireError> {
    Ok(message.last(number)?.map_or(&[], |body| body.bytes))
}

/// Appends a varint.
pub(crate) fn put_varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Appends a varint field.
pub(crate) fn put_int(to: &mut Vec<u8>, number: u32, value: i64) {
    put_varint(to, u64::from(number) << 3);
    put_varint(to, value as u64);
}

/// Appends a `float` field.
pub(crate) fn put_float(to: &mut Vec<u8>, number: u32, bits: u32) {
    put_varint(to, u64::from(number) << 3 | 5);
    to.extend(bits.to_le_bytes());
}

/// Appends the tag and length of a length-delimited field. The caller appends its bytes.
pub(crate) fn put_head(to: &mut Vec<u8>, number: u32, len: u64) {
    put_varint(to, u64::from(number) << 3 | 2);
    put_varint(to, len);
}

/// Appends a length-delimited field.
pub(crate) fn put_bytes(to: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_head(to, number, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(bytes: &[u8]) -> String {
        let mut out = String::new();
        for field in (Message { bytes, at: 100 }).fields() {
            match field {
                Ok(field) => {
                    let value = match field.value {
                        Value::Varint(value) => format!("{value}"),
                        Value::Fixed64(value) => format!("{value:#x}"),
                        Value::Fixed32(value) => format!("{value:#x}"),
                        Value::Bytes(body) => format!("{:?} at {}", body.bytes, body.at),
                        Value::Group => "group".to_owned(),
                    };
                    let Message { bytes, at } = field.record;
                    out += &format!("{} = {value} ({at}+{})\n", field.number, bytes.len());
                }
                Err(error) => out += &format!("{}: {error}\n", error.at),
            }
        }
        out
    }

    #[test]
    fn all_wire_types_are_read() {
        expect_test::expect![[r#"
            1 = 300 (100+3)
            2 = [7, 8] at 105 (103+4)
            3 = 0x1 (107+9)
            4 = 0x2 (116+5)
            5 = group (121+4)
            1000 = 0 (125+3)
        "#]]
        .assert_eq(&show(&[
            0x08, 0xac, 0x02, 0x12, 2, 7, 8, 0x19, 1, 0, 0, 0, 0, 0, 0, 0, 0x25, 2, 0, 0, 0, 0x2b,
            0x08, 1, 0x2c, 0xc0, 0x3e, 0,
        ]));
    }

    #[test]
    fn malformed_protobuf_is_an_error_with_its_offset() {
        let cases: &[(&[u8], &str)] = &[
            (&[0x08], "101: a number is truncated or too long\n"),
            (
                &[0x08, 0xff, 0xff],
                "101: a number is truncated or too long\n",
            ),
            (&[0x08; 1], "101: a number is truncated or too long\n"),
            (&[0x00, 1], "100: invalid field number\n"),
            (
                &[0x0a, 5, 1],
                "101: a length exceeds the rest of its message\n",
            ),
            (&[0x0e], "101: invalid wire type\n"),
            (&[0x0d, 1], "101: a number is truncated\n"),
            (&[0x0c], "100: unexpected end of a group\n"),
            (&[0x0b, 0x14], "101: unexpected end of a group\n"),
            (&[0x0b], "101: a number is truncated or too long\n"),
            (&[0x0b; 101], "200: groups are nested too deeply\n"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(&show(bytes), expected, "{bytes:?}");
        }
        let endless = [&[0x08][..], &[0xff; 11]].concat();
        assert_eq!(show(&endless), "101: a number is truncated or too long\n");
    }

    #[test]
    fn varints_round_trip() {
        for value in [0, 1, 127, 128, 300, 1 << 35, u64::MAX] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            assert_eq!(varint(&bytes), Some((value, bytes.len())));
        }
        assert_eq!(varint(&[0xff; 10]), None);
    }

    #[test]
    fn packed_and_unpacked_numbers_are_read() {
        let mut ints = Vec::new();
        let packed = Message {
            bytes: &[1, 0xac, 2],
            at: 0,
        };
        assert_eq!(push_varints(Value::Varint(7), &mut ints), Ok(true));
        assert_eq!(push_varints(Value::Bytes(packed), &mut ints), Ok(true));
        assert_eq!(push_varints(Value::Fixed32(7), &mut ints), Ok(false));
        assert_eq!(ints, [7, 1, 300]);
        assert!(push_fixed(Value::Bytes(packed), 4, &mut Vec::new()).is_err());
    }
}
