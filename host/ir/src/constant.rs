//! The bytes of constants: in memory, in a file, or one element that fills a shape.
//!
//! A constant's bytes are behind an `Arc` and never copied: a function's copy shares them, and a
//! weight that nobody asks for is never read.

use std::fmt;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use passdock_abi::{DType, Storage};

/// A file (or anything like it) whose bytes stay put while it lives.
pub trait ByteSource: Send + Sync {
    /// The path, as the text form spells it.
    fn name(&self) -> &str;

    /// The location that the model gives for it.
    fn location(&self) -> &str {
        self.name()
    }

    /// `len` bytes from `offset`; an error is a whole sentence.
    fn read(&self, offset: u64, len: u64) -> Result<&[u8], String>;

    /// Whether the bytes are in a file of that name, so that a text may refer to them. A program's own are nowhere
    /// else.
    fn is_file(&self) -> bool {
        true
    }

    /// Its size in bytes, found without reading them; an error is a whole sentence.
    fn size(&self) -> Result<u64, String>;

    /// Appends `len` bytes from `offset` to a file; a source that is a file lets the system copy.
    ///
    /// # Errors
    /// What the source or the file says.
    fn copy_to(&self, offset: u64, len: u64, to: &mut File) -> io::Result<()> {
        to.write_all(self.read(offset, len).map_err(io::Error::other)?)
    }
}

/// Bytes that are made when they are first asked for, from an encoding that isn't the IR's.
pub trait Deferred: Send + Sync {
    /// Makes the bytes; an error is a whole sentence.
    fn load(&self) -> Result<Vec<u8>, String>;
}

/// Bytes of a file.
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
    /// Appends the bytes to a file, by the system if it can copy between both.
    ///
    /// # Errors
    /// What the source or the file says.
    pub fn copy_to(&self, to: &mut File) -> io::Result<()> {
        self.source.copy_to(self.offset, self.len, to)
    }
}

