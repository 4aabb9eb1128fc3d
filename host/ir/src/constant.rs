//! The bytes of constants: in memory, in a file, or one element repeated over a shape.
//!
//! An `Arc` holds a constant's bytes, and they are never copied: copies of a function share them. A weight is read only
//! when its bytes are requested.

use std::fmt;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use passdock_abi::{DType, Storage};

/// A file, or a similar source, whose bytes don't move or change while it is open.
pub trait ByteSource: Send + Sync {
    /// Returns the path as the text format spells it.
    fn name(&self) -> &str;

    /// Returns the location that the model records for the file.
    fn location(&self) -> &str {
        self.name()
    }

    /// Returns `len` bytes from `offset`.
    fn read(&self, offset: u64, len: u64) -> Result<&[u8], String>;

    /// Whether the bytes are in a file of that name, so that IR text may refer to them. Bytes that the embedding
    /// program owns aren't.
    fn is_file(&self) -> bool {
        true
    }

    /// Returns the size in bytes without reading the bytes.
    fn size(&self) -> Result<u64, String>;

    /// Appends `len` bytes from `offset` to a file. A source that is a file lets the operating system copy.
    ///
    /// # Errors
    /// Errors of the source or the file.
    fn copy_to(&self, offset: u64, len: u64, to: &mut File) -> io::Result<()> {
        to.write_all(self.read(offset, len).map_err(io::Error::other)?)
    }
}

/// A decoder for bytes that are decoded at the first use, from an encoding other than the IR's.
pub trait Deferred: Send + Sync {
    /// Decodes the bytes.
    fn load(&self) -> Result<Vec<u8>, String>;
}

/// A range of bytes of a file.
#[derive(Clone)]
pub struct FileRange {
    /// The file.
    pub source: Arc<dyn ByteSource>,
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
}

impl FileRange {
    /// Appends the bytes to a file; the operating system copies them if it can.
    ///
    /// # Errors
    /// Errors of the source or the file.
    pub fn copy_to(&self, to: &mut File) -> io::Result<()> {
        self.source.copy_to(self.offset, self.len, to)
    }
}

/// The location and encoding of a constant's bytes.
pub enum Payload {
    /// Bytes in memory.
    Inline(Box<[u8]>),
    /// Bytes in the mapped model file.
    Mapped(FileRange),
    /// Bytes in another file.
    External(FileRange),
    /// Bytes decoded from another encoding in the mapped model file.
    Deferred {
        /// The decoder.
        load: Box<dyn Deferred>,
        /// The number of decoded bytes.
        len: u64,
    },
    /// One element, repeated `count` times.
    Splat {
        /// The element type: elements of less than a byte are packed, and strings have an offset table.
        dtype: DType,
        /// The element's bytes.
        element: Box<[u8]>,
        /// The number of elements.
        count: u64,
    },
}

/// The data of a constant.
pub struct ConstantData {
    payload: Payload,
    created: OnceLock<Result<Box<[u8]>, String>>,
}

impl ConstantData {
    /// Wraps a payload.
    pub fn new(payload: Payload) -> Arc<ConstantData> {
        Arc::new(ConstantData {
            payload,
            created: OnceLock::new(),
        })
    }

    /// Creates data from bytes in memory.
    pub fn inline(bytes: impl Into<Box<[u8]>>) -> Arc<ConstantData> {
        ConstantData::new(Payload::Inline(bytes.into()))
    }

    /// Where the bytes are, and in which form.
    pub fn payload(&self) -> &Payload {
        &self.payload
    }

