//! Tensors of `.npy` files, as `numpy.save` writes them, and of `.npz` files, which are archives of them.
//!
//! A file is a short header with a Python dictionary, and the elements after it. They are returned as constants
//! of the IR have them: little-endian and row by row. The memory that is used depends on the length of a file, and
//! not on its header.
//!
//! NumPy has no bfloat16; the two raw bytes (`<V2`) that `ml_dtypes` saves are read as it. Strings, records
//! and Python objects aren't read.

mod header;
mod zip;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use passdock_abi::DType;

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
/// their names. Whatever else is in the archive is left out; checksums aren't looked at.
pub fn read_npz_from(bytes: &[u8]) -> Result<Vec<(String, Array)>, Error> {
    let mut arrays = Vec::new();
    for entry in zip::entries(bytes)? {
        let Some(name) = entry.name.strip_suffix(".npy") else {
            continue;
        };
        let array = entry.read().and_then(|data| read_from(&data[..]));
        let array = array.map_err(|error| Error::Entry(entry.name.clone(), Box::new(error)))?;
        arrays.push((name.to_owned(), array));
    }
    Ok(arrays)
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
