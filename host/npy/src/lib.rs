//! Reader for `.npy` files, as written by `numpy.save`, and for `.npz` files, which are archives of `.npy` files.
//!
//! A file is a short header with a Python dictionary, followed by the elements. They are returned in the format of the
//! IR's constants: little-endian and in row-major order. Memory use depends on the length of the file, not on its
//! header.
//!
//! NumPy has no bfloat16. The raw two-byte elements (`<V2`) that `ml_dtypes` saves are read as bfloat16. Strings,
//! records and Python objects aren't supported.

mod header;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use miniz_oxide::inflate::decompress_to_vec_with_limit;
use passdock_abi::DType;
use rawzip::{
    CompressionMethod, ZipArchive, ZipFileHeaderRecord, ZipSliceArchive, ZipVerification,
};

use header::Header;

/// A tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The element type.
    pub dtype: DType,
    /// The sizes of the dims; empty for a scalar.
    pub shape: Vec<i64>,
    /// The elements, little-endian and in row-major order.
    pub data: Vec<u8>,
}

/// An error of reading a tensor, displayed as a reason.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An I/O error.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file has another format.
    #[error("not a `.npy` file")]
    NotNpy,
    /// The file has another format.
    #[error("not a `.npz` file")]
    NotNpz,
    /// The archive can't be read.
    #[error("{0}")]
    Zip(String),
    /// An entry of the archive isn't a valid tensor.
    #[error("invalid entry `{0}`: {1}")]
    Entry(String, Box<Error>),
    /// The header is invalid.
    #[error("invalid header: {0}")]
    Header(String),
    /// The element type isn't supported.
    #[error("unsupported elements: {0}; expected numbers or bools")]
    Elements(String),
    /// The number of bytes doesn't match the header.
    #[error("expected {expected} bytes of elements for shape {shape:?}, found {found}")]
    Size {
        /// The shape.
        shape: Vec<i64>,
        /// The size of such a tensor in bytes.
        expected: u64,
        /// The number of bytes in the file, but at most one more than expected.
        found: u64,
    },
}

/// Reads the tensor in a `.npy` file.
pub fn read(path: &Path) -> Result<Array, Error> {
    read_from(File::open(path)?)
}

/// Reads the tensors of a `.npz` file and their names from its bytes. The file may be written by `numpy.savez` or
/// `numpy.savez_compressed`. Files of other formats in the archive are skipped.
pub fn read_npz_from(bytes: &[u8]) -> Result<Vec<(String, Array)>, Error> {
    let archive = ZipArchive::from_slice(bytes).map_err(|_| Error::NotNpz)?;
    let mut entries = archive.entries();
    let mut arrays = Vec::new();
    for _ in 0..archive.entries_hint() {
        let entry = entries.next_entry().ok().flatten();
        let entry = entry.ok_or_else(|| Error::Zip("truncated archive directory".to_owned()))?;
        let path = String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned();
        let Some(name) = path.strip_suffix(".npy") else {
            continue;
        };
        let array = unpacked(&archive, &entry).and_then(|data| read_from(&data[..]));
        let array = array.map_err(|error| Error::Entry(path.clone(), Box::new(error)))?;
        arrays.push((name.to_owned(), array));
    }
    Ok(arrays)
}

/// Decompresses an entry of an archive.
fn unpacked(
    archive: &ZipSliceArchive<&[u8]>,
    entry: &ZipFileHeaderRecord<'_>,
) -> Result<Vec<u8>, Error> {
    let broken = |reason: &str| Error::Zip(reason.to_owned());
    if entry.flags().is_encrypted() {
        return Err(broken("encrypted"));
    }
    let packed = archive.get_entry(entry.wayfinder());
    let packed = packed.map_err(|_| broken("truncated"))?;
    let expected = packed.claim_verifier();
    let data = match entry.compression_method() {
        CompressionMethod::STORE => packed.data().to_vec(),
        CompressionMethod::DEFLATE => {
            let limit = usize::try_from(expected.uncompressed_size).unwrap_or(usize::MAX);
            decompress_to_vec_with_limit(packed.data(), limit)
                .map_err(|_| broken("corrupt compressed data"))?
        }
        other => {
            let method = other.as_u16();
            let reason = format!("unsupported compression method {method}; expected 0 or 8");
            return Err(Error::Zip(reason));
        }
    };
    let found = ZipVerification {
        crc: rawzip::crc32(&data),
        uncompressed_size: data.len() as u64,
    };
    let checked = expected.valid(found);
    checked.map_err(|error| Error::Zip(format!("corrupt data: {error}")))?;
    Ok(data)
}

/// Reads a tensor from a reader, as [`read`] does.
pub fn read_from(mut file: impl Read) -> Result<Array, Error> {
    let header = Header::read(&mut file)?;
    let size_mismatch = |found| Error::Size {
        shape: header.shape.clone(),
        expected: header.byte_len,
        found,
    };
    let mut data = Vec::new();
    // One more byte shows whether the file is too long.
    let found = file
        .take(header.byte_len.saturating_add(1))
        .read_to_end(&mut data)?;
    if found as u64 != header.byte_len {
        return Err(size_mismatch(found as u64));
    }
    let len = header.dtype.byte_len(1).unwrap_or(1) as usize;
    if header.is_big_endian {
        // A complex element consists of two numbers.
        let is_complex = [DType::C64, DType::C128].contains(&header.dtype);
        let number = if is_complex { len / 2 } else { len };
        data.chunks_exact_mut(number).for_each(<[u8]>::reverse);
    }
    if header.dtype == DType::BOOL {
        data.iter_mut()
            .for_each(|byte| *byte = u8::from(*byte != 0));
    }
    if header.by_columns {
        data = by_rows(&data, &header.shape, len);
    }
    Ok(Array {
        dtype: header.dtype,
        shape: header.shape,
        data,
    })
}

/// Converts elements from column-major to row-major order.
fn by_rows(data: &[u8], shape: &[i64], len: usize) -> Vec<u8> {
    let mut rows = Vec::with_capacity(data.len());
    for at in 0..data.len() / len {
        let (mut rest, mut from, mut stride) = (at, 0, data.len() / len);
        for &size in shape.iter().rev() {
            stride /= size as usize;
            from += rest % size as usize * stride;
            rest /= size as usize;
        }
        rows.extend_from_slice(&data[from * len..][..len]);
    }
    rows
}