    /// Returns the number of bytes of all elements.
    pub fn len(&self) -> u64 {
        match &self.payload {
            Payload::Inline(bytes) => bytes.len() as u64,
            Payload::Mapped(range) | Payload::External(range) => range.len,
            Payload::Deferred { len, .. } => *len,
            Payload::Splat { .. } => self.splat().map_or(0, splat_len),
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the storage kind of the bytes in the ABI.
    pub fn storage(&self) -> Storage {
        match &self.payload {
            Payload::Inline(_) => Storage::INLINE,
            Payload::Mapped(_) | Payload::Deferred { .. } => Storage::MAPPED,
            Payload::External(_) => Storage::EXTERNAL,
            Payload::Splat { .. } => Storage::SPLAT,
        }
    }

    /// Returns the range of bytes in an external file.
    pub fn external(&self) -> Option<&FileRange> {
        self.in_file()
            .filter(|_| self.storage() == Storage::EXTERNAL)
    }

    /// Returns the range of bytes that a file holds in the IR's encoding.
    pub fn in_file(&self) -> Option<&FileRange> {
        match &self.payload {
            Payload::Mapped(range) | Payload::External(range) => Some(range),
            _ => None,
        }
    }

    /// Returns the range of bytes that IR text may refer to by the file's name.
    pub fn in_named_file(&self) -> Option<&FileRange> {
        self.in_file().filter(|range| range.source.is_file())
    }

    /// Returns all bytes; they are decoded or mapped at the first call.
    ///
    /// # Errors
    /// If the bytes can't be decoded or read.
    pub fn bytes(&self) -> Result<&[u8], String> {
        let created = match &self.payload {
            Payload::Inline(bytes) => return Ok(bytes),
            Payload::Mapped(range) | Payload::External(range) => {
                return range.source.read(range.offset, range.len);
            }
            Payload::Deferred { load, .. } => self.created.get_or_init(|| Ok(load.load()?.into())),
            Payload::Splat { .. } => {
                let spread = || self.splat().map_or(Ok(Box::default()), spread);
                self.created.get_or_init(spread)
            }
        };
        created.as_deref().map_err(String::clone)
    }

    /// Returns a hash of the bytes. Large constants are hashed by their first, middle and last part only, and a splat
    /// isn't materialized.
    ///
    /// # Errors
    /// If the bytes can't be decoded or read.
    pub fn hash(&self) -> Result<u64, String> {
        let len = self.len();
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(len);
        let pattern = self.pattern();
        let bytes = match pattern {
            Some(_) => &[],
            None => self.bytes()?,
        };
        let starts = match len {
            0..=WHOLE => vec![0],
            _ => vec![0, len / 2, len - PART],
        };
        let part = if len <= WHOLE { len } else { PART };
        for start in starts {
            match pattern {
                Some(element) => {
                    let at = |at| element[(at % element.len() as u64) as usize];
                    let sample: Vec<u8> = (start..start + part).map(at).collect();
                    hasher.write(&sample);
                }
                None => hasher.write(&bytes[start as usize..(start + part) as usize]),
            }
        }
        Ok(hasher.finish())
    }

    /// Returns the element type, the element and the number of elements of a splat.
    fn splat(&self) -> Option<Splat<'_>> {
        match &self.payload {
            Payload::Splat {
                dtype,
                element,
                count,
            } => Some((*dtype, element, *count)),
            _ => None,
        }
    }

    /// Returns the bytes of a splat's element if repeating them gives all its bytes.
    fn pattern(&self) -> Option<&[u8]> {
        let (dtype, element, _) = self.splat()?;
        let whole = dtype.bits() % 8 == 0 && dtype != DType::STRING;
        (whole && !element.is_empty()).then_some(element)
    }

    /// Whether both hold the same bytes. Cheap for shared bytes and for splats.
    ///
    /// # Errors
    /// If the bytes can't be decoded or read.
    pub fn same(&self, other: &ConstantData) -> Result<bool, String> {
        if std::ptr::eq(self, other) {
            return Ok(true);
        }
        if self.len() != other.len() {
            return Ok(false);
        }
        if let (Some(a), Some(b)) = (self.splat(), other.splat())
            && a.0 == b.0
        {
            return Ok(a == b);
        }
        match (self.pattern(), other.pattern()) {
            (Some(element), None) => Ok(repeats(element, other.bytes()?)),
            (None, Some(element)) => Ok(repeats(element, self.bytes()?)),
            _ => Ok(self.bytes()? == other.bytes()?),
        }
    }
}

/// Encodes integers as the bytes of a tensor; `None` if they don't fit its element type.
pub fn integer_bytes(dtype: DType, numbers: &[i64]) -> Option<Box<[u8]>> {
    match dtype {
        DType::I64 => Some(numbers.iter().flat_map(|n| n.to_le_bytes()).collect()),
        DType::I32 => {
            let small = numbers.iter().map(|&n| i32::try_from(n).ok());
            let small: Vec<i32> = small.collect::<Option<_>>()?;
            Some(small.iter().flat_map(|n| n.to_le_bytes()).collect())
        }
        DType::BOOL => {
            let bit = |&n: &i64| u8::try_from(n).ok().filter(|&bit| bit < 2);
            numbers.iter().map(bit).collect()
        }
        _ => None,
    }
}

/// The size in bytes up to which constants are hashed in full.
const WHOLE: u64 = 4096;

/// The size in bytes of each of the three hashed parts of larger constants.
const PART: u64 = 1024;

fn repeats(element: &[u8], bytes: &[u8]) -> bool {
    bytes.chunks(element.len()).all(|chunk| chunk == element)
}

/// The element type, the element and the number of elements of a splat.
type Splat<'a> = (DType, &'a [u8], u64);

