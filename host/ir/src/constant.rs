//! The bytes of constants: in memory, in a file, or one element that fills a shape.
//!
//! A constant's bytes are behind an `Arc` and never copied: a function's copy shares them, and a
//! weight that nobody asks for is never read.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use passdock_abi::Storage;

/// A file (or anything like it) whose bytes stay put while it lives.
pub trait ByteSource: Send + Sync {
    /// The path, as the text form spells it.
    fn name(&self) -> &str;

    /// What the model that refers to it calls it.
    fn location(&self) -> &str {
        self.name()
    }

    /// `len` bytes from `offset`; an error is a whole sentence.
    fn read(&self, offset: u64, len: u64) -> Result<&[u8], String>;

    /// How many bytes it has, without reading them; an error is a whole sentence.
    fn size(&self) -> Result<u64, String>;

    /// Appends `len` bytes from `offset` to a file; a source that is a file lets the system copy.
    fn copy_to(&self, offset: u64, len: u64, to: &mut File) -> io::Result<()> {
        to.write_all(self.read(offset, len).map_err(io::Error::other)?)
    }
}

/// Bytes that are made when they are first asked for, from an encoding that isn't the IR's.
pub trait Deferred: Send + Sync {
    /// Makes the bytes; an error is a whole sentence.
    fn load(&self) -> Result<Vec<u8>, String>;
}

/// Where the bytes are.
pub enum Payload {
    /// In memory.
    Inline(Box<[u8]>),
    /// In the mapped model file.
    Mapped {
        /// The file.
        source: Arc<dyn ByteSource>,
        /// Where in it.
        offset: u64,
        /// How many.
        len: u64,
    },
    /// In another file.
    External {
        /// The file.
        source: Arc<dyn ByteSource>,
        /// Where in it.
        offset: u64,
        /// How many.
        len: u64,
    },
    /// In the mapped model file, in an encoding of its own.
    Deferred {
        /// Makes them.
        load: Box<dyn Deferred>,
        /// How many they will be.
        len: u64,
    },
    /// One element, `count` times.
    Splat {
        /// Its bytes.
        element: Box<[u8]>,
        /// How often.
        count: u64,
    },
}

/// A constant's data.
pub struct ConstantData {
    payload: Payload,
    made: OnceLock<Result<Box<[u8]>, String>>,
}

impl ConstantData {
    /// Wraps a payload.
    pub fn new(payload: Payload) -> Arc<ConstantData> {
        Arc::new(ConstantData {
            payload,
            made: OnceLock::new(),
        })
    }

    /// Data in memory.
    pub fn inline(bytes: impl Into<Box<[u8]>>) -> Arc<ConstantData> {
        ConstantData::new(Payload::Inline(bytes.into()))
    }

    /// Where the bytes are.
    pub fn payload(&self) -> &Payload {
        &self.payload
    }