/// The place and form of a constant's bytes.
pub enum Payload {
    /// Bytes in memory.
    Inline(Box<[u8]>),
    /// Bytes in the mapped model file.
    Mapped(FileRange),
    /// Bytes in another file.
    External(FileRange),
    /// Bytes to be made of an encoding of its own in the mapped model file.
    Deferred {
        /// The decoder.
        load: Box<dyn Deferred>,
        /// The number of bytes that it makes.
        len: u64,
    },
    /// One element, `count` times.
    Splat {
        /// The element type: elements of less than a byte are packed, strings have a table.
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

    /// Data made of bytes in memory.
    pub fn inline(bytes: impl Into<Box<[u8]>>) -> Arc<ConstantData> {
        ConstantData::new(Payload::Inline(bytes.into()))
    }

    /// The place and form of the bytes.
    pub fn payload(&self) -> &Payload {
        &self.payload
    }

    /// The number of bytes of all elements.
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

    /// The ABI's name for the place of the bytes.
    pub fn storage(&self) -> Storage {
        match &self.payload {
            Payload::Inline(_) => Storage::INLINE,
            Payload::Mapped(_) | Payload::Deferred { .. } => Storage::MAPPED,
            Payload::External(_) => Storage::EXTERNAL,
            Payload::Splat { .. } => Storage::SPLAT,
        }
    }

    /// The place of bytes that are in a file of their own.
    pub fn external(&self) -> Option<&FileRange> {
        self.in_file()
            .filter(|_| self.storage() == Storage::EXTERNAL)
    }

    /// The place of bytes that are in a file as they are.
    pub fn in_file(&self) -> Option<&FileRange> {
        match &self.payload {
            Payload::Mapped(range) | Payload::External(range) => Some(range),
            _ => None,
        }
    }

    /// The place of bytes that a text may refer to by the file's name.
    pub fn in_named_file(&self) -> Option<&FileRange> {
        self.in_file().filter(|range| range.source.is_file())
    }

    /// All bytes, made or mapped at the first call.
    ///
    /// # Errors
    /// If the bytes can't be made or read; a whole sentence.
    pub fn bytes(&self) -> Result<&[u8], String> {
        let made = match &self.payload {
            Payload::Inline(bytes) => return Ok(bytes),
            Payload::Mapped(range) | Payload::External(range) => {
                return range.source.read(range.offset, range.len);
            }
            Payload::Deferred { load, .. } => self.made.get_or_init(|| Ok(load.load()?.into())),
            Payload::Splat { .. } => {
                let spread = || self.splat().map_or(Ok(Box::default()), spread);
                self.made.get_or_init(spread)
            }
        };
        made.as_deref().map_err(String::clone)
    }

    /// A hash of the bytes. Of many only the first, some in the middle and the last are read, and a
    /// splat isn't spread for it.
    ///
    /// # Errors
    /// If the bytes can't be made or read; a whole sentence.
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

    /// The element type, the element and the number of elements of a splat.
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

    /// The bytes that all bytes repeat, if they are known without being spread.
    fn pattern(&self) -> Option<&[u8]> {
        let (dtype, element, _) = self.splat()?;
        let whole = dtype.bits() % 8 == 0 && dtype != DType::STRING;
        (whole && !element.is_empty()).then_some(element)
    }

    /// Whether both hold the same bytes. Cheap where they share them, and for splats.
    ///
    /// # Errors
    /// If the bytes can't be made or read; a whole sentence.
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

/// Integers as the bytes of a tensor; `None` if they don't fit its element type.
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

/// The size in bytes up to which constants are hashed whole.
const WHOLE: u64 = 4096;

/// The size in bytes of each of the three parts that are hashed of larger ones.
const PART: u64 = 1024;

fn repeats(element: &[u8], bytes: &[u8]) -> bool {
    bytes.chunks(element.len()).all(|chunk| chunk == element)
}

/// The element type, the element and the number of elements of a splat.
type Splat<'a> = (DType, &'a [u8], u64);

/// The number of bytes of a splat.
fn splat_len((dtype, element, count): Splat<'_>) -> u64 {
    let text = (element.len() as u64).saturating_sub(TABLE);
    match dtype.byte_len(count) {
        Some(len) => len,
        None if dtype == DType::STRING => count.saturating_mul(8 + text).saturating_add(8),
        None => (element.len() as u64).saturating_mul(count),
    }
}

/// The size in bytes of the table of one string.
const TABLE: u64 = 16;

/// The size in bytes up to which a splat is written out in memory.
const MAX_SPREAD: u64 = 1 << 30;

/// The bytes of all elements of a splat; an error if they are too many.
fn spread(splat: Splat<'_>) -> Result<Box<[u8]>, String> {
    let (dtype, element, count) = splat;
    let len = splat_len(splat);
    if len > MAX_SPREAD {
        return Err(format!(
            "A splat of {len} bytes isn't written out in memory; {MAX_SPREAD} is the limit."
        ));
    }
    let mut all = Vec::new();
    let room = usize::try_from(len).ok();
    let Some(len) = room.filter(|&len| all.try_reserve_exact(len).is_ok()) else {
        return Err(format!("A constant of {len} bytes doesn't fit in memory."));
    };
    let mut pattern = element;
    let packed: [u8; 8];
    let bits = dtype.bits();
    if let (1..8, Some(&code)) = (bits, element.first()) {
        // Eight elements are a whole number of bytes.
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
    // The bits behind the last element are 0.
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

/// The number of elements of a shape; `None` if a dim is negative or there are too many.
pub fn element_count(shape: &[i64]) -> Option<u64> {
    shape.iter().try_fold(1_u64, |all, &dim| {
        u64::try_from(dim).ok().and_then(|dim| all.checked_mul(dim))
    })
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

/// An element of less than a byte, of the stream of bits that all are: the lowest bit comes first.
pub fn unpack_bits(bytes: &[u8], at: u64, bits: u32) -> u8 {
    let start = at * u64::from(bits);
    let byte = |at: u64| u16::from(bytes.get(at as usize).copied().unwrap_or(0));
    let window = byte(start / 8) | byte(start / 8 + 1) << 8;
    (window >> (start % 8)) as u8 & ((1 << bits) - 1)
}

/// Appends an element of less than a byte to the stream of bits of the `at` elements before it.
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
    fn packed_splats_and_strings_are_what_their_elements_would_be() {
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
    fn equal_bytes_are_the_same_however_they_are_kept() {
        let hash = |data: &ConstantData| data.hash().unwrap();
        for count in [0, 5, 3000, 100_000] {
            let splat = splat_of(DType::I32, &[1, 2, 3, 4], count);
            let mut bytes = [1, 2, 3, 4].repeat(count as usize);
            let dense = ConstantData::inline(bytes.clone());
            assert!(splat.same(&dense).unwrap() && dense.same(&splat).unwrap());
            assert_eq!(hash(&splat), hash(&dense));
            // What isn't read for the hash is compared.
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
        // Packed ones are spread.
        let packed = splat_of(DType::U4, &[3], 5);
        let dense = ConstantData::inline([0x33, 0x33, 3]);
        assert!(packed.same(&dense).unwrap() && hash(&packed) == hash(&dense));
        // A splat too large for memory has a hash, and is told from others.
        let huge = |element| splat(&[element; 8], u64::MAX / 16);
        assert_eq!(hash(&huge(0)), hash(&huge(0)));
        assert!(!huge(0).same(&huge(1)).unwrap());
    }

    #[test]
    fn a_splat_is_spread_when_asked_for() {
        assert_eq!(splat(&[1, 2], 5).bytes().unwrap(), [1, 2].repeat(5));
        assert_eq!(splat(&[1, 2], 0).bytes().unwrap(), [0; 0]);
        assert_eq!(splat(&[], 7).bytes().unwrap(), [0; 0]);
        let huge = splat(&[0; 8], u64::MAX / 2);
        let error = huge.bytes().unwrap_err();
        assert!(error.contains("isn't written out in memory"), "{error}");
    }
}