/// Returns the number of bytes of a materialized splat.
fn splat_len((dtype, element, count): Splat<'_>) -> u64 {
    let text = (element.len() as u64).saturating_sub(TABLE);
    match dtype.byte_len(count) {
        Some(len) => len,
        None if dtype == DType::STRING => count.saturating_mul(8 + text).saturating_add(8),
        None => (element.len() as u64).saturating_mul(count),
    }
}

/// The size in bytes of the offset table of one string.
const TABLE: u64 = 16;

/// The maximum size in bytes of a materialized splat.
const MAX_SPREAD: u64 = 1 << 30;

/// Materializes a splat; an error if it is too large.
fn spread(splat: Splat<'_>) -> Result<Box<[u8]>, String> {
    let (dtype, element, count) = splat;
    let len = splat_len(splat);
    if len > MAX_SPREAD {
        return Err(format!(
            "splat of {len} bytes is too large to materialize; the limit is {MAX_SPREAD} bytes"
        ));
    }
    let mut all = Vec::new();
    let room = usize::try_from(len).ok();
    let Some(len) = room.filter(|&len| all.try_reserve_exact(len).is_ok()) else {
        return Err(format!("constant of {len} bytes does not fit in memory"));
    };
    let mut pattern = element;
    let packed: [u8; 8];
    let bits = dtype.bits();
    if let (1..8, Some(&code)) = (bits, element.first()) {
        // Eight elements fill whole bytes.
        let stream = (0..8).fold(0_u64, |stream, _| stream << bits | u64::from(code));
        packed = stream.to_le_bytes();
        pattern = &packed[..bits as usize];
    } else if dtype == DType::STRING {
        pattern = element.get(TABLE as usize..).unwrap_or_default();
        let end = |at| at * pattern.len() as u64;
        all.extend((0..=count).flat_map(|at| end(at).to_le_bytes()));
    }
    let start = all.len();
    all.extend_from_slice(&pattern[..pattern.len().min(len - start)]);
    while all.len() > start && all.len() < len {
        all.extend_from_within(start..start + (all.len() - start).min(len - all.len()));
    }
    // The bits after the last element are 0.
    let used = count.wrapping_mul(u64::from(bits)) % 8;
    if let (1..8, 1.., Some(last)) = (bits, used, all.last_mut()) {
        *last &= (1 << used) - 1;
    }
    Ok(all.into_boxed_slice())
}

impl fmt::Debug for ConstantData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.payload {
            Payload::Inline(bytes) => write!(f, "inline({} bytes)", bytes.len()),
            Payload::Mapped(range) => write!(f, "mapped({}, {})", range.offset, range.len),
            Payload::External(range) => {
                let FileRange {
                    source,
                    offset,
                    len,
                } = range;
                write!(f, "external({:?}, {offset}, {len})", source.name())
            }
            Payload::Deferred { len, .. } => write!(f, "deferred({len} bytes)"),
            Payload::Splat { count, .. } => write!(f, "splat({count})"),
        }
    }
}

/// Returns the number of elements of a shape; `None` if a dim is negative or the product overflows.
pub fn element_count(shape: &[i64]) -> Option<u64> {
    shape.iter().try_fold(1_u64, |all, &dim| {
        u64::try_from(dim).ok().and_then(|dim| all.checked_mul(dim))
    })
}

/// Iterates over the strings in the data of `count` string elements: `count + 1` little-endian `u64` offsets, then the
/// bytes between them. `None` if the data is malformed.
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

/// Encodes strings as the data of string elements.
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

/// Reads an element of less than a byte from packed bits, lowest bit first.
pub fn unpack_bits(bytes: &[u8], at: u64, bits: u32) -> u8 {
    let start = at * u64::from(bits);
    let byte = |at: u64| u16::from(bytes.get(at as usize).copied().unwrap_or(0));
    let window = byte(start / 8) | byte(start / 8 + 1) << 8;
    (window >> (start % 8)) as u8 & ((1 << bits) - 1)
}

