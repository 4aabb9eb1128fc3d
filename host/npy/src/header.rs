//! The header of a `.npy` file: a version, a length, and a Python dictionary,
//! `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.

use std::io::{ErrorKind, Read};

use passdock_abi::DType;

use crate::Error;

const MAGIC: &[u8] = b"\x93NUMPY";
/// The maximum length of a header. NumPy itself accepts at most 10,000 bytes.
const MAX_HEADER: u32 = 1 << 16;
/// The maximum number of dims.
const MAX_RANK: usize = 64;

/// The contents of a header.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<i64>,
    /// The size of all elements in bytes.
    pub(crate) byte_len: u64,
    pub(crate) is_big_endian: bool,
    pub(crate) by_columns: bool,
}

impl Header {
    pub(crate) fn read(file: &mut impl Read) -> Result<Header, Error> {
        let mut read = |bytes: &mut [u8]| match file.read_exact(bytes) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(Error::NotNpy),
            result => result.map_err(Error::Io),
        };
        let mut start = [0; 8];
        read(&mut start)?;
        let [magic @ .., major, _] = start;
        if magic != MAGIC {
            return Err(Error::NotNpy);
        }
        let mut len = [0; 4];
        let width = match major {
            1 => 2,
            2 | 3 => 4,
            other => {
                return Err(invalid(format!("expected version 1 to 3, found {other}")));
            }
        };
        read(&mut len[..width])?;
        let len = u32::from_le_bytes(len);
        if len > MAX_HEADER {
            return Err(invalid(format!(
                "the length of {len} bytes exceeds {MAX_HEADER}"
            )));
        }
        let mut text = vec![0; len as usize];
        read(&mut text)?;
        Header::parse(&String::from_utf8_lossy(&text))
    }

    fn parse(text: &str) -> Result<Header, Error> {
        let descr = field(text, "descr")?;
        let descr = match descr.chars().next() {
            Some('[') => return Err(Error::Elements("records with several fields".to_owned())),
            Some(quote @ ('\'' | '"')) => descr[1..].split_once(quote).map(|(descr, _)| descr),
            _ => None,
        };
        let descr = descr.ok_or_else(|| invalid("invalid `descr`"))?;
        let by_columns = match field(text, "fortran_order")? {
            order if order.starts_with("True") => true,
            order if order.starts_with("False") => false,
            _ => return Err(invalid("invalid `fortran_order`")),
        };
        let shape = field(text, "shape")?
            .strip_prefix('(')
            .and_then(|shape| shape.split_once(')'));
        let sizes = shape
            .map_or("", |(sizes, _)| sizes)
            .split(',')
            .map(str::trim);
        // Python 2 writes long integers with this suffix.
        let sizes = sizes
            .filter(|size| !size.is_empty())
            .map(|size| size.trim_end_matches('L'));
        let shape: Option<Vec<i64>> =
            shape.and_then(|_| sizes.map(|size| size.parse().ok()).collect());
        let shape =
            shape.filter(|shape| shape.len() <= MAX_RANK && shape.iter().all(|&size| size >= 0));
        let shape = shape.ok_or_else(|| invalid("invalid `shape`"))?;
        let dtype = element(descr)?;
        // The other sizes of an empty tensor are limited, too.
        let sizes = shape.iter().filter(|&&size| size != 0);
        let bytes = sizes
            .map(|&size| size as u64)
            .try_fold(dtype.byte_len(1).unwrap_or(0), u64::checked_mul);
        let bytes = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
        let bytes = bytes.ok_or_else(|| invalid(format!("shape {shape:?} is too large")))?;
        Ok(Header {
            byte_len: if shape.contains(&0) { 0 } else { bytes },
            dtype,
            is_big_endian: descr.starts_with('>'),
            by_columns: by_columns && shape.len() > 1,
            shape,
        })
    }
}

/// Returns the text after a field's name and colon.
fn field<'t>(text: &'t str, name: &str) -> Result<&'t str, Error> {
    let after = |quote: char| {
        let (_, after) = text.split_once(&format!("{quote}{name}{quote}"))?;
        Some(after.trim_start().strip_prefix(':')?.trim_start())
    };
    let value = after('\'').or_else(|| after('"'));
    value.ok_or_else(|| invalid(format!("missing `{name}`")))
}

fn invalid(what: impl Into<String>) -> Error {
    Error::Header(what.into())
}

/// Parses a NumPy element type.
fn element(descr: &str) -> Result<DType, Error> {
    let kind = descr.trim_start_matches(['<', '>', '|', '=']);
    Ok(match kind {
        "b1" => DType::BOOL,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "u1" => DType::U8,
        "u2" => DType::U16,
        "u4" => DType::U32,
        "u8" => DType::U64,
        "f2" => DType::F16,
        "V2" => DType::BF16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        "c8" => DType::C64,
        "c16" => DType::C128,
        _ => {
            return Err(Error::Elements(match kind.chars().next() {
                Some('O') => "Python objects".to_owned(),
                Some('U' | 'S' | 'a') => "strings".to_owned(),
                _ => format!("`{}`", descr.escape_debug()),
            }));
        }
    })
}
