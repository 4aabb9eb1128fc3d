//! The files behind a module: the model file, mapped once, and those its tensors point to.
//!
//! A mapped file must not change while the module lives: the system may show either version, and a
//! file cut short ends the process when its lost pages are read.

use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use memmap2::Mmap;
use passdock_ir::{ByteSource, Module, Payload};
use rustc_hash::FxHashSet;

use crate::error::{OnnxError, Result};
use crate::wire::Message;

/// A model file's bytes.
pub(crate) struct Source {
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
        Ok(Source {
            path: path.to_owned(),
            name: whole(path),
            bytes,
        })
    }

    /// Bytes that are at hand, as if they stood in the file `path`.
    pub(crate) fn in_memory(path: &Path, bytes: Vec<u8>) -> Source {
        Source {
            path: path.to_owned(),
            name: whole(path),
            bytes: Bytes::Owned(bytes),
        }
    }

    /// Where it was read from.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All of it.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }

    /// A part of it, as a message.
    pub(crate) fn message(&self, at: u64, len: u64) -> Option<Message<'_>> {
        let end = at.checked_add(len)?;
        let range = usize::try_from(at).ok()?..usize::try_from(end).ok()?;
        Some(Message {
            bytes: self.bytes().get(range)?,
            at,
        })
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

/// What a module was read from.
pub(crate) struct ModelFile {
    pub(crate) source: Arc<Source>,
    /// The files that its tensors point to.
    pub(crate) external: Vec<Arc<ExternalFile>>,
}

/// A file that constants are in, mapped when its bytes are first asked for.
pub(crate) struct ExternalFile {
    /// Where relative locations begin, and what may not be left.
    directory: PathBuf,
    /// As the model spells it.
    location: String,
    name: String,
    bytes: OnceLock<std::result::Result<Bytes, String>>,
}

/// Puts the files that a module's tensors point to beside a model that is written to another
/// directory than it was read from: the tensors go on pointing to them.
///
/// # Errors
/// If a file can't be read or written, or isn't inside the directory of the model it belongs to.
pub fn copy_external(module: &Module, directory: &Path) -> std::result::Result<(), OnnxError> {
    let Some(source) = module.source() else {
        return Ok(());
    };
    let Some(model) = source.downcast_ref::<ModelFile>() else {
        return Ok(());
    };
    if model.external.is_empty() {
        return Ok(());
    }
    let mut used = FxHashSet::default();
    for f in module.functions() {
        for (id, _) in f.live_constants() {
            if let Payload::External { source, .. } = f.constant_data(id).payload() {
                used.insert(source.name().to_owned());
            }
        }
    }
    for file in model
        .external
        .iter()
        .filter(|file| used.contains(&file.name))
    {
        let from = file.resolve().map_err(OnnxError::new)?;
        let to = directory.join(&file.location);
        let failed = |error| OnnxError::io(&to, "written", &error);
        if to.canonicalize().is_ok_and(|known| known == from) {
            continue;
        }
        // Whole or not at all: a reader of the old file isn't disturbed.
        let mut part = to.clone().into_os_string();
        part.push(".passdock-part");
        std::fs::create_dir_all(to.parent().unwrap_or(directory)).map_err(failed)?;
        std::fs::copy(&from, &part).map_err(failed)?;
        std::fs::rename(&part, &to).map_err(failed)?;
    }
    Ok(())
}

/// The file that IR text beside `text` names, opened when its bytes are first asked for. The text's
/// author may name any file by its whole path; a relative one has to stay in the text's directory.
pub fn open_external(text: &Path, file: &str) -> Arc<dyn ByteSource> {
    let whole = Path::new(file);
    let location = match (whole.is_absolute(), whole.parent(), whole.file_name()) {
        (true, Some(directory), Some(name)) => {
            return Arc::new(ExternalFile::new(directory, &name.to_string_lossy()));
        }
        _ => file,
    };
    Arc::new(ExternalFile::beside(text, location))
}

impl ExternalFile {
    /// The file at `location`, relative to a model's directory; opened later.
    pub(crate) fn beside(model: &Path, location: &str) -> ExternalFile {
        match model.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => ExternalFile::new(parent, location),
            _ => ExternalFile::new(Path::new("."), location),
        }
    }

    fn new(directory: &Path, location: &str) -> ExternalFile {
        ExternalFile {
            directory: directory.to_owned(),
            location: location.to_owned(),
            name: whole(&directory.join(location)),
            bytes: OnceLock::new(),
        }
    }

    /// Where it is, once it is known to be inside the directory.
    fn resolve(&self) -> std::result::Result<PathBuf, String> {
        let location = &self.location;
        let relative = Path::new(location);
        let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if location.is_empty() || !relative.components().all(inside) {
            return Err(format!(
                "The external data file {location:?} isn't inside the model's directory, so it \
                 isn't read."
            ));
        }
        let directory = self
            .directory
            .canonicalize()
            .map_err(|error| self.failed(error))?;
        let path = directory
            .join(relative)
            .canonicalize()
            .map_err(|error| self.failed(error))?;
        if !path.starts_with(&directory) {
            return Err(format!(
                "The external data file {location:?} is a link out of the model's directory, so it \
                 isn't read."
            ));
        }
        Ok(path)
    }

    fn failed(&self, error: std::io::Error) -> String {
        format!(
            "The external data file {:?} can't be read: {error}.",
            self.location
        )
    }

    fn open(&self) -> std::result::Result<Bytes, String> {
        map(&self.resolve()?).map_err(|error| self.failed(error))
    }
}

impl ByteSource for ExternalFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn read(&self, offset: u64, len: u64) -> std::result::Result<&[u8], String> {
        match self.bytes.get_or_init(|| self.open()) {
            Ok(Bytes::Mapped(map)) => read(map, &self.location, offset, len),
            Ok(Bytes::Owned(bytes)) => read(bytes, &self.location, offset, len),
            Err(error) => Err(error.clone()),
        }
    }
}

/// A path that means the same from every directory.
fn whole(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    whole.display().to_string()
}

fn read<'a>(
    bytes: &'a [u8],
    name: &str,
    offset: u64,
    len: u64,
) -> std::result::Result<&'a [u8], String> {
    let end = offset
        .checked_add(len)
        .filter(|&end| end <= bytes.len() as u64);
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
