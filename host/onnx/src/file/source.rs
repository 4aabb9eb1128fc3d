//! The file behind a module, mapped once.
//!
//! A mapped file must not change while the module lives: the system may show either version, and a
//! file cut short ends the process when its lost pages are read.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use passdock_ir::{ByteSource, SourceSpan};

use super::bytes::{Bytes, whole};
use crate::format::error::{OnnxError, Result};
use crate::format::wire::Message;

/// A model file's bytes.
pub(crate) struct Source {
    path: PathBuf,
    name: String,
    bytes: Bytes,
    /// Whether the bytes are those of the file, however they were read.
    is_file: bool,
}

impl Source {
    /// Maps a file; on Windows, where a mapped one can't be replaced, it is read.
    pub(crate) fn open(path: &Path) -> Result<Source> {
        let bytes =
            Bytes::open_replaceable(path).map_err(|error| OnnxError::io(path, "read", &error))?;
        Ok(Source {
            path: path.to_owned(),
            name: spelled(path),
            bytes,
            is_file: true,
        })
    }

    /// Bytes that are at hand, as if they stood in the file `path`.
    pub(crate) fn in_memory(path: &Path, bytes: Vec<u8>) -> Source {
        Source {
            path: path.to_owned(),
            name: whole(path),
            bytes: Bytes::Owned(bytes),
            is_file: false,
        }
    }

    /// The path that it was read from.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All of its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.all()
    }

    /// A part of it, as a message; `None` for no part.
    pub(crate) fn message(&self, origin: SourceSpan) -> Option<Message<'_>> {
        let SourceSpan { start: at, len } = origin;
        let end = at.checked_add(len)?;
        let range = usize::try_from(at).ok()?..usize::try_from(end).ok()?;
        let bytes = self.bytes().get(range)?;
        Some(Message { bytes, at })
    }
}

/// The path of a model as a text spells it. A link that leads out of its directory would be refused there, so it is the
/// path of what it leads to.
fn spelled(path: &Path) -> String {
    let beside = |path: &Path| dunce::canonicalize(path.parent()?).ok();
    let here = std::path::absolute(path).ok();
    match dunce::canonicalize(path) {
        Ok(there)
            if here
                .and_then(|here| beside(&here))
                .is_some_and(|here| !there.starts_with(here)) =>
        {
            whole(&there)
        }
        _ => whole(path),
    }
}

impl ByteSource for Source {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_file(&self) -> bool {
        self.is_file
    }

    fn read(&self, offset: u64, len: u64) -> std::result::Result<&[u8], String> {
        self.bytes.read(|| self.name.clone(), offset, len)
    }

    fn copy_to(&self, offset: u64, len: u64, to: &mut File) -> io::Result<()> {
        self.bytes.copy_to(&self.name, offset, len, to)
    }

    fn size(&self) -> std::result::Result<u64, String> {
        Ok(self.bytes().len() as u64)
    }
}