/// Appends an element of less than a byte to `at` packed elements.
pub fn pack_bits(bytes: &mut Vec<u8>, at: u64, bits: u32, value: u8) {
    let start = (at * u64::from(bits) % 8) as u32;
    let [low, high] = (u16::from(value & ((1 << bits) - 1)) << start).to_le_bytes();
    match bytes.last_mut() {
        Some(last) if start > 0 => *last |= low,
        _ => bytes.push(low),
    }
    if start + bits > 8 {
        bytes.push(high);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splat(element: &[u8], count: u64) -> Arc<ConstantData> {
        splat_of(DType::NONE, element, count)
    }

    fn splat_of(dtype: DType, element: &[u8], count: u64) -> Arc<ConstantData> {
        ConstantData::new(Payload::Splat {
            dtype,
            element: element.into(),
            count,
        })
    }

    #[test]
    fn packed_and_string_splats_materialize() {
        let u4 = splat_of(DType::U4, &[3], 5);
        assert_eq!((u4.len(), u4.bytes().unwrap()), (3, &[0x33, 0x33, 3][..]));
        let u2 = splat_of(DType::U2, &[2], 4);
        assert_eq!(u2.bytes().unwrap(), [0b1010_1010]);
        let f6 = splat_of(DType::F6E2M3, &[0x21], 6);
        assert_eq!(f6.bytes().unwrap(), [0x61, 0x18, 0x86, 0x61, 0x08]);
        let none = splat_of(DType::I4, &[7], 0);
        assert_eq!((none.len(), none.bytes().unwrap()), (0, &[][..]));
        let text = string_data(&["ab"]);
        let texts = splat_of(DType::STRING, &text, 3);
        assert_eq!(texts.bytes().unwrap(), string_data(&["ab"; 3]));
        assert_eq!(texts.len(), texts.bytes().unwrap().len() as u64);
        let none = splat_of(DType::STRING, &text, 0);
        assert_eq!(none.bytes().unwrap(), string_data::<&str>(&[]));
    }

    #[test]
    fn equality_and_hash_ignore_the_representation() {
        let hash = |data: &ConstantData| data.hash().unwrap();
        for count in [0, 5, 3000, 100_000] {
            let splat = splat_of(DType::I32, &[1, 2, 3, 4], count);
            let mut bytes = [1, 2, 3, 4].repeat(count as usize);
            let dense = ConstantData::inline(bytes.clone());
            assert!(splat.same(&dense).unwrap() && dense.same(&splat).unwrap());
            assert_eq!(hash(&splat), hash(&dense));
            // Bytes that the hash skips are still compared.
            let Some(at) = bytes.len().checked_sub(1500) else {
                continue;
            };
            bytes[at] += 1;
            let other = ConstantData::inline(bytes);
            assert!(!splat.same(&other).unwrap() && !other.same(&splat).unwrap());
            assert!(!dense.same(&other).unwrap());
        }
        assert_ne!(hash(&splat(&[1], 9)), hash(&splat(&[1], 10)));
        assert_ne!(hash(&splat(&[1], 9)), hash(&splat(&[2], 9)));
        // Packed elements are materialized.
        let packed = splat_of(DType::U4, &[3], 5);
        let dense = ConstantData::inline([0x33, 0x33, 3]);
        assert!(packed.same(&dense).unwrap() && hash(&packed) == hash(&dense));
        // A splat too large for memory has a hash, and differs from others.
        let huge = |element| splat(&[element; 8], u64::MAX / 16);
        assert_eq!(hash(&huge(0)), hash(&huge(0)));
        assert!(!huge(0).same(&huge(1)).unwrap());
    }

    #[test]
    fn splats_are_materialized_on_demand() {
        assert_eq!(splat(&[1, 2], 5).bytes().unwrap(), [1, 2].repeat(5));
        assert_eq!(splat(&[1, 2], 0).bytes().unwrap(), [0; 0]);
        assert_eq!(splat(&[], 7).bytes().unwrap(), [0; 0]);
        let huge = splat(&[0; 8], u64::MAX / 2);
        let error = huge.bytes().unwrap_err();
        assert!(error.contains("too large to materialize"), "{error}");
    }
}
