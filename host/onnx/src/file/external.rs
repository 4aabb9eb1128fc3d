//! External data files of a model: which are allowed, and reading them.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use passdock_files::{directory_of, same_contents};
use passdock_ir::ByteSource;

use super::bytes::{Bytes, whole};
use crate::format::error::{OnnxError, Result};

/// The files that a model may reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Files in the model's directory or below. Absolute paths, `..` and links to the outside are rejected.
    #[default]
    ModelDirectory,
    /// Any file.
    Anywhere,
}

/// A file with constants' data, which is mapped on first use.
pub(crate) struct ExternalFile {
    /// The directory that relative locations start from, and that they may not leave.
    directory: PathBuf,
    /// The location as in the model.
    location: String,
    pub(super) reach: Reach,
    name: String,
    bytes: OnceLock<std::result::Result<Bytes, String>>,
}

impl ExternalFile {
    /// Creates the file at `location`, relative to a model's directory. It is opened later.
    pub(crate) fn in_directory(model: &Path, location: &str, reach: Reach) -> ExternalFile {
        ExternalFile::new(directory_of(model), location, reach)
    }

    pub(super) fn new(directory: &Path, location: &str, reach: Reach) -> ExternalFile {
        let file = ExternalFile {
            directory: directory.to_owned(),
            location: location.to_owned(),
            reach,
            name: whole(&directory.join(location)),
            bytes: OnceLock::new(),
        };
        if passdock_sandbox::is_prepared()
            && let Ok(path) = file.resolve()
        {
            passdock_sandbox::allow_read(path);
        }
        file
    }

    /// Returns the location as in the model.
    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    /// Returns the path for messages, relative to the same directory as the model's path.
    pub(crate) fn display_path(&self) -> String {
        match Path::new(&self.location).is_absolute() {
            true => self.location.clone(),
            false => format!("{}/{}", self.directory.display(), self.location),
        }
    }

    /// Checks that the file may be read, and returns its path.
    pub(crate) fn resolve(&self) -> std::result::Result<PathBuf, String> {
        let path = match self.reach {
            Reach::ModelDirectory => inside(&self.directory, &self.location),
            Reach::Anywhere => dunce::canonicalize(self.directory.join(&self.location)),
        };
        let path = path.map_err(|error| self.failed(error))?;
        // Other files have no length to check, and opening a pipe would block.
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(path),
            Ok(_) => Err(self.failed(io::Error::other("not a regular file"))),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, error: io::Error) -> String {
        let display_path = self.display_path();
        let help = match error.kind() {
            io::ErrorKind::PermissionDenied if error.get_ref().is_some() => format!(
                " `{}`; pass `--allow-outside-data` to allow it",
                self.directory.display()
            ),
            _ => String::new(),
        };
        format!("could not read external data file `{display_path}`: {error}{help}")
    }

    fn bytes(&self) -> std::result::Result<&Bytes, String> {
        let open = || Bytes::open(&self.resolve()?).map_err(|error| self.failed(error));
        self.bytes.get_or_init(open).as_ref().map_err(String::clone)
    }

    /// Appends the whole file to another file.
    pub(crate) fn copy_all(&self, to: &mut File) -> io::Result<()> {
        let bytes = self.bytes().map_err(io::Error::other)?;
        bytes.copy_to(&self.display_path(), 0, bytes.all().len() as u64, to)
    }

    /// Whether the file at a path has the same bytes.
    pub(crate) fn is_equal(&self, path: &Path) -> io::Result<bool> {
        let own = self.resolve().map_err(io::Error::other)?;
        same_contents(&mut File::open(own)?, &mut File::open(path)?)
    }

    /// Whether this is the file at a path.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let here = self.resolve();
        here.is_ok_and(|here| dunce::canonicalize(path).is_ok_and(|path| path == here))
    }
}

impl ByteSource for ExternalFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn location(&self) -> &str {
        &self.location
    }

    fn read(&self, offset: u64, len: u64) -> std::result::Result<&[u8], String> {
        let bytes = self.bytes()?;
        bytes.read(|| self.display_path(), offset, len)
    }

    fn copy_to(&self, offset: u64, len: u64, to: &mut File) -> io::Result<()> {
        let bytes = self.bytes().map_err(io::Error::other)?;
        bytes.copy_to(&self.display_path(), offset, len, to)
    }

    fn size(&self) -> std::result::Result<u64, String> {
        let metadata = self.resolve()?.metadata();
        metadata
            .map(|metadata| metadata.len())
            .map_err(|error| self.failed(error))
    }
}

/// Whether a location is relative and has no `..`.
fn is_below(location: &str) -> bool {
    let mut parts = Path::new(location).components();
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Returns the path of an existing file at `location` in a directory, with links resolved.
///
/// # Errors
/// `PermissionDenied` with a message if the path leaves the directory; otherwise the system's error.
pub(crate) fn inside(directory: &Path, location: &str) -> io::Result<PathBuf> {
    let outside = |what| Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    if location.is_empty() || !is_below(location) {
        return outside("not inside the model's directory");
    }
    let directory = directory.canonicalize()?;
    let path = directory.join(location).canonicalize()?;
    if !path.starts_with(&directory) {
        return outside("a link out of the model's directory");
    }
    // Simplified only here: on Windows, a longer path may need the verbatim form even if its beginning doesn't.
    Ok(dunce::simplified(&path).to_owned())
}

/// Returns the path of a data file of a model that is written to `directory`. The data file's directory need not exist.
///
/// # Errors
/// If the path leaves the directory.
pub fn resolve_external(directory: &Path, location: &str) -> Result<PathBuf> {
    let path = directory.join(location);
    let failed = |error: io::Error| OnnxError::io(&path, "write", &error);
    let reject = |what| Err(failed(io::Error::other(what)));
    if !is_below(location) {
        return reject("not inside the model's directory");
    }
    let (Some(parent), Some(_)) = (path.parent(), Path::new(location).file_name()) else {
        return reject("not a file name");
    };
    let root = directory.canonicalize().map_err(failed)?;
    let resolved = parent
        .ancestors()
        .find_map(|known| known.canonicalize().ok());
    match resolved.is_some_and(|resolved| resolved.starts_with(root)) {
        true => Ok(path),
        false => reject("a link out of the model's directory"),
    }
}
