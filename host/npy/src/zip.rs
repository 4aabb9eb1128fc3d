//! What a `.npz` file is: a zip archive. Its entries are found by the directory at its end.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::Error;

const END: [u8; 4] = *b"PK\x05\x06";
const END_64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";
/// The bytes of a record of the end, and the longest comment behind it.
const END_LEN: usize = 22;
const LONGEST_COMMENT: usize = 0xffff;
/// What stands in place of a number that is in the extra field of 64-bit numbers.
const IN_EXTRA: u64 = 0xffff_ffff;

/// An entry of the directory.
pub(crate) struct Entry<'b> {
    pub(crate) name: String,
    is_encrypted: bool,
    method: u16,
    packed: u64,
    size: u64,
    /// Where its own header is.
    at: u64,
    bytes: &'b [u8],
}

/// The entries of an archive, in the order of its directory.
pub(crate) fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, Error> {
    let (count, start) = directory(bytes).ok_or(Error::NotNpz)?;
    let mut rest = usize::try_from(start).ok().and_then(|at| bytes.get(at..));
    let mut entries = Vec::new();
    for _ in 0..count {
        let (entry, behind) = rest
            .and_then(|rest| entry(bytes, rest))
            .ok_or_else(|| broken("its directory is cut off"))?;
        entries.push(entry);
        rest = Some(behind);
    }
    Ok(entries)
}

/// How many entries there are, and where their directory begins.
fn directory(bytes: &[u8]) -> Option<(u64, u64)> {
    let from = bytes.len().saturating_sub(END_LEN + LONGEST_COMMENT);
    let mut ends = (from..=bytes.len().checked_sub(END_LEN)?).rev();
    let end = ends.find(|&at| bytes[at..].starts_with(&END))?;
    let record = &bytes[end..];
    let whole = end.checked_sub(20).and_then(|at| bytes.get(at..end));
    if let Some(locator) = whole.filter(|locator| locator.starts_with(&LOCATOR_64)) {
        let record = bytes.get(usize::try_from(number::<8>(locator, 8)?).ok()?..)?;
        let is_one = record.starts_with(&END_64);
        return is_one.then_some((number::<8>(record, 32)?, number::<8>(record, 48)?));
    }
    Some((number::<2>(record, 10)?, number::<4>(record, 16)?))
}

/// An entry of the directory, and what stands behind it.
fn entry<'b>(bytes: &'b [u8], record: &'b [u8]) -> Option<(Entry<'b>, &'b [u8])> {
    if !record.starts_with(&ENTRY) {
        return None;
    }
    let length = |at| Some(number::<2>(record, at)? as usize);
    let name_end = 46 + length(28)?;
    let extra_end = name_end + length(30)?;
    let mut extra = Extra::of(record.get(name_end..extra_end)?);
    // In this order they stand in the extra field, those that aren't here.
    let size = extra.or(number::<4>(record, 24)?)?;
    let packed = extra.or(number::<4>(record, 20)?)?;
    let at = extra.or(number::<4>(record, 42)?)?;
    let entry = Entry {
        name: String::from_utf8_lossy(record.get(46..name_end)?).into_owned(),
        is_encrypted: number::<2>(record, 8)? & 1 != 0,
        method: number::<2>(record, 10)? as u16,
        packed,
        size,
        at,
        bytes,
    };
    Some((entry, record.get(extra_end + length(32)?..)?))
}

/// The 64-bit numbers of an entry's extra field.
struct Extra<'b>(&'b [u8]);

impl<'b> Extra<'b> {
    fn of(mut fields: &'b [u8]) -> Extra<'b> {
        while let (Some(id), Some(len)) = (number::<2>(fields, 0), number::<2>(fields, 2)) {
            let end = 4 + len as usize;
            match (id, fields.get(4..end)) {
                (1, Some(numbers)) => return Extra(numbers),
                (_, Some(_)) => fields = &fields[end..],
                (_, None) => break,
            }
        }
        Extra(&[])
    }

    /// A number of the entry or, if it doesn't fit there, the next of these.
    fn or(&mut self, number: u64) -> Option<u64> {
        if number != IN_EXTRA {
            return Some(number);
        }
        let (next, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*next))
    }
}

impl Entry<'_> {
    /// What is in it.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Error> {
        let packed = self.packed_bytes().ok_or_else(|| broken("it is cut off"))?;
        if self.is_encrypted {
            return Err(broken("it is encrypted"));
        }
        let data = match self.method {
            0 => packed.to_vec(),
            8 => {
                let limit = usize::try_from(self.size).map_err(|_| broken("it is too large"))?;
                decompress_to_vec_with_limit(packed, limit)
                    .map_err(|_| broken("what is packed in it is broken"))?
            }
            method => {
                return Err(broken(&format!(
                    "it is packed by method {method}; 0 and 8 can be read"
                )));
            }
        };
        match data.len() as u64 == self.size {
            true => Ok(data),
            false => Err(broken("it has another size than the archive says")),
        }
    }

    fn packed_bytes(&self) -> Option<&[u8]> {
        let header = self.bytes.get(usize::try_from(self.at).ok()?..)?;
        if !header.starts_with(&LOCAL) {
            return None;
        }
        let start = 30 + (number::<2>(header, 26)? + number::<2>(header, 28)?) as usize;
        let end = start.checked_add(usize::try_from(self.packed).ok()?)?;
        header.get(start..end)
    }
}

fn broken(why: &str) -> Error {
    Error::Zip(why.to_owned())
}

/// A little-endian number of `N` bytes.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let part = bytes.get(at..at.checked_add(N)?)?;
    Some(
        part.iter()
            .rev()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    )
}
