//! The model file of a module.
//!
//! A mapped file must not change while the module exists. If it does, either version may be read; if it is truncated,
//! reading the lost pages crashes the process.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use passdock_ir::{ByteSource, SourceSpan};

use super::bytes::{Bytes, whole};
use crate::format::error::{OnnxError, Result};
use crate::format::wire::Message;

/// The bytes of a model file.
pub(crate) struct Source {
    path: PathBuf,
    name: String,
    bytes: Bytes,
    /// Whether the bytes come from the file at `path`, mapped or read.
    is_file: bool,
}

impl Source {
    /// Maps a file. On Windows, where a mapped file can't be replaced, the file is read.
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

    /// Wraps bytes in memory, which are treated as the contents of the file `path`.
    pub(crate) fn in_memory(path: &Path, bytes: Vec<u8>) -> Source {
        Source {
            path: path.to_owned(),
            name: whole(path),
            bytes: Bytes::Owned(bytes),
            is_file: false,
        }
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns all bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.all()
    }

    /// Returns a span as a message; `None` if the span isn't in the file.
    pub(crate) fn message(&self, origin: SourceSpan) -> Option<Message<'_>> {
        let SourceSpan { start: at, len } = origin;
        let end = at.checked_add(len)?;
        let range = usize::try_from(at).ok()?..usize::try_from(end).ok()?;
        let bytes = self.bytes().get(range)?;
        Some(Message { bytes, at })
    }
}

/// Returns the path of a model for IR text. If the path is a link out of its directory, the text's reader would reject
/// it, so the target's path is returned.
fn spelled(path: &Path) -> String {
    let directory = |path: &Path| dunce::canonicalize(path.parent()?).ok();
    let here = std::path::absolute(path).ok();
    match dunce::canonicalize(path) {
        Ok(resolved)
            if here
                .and_then(|here| directory(&here))
                .is_some_and(|here| !resolved.starts_with(here)) =>
        {
            whole(&resolved)
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
