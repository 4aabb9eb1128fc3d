//! The bytes of a file, mapped once.
//!
//! A mapped file must not change while the module lives: the system may show either version, and a
//! file cut short ends the process when its lost pages are read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use memmap2::Mmap;

/// The bytes of a file, or bytes that are at hand.
pub(crate) enum Bytes {
    /// The file stays open, to be copied from; whoever copies moves its cursor.
    Mapped(Mmap, Mutex<File>),
    Owned(Vec<u8>),
}

/// A path that means the same from every directory.
pub(crate) fn whole(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    whole.display().to_string()
}

impl Bytes {
    /// Maps a file, or reads what can't be mapped: a pipe; a device or a directory fails.
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
        // SAFETY: the map is read-only and lives as long as the slices of it. That nobody changes the
        // file meanwhile is what the documentation asks of the user; all bytes are checked as hostile.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Bytes::Mapped(map, Mutex::new(file)))
    }

    /// Opens a file in whose place another one may be put while the bytes are used. Windows allows
    /// that of no mapped file, so there it is read.
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

    /// A part; `name` says the file's, for the error.
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
                "{:?} has {} bytes, and {len} from byte {offset} were asked for.",
                name(),
                bytes.len()
            )),
        }
    }

    /// Appends a part to a file: by the system (`copy_file_range`) where there is a file to copy from.
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
            let what = format!("{name:?} was cut short while it was read.");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
        }
        Ok(())
    }
}