    /// How many bytes all elements take.
    pub fn len(&self) -> u64 {
        match &self.payload {
            Payload::Inline(bytes) => bytes.len() as u64,
            Payload::Mapped { len, .. }
            | Payload::External { len, .. }
            | Payload::Deferred { len, .. } => *len,
            Payload::Splat { element, count } => (element.len() as u64).saturating_mul(*count),
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How the ABI names the place.
    pub fn storage(&self) -> Storage {
        match &self.payload {
            Payload::Inline(_) => Storage::INLINE,
            Payload::Mapped { .. } | Payload::Deferred { .. } => Storage::MAPPED,
            Payload::External { .. } => Storage::EXTERNAL,
            Payload::Splat { .. } => Storage::SPLAT,
        }
    }

    /// All bytes, made or mapped at the first call; an error is a whole sentence.
    pub fn bytes(&self) -> Result<&[u8], String> {
        let made = match &self.payload {
            Payload::Inline(bytes) => return Ok(bytes),
            Payload::Mapped {
                source,
                offset,
                len,
            }
            | Payload::External {
                source,
                offset,
                len,
            } => return source.read(*offset, *len),
            Payload::Deferred { load, .. } => self.made.get_or_init(|| Ok(load.load()?.into())),
            Payload::Splat { element, .. } => self.made.get_or_init(|| spread(element, self.len())),
        };
        match made {
            Ok(bytes) => Ok(bytes),
            Err(error) => Err(error.clone()),
        }
    }

    /// Whether both hold the same bytes. Cheap where they share them.
    pub fn same(&self, other: &ConstantData) -> Result<bool, String> {
        if std::ptr::eq(self, other) {
            return Ok(true);
        }
        if let (
            Payload::Splat {
                element: a,
                count: n,
            },
            Payload::Splat {
                element: b,
                count: m,
            },
        ) = (&self.payload, &other.payload)
        {
            return Ok(a == b && n == m);
        }
        Ok(self.len() == other.len() && self.bytes()? == other.bytes()?)
    }
}

/// One element, repeated until there are `len` bytes; an error where there is no memory for them.
fn spread(element: &[u8], len: u64) -> Result<Box<[u8]>, String> {
    let mut all = Vec::new();
    let room = usize::try_from(len).ok();
    let Some(len) = room.filter(|&len| all.try_reserve_exact(len).is_ok()) else {
        return Err(format!("A constant of {len} bytes doesn't fit in memory."));
    };
    all.extend_from_slice(&element[..len.min(element.len())]);
    while !all.is_empty() && all.len() < len {
        all.extend_from_within(..all.len().min(len - all.len()));
    }
    Ok(all.into_boxed_slice())
}

impl fmt::Debug for ConstantData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.payload {
            Payload::Inline(bytes) => write!(f, "inline({} bytes)", bytes.len()),
            Payload::Mapped { offset, len, .. } => write!(f, "mapped({offset}, {len})"),
            Payload::External {
                source,
                offset,
                len,
            } => {
                write!(f, "external({:?}, {offset}, {len})", source.name())
            }
            Payload::Deferred { len, .. } => write!(f, "deferred({len} bytes)"),
            Payload::Splat { count, .. } => write!(f, "splat({count})"),
        }
    }
}

/// The strings in the data of `count` string elements: `count + 1` little-endian `u64` offsets, then
/// the bytes they bound. `None` if the data isn't so.
pub fn string_elements(data: &[u8], count: u64) -> Option<impl Iterator<Item = &[u8]>> {
    let count = usize::try_from(count).ok()?;
    let table = count.checked_add(1)?.checked_mul(8)?;
    let (offsets, bytes) = (data.get(..table)?, data.get(table..)?);
    let (offsets, _) = offsets.as_chunks::<8>();
    let bound = |at: usize| usize::try_from(u64::from_le_bytes(offsets[at])).ok();
    let whole = bound(0) == Some(0) && bound(count) == Some(bytes.len());
    let ordered = offsets.is_sorted_by_key(|&offset| u64::from_le_bytes(offset));
    let part = move |at: usize| bytes.get(bound(at)?..bound(at + 1)?);
    (whole && ordered).then(|| (0..count).filter_map(part))
}

/// The data of string elements.
pub fn string_data<T: AsRef<[u8]>>(strings: &[T]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut end = 0_u64;
    data.extend(end.to_le_bytes());
    for text in strings {
        end += text.as_ref().len() as u64;
        data.extend(end.to_le_bytes());
    }
    strings.iter().for_each(|text| data.extend(text.as_ref()));
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splat(element: &[u8], count: u64) -> Arc<ConstantData> {
        ConstantData::new(Payload::Splat {
            element: element.into(),
            count,
        })
    }

    #[test]
    fn a_splat_is_spread_when_asked_for() {
        assert_eq!(splat(&[1, 2], 5).bytes().unwrap(), [1, 2].repeat(5));
        assert_eq!(splat(&[1, 2], 0).bytes().unwrap(), [0; 0]);
        assert_eq!(splat(&[], 7).bytes().unwrap(), [0; 0]);
        let huge = splat(&[0; 8], u64::MAX / 2);
        let error = huge.bytes().unwrap_err();
        assert!(error.ends_with("doesn't fit in memory."), "{error}");
    }
}
