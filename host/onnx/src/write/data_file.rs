//! The files that go beside the model file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use passdock_ir::{ConstantData, Payload};
use rustc_hash::FxHashMap;

use crate::file::external::ExternalFile;

/// Data from this size on can be mapped on its own.
pub(super) const LARGE: u64 = 1024 * 1024;
pub(super) const PAGE: u64 = 4096;
pub(super) const WORD: u64 = 64;

/// A file that goes beside the model file.
pub struct DataFile {
    pub(super) location: String,
    pub(super) content: Content,
    pub(super) can_move: bool,
}

pub(super) enum Content {
    /// A file of the model that was read.
    Whole(Arc<ExternalFile>),
    /// Parts, ascending by offset, with gaps.
    Packed {
        parts: Vec<(u64, Arc<ConstantData>)>,
        len: u64,
    },
}

impl DataFile {
    /// Its path from the model's directory, as the model spells it.
    #[must_use]
    pub fn location(&self) -> &str {
        &self.location
    }

    /// The number of its bytes; `None` of a file that was read and can't be found any more.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match &self.content {
            Content::Whole(file) => Some(file.resolve().ok()?.metadata().ok()?.len()),
            Content::Packed { len, .. } => Some(*len),
        }
    }

    /// Whether the file at a path is this one already, so that nothing has to be written.
    ///
    /// # Errors
    /// If it can't be told because the file that the data is in can't be read.
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

    /// Whether the model can say another location for it: all that point to it are initializers of the
    /// main graph.
    #[must_use]
    pub fn can_move(&self) -> bool {
        self.can_move
    }

    /// Whether a file holds the same bytes. `None` for one that is put together: that is known when it
    /// is written.
    ///
    /// # Errors
    /// If one of them can't be read.
    pub fn is_equal(&self, path: &Path) -> io::Result<Option<bool>> {
        match &self.content {
            Content::Whole(file) => file.is_equal(path).map(Some),
            Content::Packed { .. } => Ok(None),
        }
    }

    /// Makes it at a free path: as a second name of the file that was read, or as a copy where the
    /// system makes no links.
    ///
    /// # Errors
    /// If data can't be read, or what the system says.
    pub fn place(&self, path: &Path) -> io::Result<()> {
        if let Content::Whole(file) = &self.content
            && file
                .resolve()
                .is_ok_and(|own| fs::hard_link(own, path).is_ok())
        {
            return Ok(());
        }
        self.write_file(&mut File::create_new(path)?)
    }

    /// Writes it to an empty file. What is in a file already, the system copies.
    ///
    /// # Errors
    /// If data can't be read, or what the system says.
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

/// Appends a constant's bytes to a file: by the system, if they are in one.
pub(super) fn copy_data(data: &ConstantData, to: &mut File) -> io::Result<()> {
    match data.in_file() {
        Some(range) => range.copy_to(to),
        None => write_data(data, to),
    }
}

/// Writes a constant's bytes; those of a splat are never in memory all at once.
pub(super) fn write_data(data: &ConstantData, to: &mut impl Write) -> io::Result<()> {
    const PART: usize = 1 << 16;
    let element = match data.payload() {
        // Elements of less than a byte are packed, and strings have a table.
        Payload::Splat { dtype, element, .. } if dtype.bits() >= 8 => element,
        _ => return to.write_all(data.bytes().map_err(io::Error::other)?),
    };
    let part = element.repeat(PART / element.len().max(1) + 1);
    let mut left = data.len();
    while left > 0 && !part.is_empty() {
        let len = left.min(part.len() as u64);
        to.write_all(&part[..len as usize])?;
        left -= len;
    }
    Ok(())
}
