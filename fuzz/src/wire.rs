//! Protobuf's wire format, as little of it as mutation and checks need. It isn't the reader's: a
//! fuzzer that asks the code under test what a field is doesn't find out that it is wrong.

use std::ops::Range;

/// A field: where it stands in its message.
#[derive(Clone, Debug)]
pub struct Field {
    pub number: u32,
    pub wire: u8,
    /// Tag, length and value.
    pub record: Range<usize>,
    /// The value; of a length-delimited one, what the length counts.
    pub value: Range<usize>,
}

/// A varint at a place, and where it ends.
pub fn varint(bytes: &[u8], mut at: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let byte = *bytes.get(at)?;
        at += 1;
        if shift < 64 {
            value |= u64::from(byte & 0x7f) << shift;
        }
        if byte < 0x80 {
            return Some((value, at));
        }
    }
    None
}

/// The fields of a message; `None`: it isn't one. Groups aren't followed.
pub fn fields(bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let (tag, after) = varint(bytes, at)?;
        let number = u32::try_from(tag >> 3).ok().filter(|&number| number > 0)?;
        let wire = (tag & 7) as u8;
        let (from, to) = match wire {
            0 => (after, varint(bytes, after)?.1),
            1 => (after, after.checked_add(8)?),
            2 => {
                let (len, from) = varint(bytes, after)?;
                (from, from.checked_add(usize::try_from(len).ok()?)?)
            }
            5 => (after, after.checked_add(4)?),
            _ => return None,
        };
        if to > bytes.len() {
            return None;
        }
        at = to;
        fields.push(Field {
            number,
            wire,
            record: start..to,
            value: from..to,
        });
    }
    Some(fields)
}

/// Appends a varint.
pub fn put_varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Appends a tag.
pub fn put_tag(to: &mut Vec<u8>, number: u32, wire: u8) {
    put_varint(to, u64::from(number) << 3 | u64::from(wire));
}

/// Appends a length-delimited field.
pub fn put_bytes(to: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_tag(to, number, 2);
    put_varint(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}
