//! The files behind a module: the model file, mapped once, and those its tensors point to.
//!
//! A mapped file must not change while the module lives: the system may show either version, and a
//! file cut short ends the process when its lost pages are read.

use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use memmap2::Mmap;
use passdock_ir::ByteSource;

use crate::error::{OnnxError, Result};
use crate::wire::Message;

/// A model file's bytes.
pub struct Source {
    path: PathBuf,
    name: String,
    bytes: Bytes,
}

enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Source {
    /// Maps a file.
    pub(crate) fn open(path: &Path) -> Result<Source> {
        let bytes = map(path).map_err(|error| OnnxError::io(path, "read", &error))?;
        Ok(Source { path: path.to_owned(), name: path.display().to_string(), bytes })
    }

    /// Bytes that are at hand, as if they stood in the file `path`.
    pub(crate) fn in_memory(path: &Path, bytes: Vec<u8>) -> Source {
        let name = path.display().to_string();
        Source { path: path.to_owned(), name, bytes: Bytes::Owned(bytes) }
    }

    /// Where it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }

    /// A part of it, as a message.
    pub(crate) fn message(&self, at: u64, len: u64) -> Option<Message<'_>> {
        let end = at.checked_add(len)?;
        let range = usize::try_from(at).ok()?..usize::try_from(end).ok()?;
        Some(Message { bytes: self.bytes().get(range)?, at })
    }
}

impl ByteSource for Source {
    fn name(&self) -> &str {
        &self.name
    }

    fn read(&self, offset: u64, len: u64) -> std::result::Result<&[u8], String> {
        read(self.bytes(), &self.name, offset, len)
    }
}

/// A file that tensors of a model point to, mapped when its bytes are first asked for.
pub(crate) struct ExternalFile {
    /// The model's directory.
    directory: PathBuf,
    /// As the model spells it.
    location: String,
    bytes: OnceLock<std::result::Result<Bytes, String>>,
}

impl ExternalFile {
    /// The file at `location`, relative to a model's directory; opened later.
    pub(crate) fn new(model: &Path, location: &str) -> ExternalFile {
        let directory = match model.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        ExternalFile { directory, location: location.to_owned(), bytes: OnceLock::new() }
    }

    fn open(&self) -> std::result::Result<Bytes, String> {
        let location = &self.location;
        let relative = Path::new(location);
        let stays = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if location.is_empty() || !stays {
            return Err(format!(
                "The external data file {location:?} isn't inside the model's directory, so it isn't read."
            ));
        }
        let failed = |error| format!("The external data file {location:?} can't be read: {error}.");
        let directory = self.directory.canonicalize().map_err(failed)?;
        let path = directory.join(relative).canonicalize().map_err(failed)?;
        if !path.starts_with(&directory) {
            return Err(format!(
                "The external data file {location:?} is a link out of the model's directory, so it isn't read."
            ));
        }
        map(&path).map_err(failed)
    }
}

impl ByteSource for ExternalFile {
    fn name(&self) -> &str {
        &self.location
    }

    fn read(&self, offset: u64, len: u64) -> std::result::Result<&[u8], String> {
        match self.bytes.get_or_init(|| self.open()) {
            Ok(Bytes::Mapped(map)) => read(map, &self.location, offset, len),
            Ok(Bytes::Owned(bytes)) => read(bytes, &self.location, offset, len),
            Err(error) => Err(error.clone()),
        }
    }
}

fn read<'a>(
    bytes: &'a [u8],
    name: &str,
    offset: u64,
    len: u64,
) -> std::result::Result<&'a [u8], String> {
    let end = offset.checked_add(len).filter(|&end| end <= bytes.len() as u64);
    match end {
        Some(end) => Ok(&bytes[offset as usize..end as usize]),
        None => Err(format!(
            "{name:?} has {} bytes, and {len} from byte {offset} were asked for.",
            bytes.len()
        )),
    }
}

fn map(path: &Path) -> std::io::Result<Bytes> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        // A pipe or a device can't be mapped; a directory fails here.
        return Ok(Bytes::Owned(std::fs::read(path)?));
    }
    if metadata.len() == 0 {
        return Ok(Bytes::Owned(Vec::new()));
    }
    // SAFETY: the map is read-only and lives as long as the slices of it. That nobody changes the
    // file meanwhile is what the documentation asks of the user; all bytes are checked as hostile.
    let map = unsafe { Mmap::map(&file)? };
    Ok(Bytes::Mapped(map))
}

/// A file that constants are in, by the name that a model's file (ONNX or text) gives it. It is
/// mapped when it is first read, and has to be inside the directory of `model`.
pub fn open_external(model: &Path, location: &str) -> std::sync::Arc<dyn ByteSource> {
    std::sync::Arc::new(ExternalFile::new(model, location))
}
