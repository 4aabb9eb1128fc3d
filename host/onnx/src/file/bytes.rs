//! The bytes of a file: a memory map, or bytes in memory.
//!
//! A mapped file must not change while the module exists. If it does, either version may be read; if it is truncated,
//! reading the lost pages crashes the process.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use memmap2::Mmap;

/// The bytes of a file: mapped, or in memory.
pub(crate) enum Bytes {
    /// The open file is used to copy from. Its cursor may be anywhere.
    Mapped(Mmap, Mutex<File>),
    Owned(Vec<u8>),
}

/// Returns the absolute form of a path.
pub(crate) fn whole(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    whole.display().to_string()
}

impl Bytes {
    /// Maps a file. A pipe, which can't be mapped, is read; devices and directories are errors.
    pub(crate) fn open(path: &Path) -> io::Result<Bytes> {
        let mut file = passdock_files::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            return Ok(Bytes::Owned(bytes));
        }
        if metadata.len() == 0 {
            return Ok(Bytes::Owned(Vec::new()));
        }
        // SAFETY: the map is read-only and outlives the slices of it. The documentation requires that the file isn't
        // changed meanwhile; all bytes are validated as untrusted input.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Bytes::Mapped(map, Mutex::new(file)))
    }

    /// Opens a file that may be replaced while its bytes are used. Windows doesn't allow that for a mapped file, so
    /// there the file is read.
    pub(crate) fn open_replaceable(path: &Path) -> io::Result<Bytes> {
        match cfg!(windows) {
            true => std::fs::read(path).map(Bytes::Owned),
            false => Bytes::open(path),
        }
    }

    pub(crate) fn all(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map, _) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }

    /// Reads a range. `name` is the file's name for the error.
    pub(crate) fn read(
        &self,
        name: impl FnOnce() -> String,
        offset: u64,
        len: u64,
    ) -> std::result::Result<&[u8], String> {
        let bytes = self.all();
        let end = offset
            .checked_add(len)
            .filter(|&end| end <= bytes.len() as u64);
        match end {
            Some(end) => Ok(&bytes[offset as usize..end as usize]),
            None => Err(format!(
                "could not read {len} bytes at offset {offset} of `{}`, which has {} bytes",
                name(),
                bytes.len()
            )),
        }
    }

    /// Appends a range to a file. The range of a mapped file is copied by the system (`copy_file_range`).
    pub(crate) fn copy_to(
        &self,
        name: &str,
        offset: u64,
        len: u64,
        to: &mut File,
    ) -> io::Result<()> {
        let bytes = self
            .read(|| name.to_owned(), offset, len)
            .map_err(io::Error::other)?;
        let Bytes::Mapped(_, file) = self else {
            return io::Write::write_all(to, bytes);
        };
        let file = file.lock().unwrap_or_else(PoisonError::into_inner);
        (&*file).seek(SeekFrom::Start(offset))?;
        let copied = io::copy(&mut (&*file).take(len), to)?;
        if copied < len {
            let what = format!("`{name}` was truncated while it was read");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
        }
        Ok(())
    }
}
