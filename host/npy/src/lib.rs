//! Tensors of `.npy` files, as `numpy.save` writes them, and of `.npz` files, which are archives of them.
//!
//! A file is a short header with a Python dictionary, and the elements after it. They are returned as constants
//! of the IR have them: little-endian and row by row. The memory that is used depends on the length of a file, and
//! not on its header.
//!
//! NumPy has no bfloat16; the two raw bytes (`<V2`) that `ml_dtypes` saves are read as it. Strings, records
//! and Python objects aren't read.

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
    /// The type of its elements.
    pub dtype: DType,
    /// Its sizes; none: one element.
    pub shape: Vec<i64>,
    /// Its elements, little-endian and row by row.
    pub data: Vec<u8>,
}

/// The reason why a file gives no tensor: the end of a sentence.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system says no.
    #[error("it can't be read: {0}")]
    Io(#[from] io::Error),
    /// Something else is in it.
    #[error("it isn't a `.npy` file")]
    NotNpy,
    /// Something else is in it.
    #[error("it isn't a `.npz` file")]
    NotNpz,
    /// It is an archive that can't be read.
    #[error("{0}")]
    Zip(String),
    /// An entry of the archive gives no tensor.
    #[error("`{0}` in it gives none: {1}")]
    Entry(String, Box<Error>),
    /// Its header isn't one.
    #[error("its header {0}")]
    Header(String),
    /// Its elements are of a type that tensors don't have.
    #[error("its elements are {0}; numbers and bools can be read")]
    Elements(String),
    /// There are more or fewer elements than the header says.
    #[error("it has {found} bytes of elements where {shape:?} takes {expected}")]
    Size {
        /// The shape.
        shape: Vec<i64>,
        /// The number of bytes that such a tensor takes.
        expected: u64,
        /// The number of bytes there are, or one more than there should be.
        found: u64,
    },
}

/// Reads the tensor in a file.
pub fn read(path: &Path) -> Result<Array, Error> {
    read_from(File::open(path)?)
}

/// Reads the tensors of the bytes of a `.npz` file, as `numpy.savez` and `numpy.savez_compressed` write them, with
/// their names. Other files in the archive are left out.
pub fn read_npz_from(bytes: &[u8]) -> Result<Vec<(String, Array)>, Error> {
    let archive = ZipArchive::from_slice(bytes).map_err(|_| Error::NotNpz)?;
    let mut entries = archive.entries();
    let mut arrays = Vec::new();
    for _ in 0..archive.entries_hint() {
        let entry = entries.next_entry().ok().flatten();
        let entry = entry.ok_or_else(|| Error::Zip("its directory is cut off".to_owned()))?;
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

/// Returns the content of an entry of an archive.
fn unpacked(
    archive: &ZipSliceArchive<&[u8]>,
    entry: &ZipFileHeaderRecord<'_>,
) -> Result<Vec<u8>, Error> {
    let broken = |reason: &str| Error::Zip(reason.to_owned());
    if entry.flags().is_encrypted() {
        return Err(broken("it is encrypted"));
    }
    let packed = archive.get_entry(entry.wayfinder());
    let packed = packed.map_err(|_| broken("it is cut off"))?;
    let expected = packed.claim_verifier();
    let data = match entry.compression_method() {
        CompressionMethod::STORE => packed.data().to_vec(),
        CompressionMethod::DEFLATE => {
            let limit = usize::try_from(expected.uncompressed_size).unwrap_or(usize::MAX);
            decompress_to_vec_with_limit(packed.data(), limit)
                .map_err(|_| broken("its compressed data is broken"))?
        }
        other => {
            let method = other.as_u16();
            let reason = format!("it is packed by method {method}; 0 and 8 can be read");
            return Err(Error::Zip(reason));
        }
    };
    let found = ZipVerification {
        crc: rawzip::crc32(&data),
        uncompressed_size: data.len() as u64,
    };
    let checked = expected.valid(found);
    checked.map_err(|error| Error::Zip(format!("its data is broken: {error}")))?;
    Ok(data)
}

/// Reads a tensor as [`read`] does, of anything that gives bytes.
pub fn read_from(mut file: impl Read) -> Result<Array, Error> {
    let header = Header::read(&mut file)?;
    let wrong_size = |found| Error::Size {
        shape: header.shape.clone(),
        expected: header.byte_len,
        found,
    };
    let mut data = Vec::new();
    // One byte more shows that there are more.
    let found = file
        .take(header.byte_len.saturating_add(1))
        .read_to_end(&mut data)?;
    if found as u64 != header.byte_len {
        return Err(wrong_size(found as u64));
    }
    let len = header.dtype.byte_len(1).unwrap_or(1) as usize;
    if header.is_big_endian {
        // A complex element is two numbers.
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

/// Puts elements that are column by column row by row.
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
