//! The external data files of the output model.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use passdock_ir::{ConstantData, Payload};
use rustc_hash::FxHashMap;

use crate::file::external::ExternalFile;

/// The size from which data is aligned to pages, so that it can be mapped by itself.
pub(super) const LARGE: u64 = 1024 * 1024;
pub(super) const PAGE: u64 = 4096;
pub(super) const ALIGNMENT: u64 = 64;

/// An external data file of the output model.
pub struct DataFile {
    pub(super) location: String,
    pub(super) content: Content,
    pub(super) can_move: bool,
}

pub(super) enum Content {
    /// A file of the input model.
    Whole(Arc<ExternalFile>),
    /// Parts in ascending order of offsets, with gaps for alignment.
    Packed {
        parts: Vec<(u64, Arc<ConstantData>)>,
        len: u64,
    },
}

impl DataFile {
    /// Returns the location, relative to the model's directory, as in the model.
    #[must_use]
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Returns the size in bytes; `None` for a file of the input model that isn't found.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match &self.content {
            Content::Whole(file) => Some(file.resolve().ok()?.metadata().ok()?.len()),
            Content::Packed { len, .. } => Some(*len),
        }
    }

    /// Whether the file at a path already is this one, so that it needn't be written.
    ///
    /// # Errors
    /// If the file with the data can't be read.
    pub fn is_at(&self, path: &Path) -> io::Result<bool> {
        match &self.content {
            Content::Whole(file) => Ok(file.is_at(path)),
            Content::Packed { parts, len } => {
                let Ok(path) = dunce::canonicalize(path) else {
                    return Ok(false);
                };
                if path.metadata()?.len() != *len {
                    return Ok(false);
                }
                let mut here: FxHashMap<&str, bool> = FxHashMap::default();
                Ok(parts.iter().all(|(at, data)| {
                    data.external().is_some_and(|range| {
                        let file = range.source.name();
                        let is_here = || dunce::canonicalize(file).is_ok_and(|own| own == path);
                        range.offset == *at && *here.entry(file).or_insert_with(is_here)
                    })
                }))
            }
        }
    }

    /// Whether the model can reference the file under another location: only initializers of the main graph use it.
    #[must_use]
    pub fn can_move(&self) -> bool {
        self.can_move
    }

    /// Whether the file at a path has the same bytes. Returns `None` for a new file, whose contents are determined when
    /// it is written.
    ///
    /// # Errors
    /// If one of the files can't be read.
    pub fn is_equal(&self, path: &Path) -> io::Result<Option<bool>> {
        match &self.content {
            Content::Whole(file) => file.is_equal(path).map(Some),
            Content::Packed { .. } => Ok(None),
        }
    }

    /// Creates the file at an unused path: as a hard link to the file of the input model, or as a copy if the system
    /// can't create one.
    ///
    /// # Errors
    /// If data can't be read or the file can't be written.
    pub fn create_at(&self, path: &Path) -> io::Result<()> {
        if let Content::Whole(file) = &self.content
            && file
                .resolve()
                .is_ok_and(|own| fs::hard_link(own, path).is_ok())
        {
            return Ok(());
        }
        self.write_file(&mut File::create_new(path)?)
    }

    /// Writes the contents to an empty file. Data in other files is copied by the system.
    ///
    /// # Errors
    /// If data can't be read or the file can't be written.
    pub fn write_file(&self, to: &mut File) -> io::Result<()> {
        let parts = match &self.content {
            Content::Whole(file) => return file.copy_all(to),
            Content::Packed { parts, .. } => parts,
        };
        let mut end = 0;
        for (offset, data) in parts {
            to.write_all(&[0; PAGE as usize][..(offset - end) as usize])?;
            copy_data(data, to)?;
            end = offset + data.len();
        }
        Ok(())
    }
}

/// Appends a constant's bytes to a file. Bytes in a file are copied by the system.
pub(super) fn copy_data(data: &ConstantData, to: &mut File) -> io::Result<()> {
    match data.in_file() {
        Some(range) => range.copy_to(to),
        None => write_data(data, to),
    }
}

/// Writes a constant's bytes. A splat is written in parts.
pub(super) fn write_data(data: &ConstantData, to: &mut impl Write) -> io::Result<()> {
    const PART: usize = 1 << 16;
    let element = match data.payload() {
        // Elements below a byte are packed, and strings have a table of offsets.
        Payload::Splat { dtype, element, .. } if dtype.bits() >= 8 => element,
        _ => return to.write_all(data.bytes().map_err(io::Error::other)?),
    };
    let part = element.repeat(PART / element.len().max(1) + 1);
    let mut remaining = data.len();
    while remaining > 0 && !part.is_empty() {
        let len = remaining.min(part.len() as u64);
        to.write_all(&part[..len as usize])?;
        remaining -= len;
    }
    Ok(())
}
