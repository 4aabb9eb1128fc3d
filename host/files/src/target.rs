//! The final path of an output file, resolved before any work is done for it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::broker::{OutputRequest, broker_for, declare_output};
use crate::directory_of;
use crate::staged::Staging;
use crate::temporary::TemporaryDirectory;

/// The resolved path of an output file.
pub enum Target {
    /// A regular file, existing or new.
    File(PathBuf),
    /// A file that can't be replaced: a pipe, a device.
    Special(PathBuf),
}

impl Target {
    /// Resolves a path, following links, so that a link to a model stays a link. Creates a temporary file in the
    /// directory, so that a missing or read-only directory is reported before any work.
    ///
    /// # Errors
    /// If no file can be created there.
    pub fn new(path: &Path) -> io::Result<Target> {
        // Absolute, because a pass may change the current directory.
        let whole = std::path::absolute(path)?;
        let resolved = match fs::metadata(&whole) {
            Ok(known) if known.is_dir() => return Err(io::Error::other("is a directory")),
            Ok(known) if known.is_file() => dunce::canonicalize(&whole)?,
            Ok(_) => {
                passdock_sandbox::allow_write(&whole);
                return Ok(Target::Special(whole));
            }
            Err(_) => end_of_links(&whole)?,
        };
        if !directory_of(&resolved).is_dir() {
            // Show the path as the user wrote it, unless a link leads elsewhere.
            let given = if resolved == whole { path } else { &resolved };
            let dir = directory_of(given).display();
            let message = format!("directory `{dir}` does not exist");
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        Target::file(resolved)
    }

    /// Resolves a path that the user didn't choose. An existing file is replaced, and links aren't followed: another
    /// user may have created them.
    ///
    /// # Errors
    /// If no file can be created there.
    pub fn replacing(path: &Path) -> io::Result<Target> {
        if path.symlink_metadata().is_ok_and(|known| known.is_dir()) {
            return Err(io::Error::other("is a directory"));
        }
        let dir = dunce::canonicalize(directory_of(path))?;
        Target::file(dir.join(path.file_name().unwrap_or_default()))
    }

    fn file(resolved: PathBuf) -> io::Result<Target> {
        declare_output(&resolved);
        match broker_for(&resolved) {
            Some(broker) => {
                let path = resolved.clone();
                broker(OutputRequest::Check { path })?;
            }
            None => check_writable(&resolved)?,
        }
        Ok(Target::File(resolved))
    }

    /// Writes the file, and renames it to its path when it is complete. With `durable`, it is synced to disk first.
    ///
    /// # Errors
    /// The error of `fill`, or the system's.
    pub fn write(
        self,
        durable: bool,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Target::File(path) => match broker_for(&path) {
                Some(broker) => {
                    let directory = TemporaryDirectory::new()?;
                    let from = directory.path().join("file");
                    fill(&mut File::create_new(&from)?)?;
                    let request = OutputRequest::File {
                        from,
                        path,
                        durable,
                    };
                    broker(request).map(drop)
                }
                None => write_file(&path, durable, fill),
            },
            Target::Special(path) => fill(&mut open_special(&path)?),
        }
    }
}

/// Checks that a file can be created or replaced.
pub(crate) fn check_writable(path: &Path) -> io::Result<()> {
    if path
        .metadata()
        .is_ok_and(|file| file.permissions().readonly())
    {
        return Err(io::Error::new(
            ErrorKind::PermissionDenied,
            "the file is read-only",
        ));
    }
    tempfile::tempfile_in(directory_of(path))
        .map(drop)
        .map_err(plain)
}

/// Writes a file next to its final path, and renames it when it is complete.
pub(crate) fn write_file(
    path: &Path,
    durable: bool,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let staging = Staging::new(path, None)?;
    fill(&mut staging.main_file()?)?;
    let staged = staging.finish(Vec::new(), durable, None)?;
    staged.commit(&[])
}

/// Returns the system's error without the path that the `tempfile` crate adds.
pub(crate) fn plain(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    }
}

/// Opens a pipe or a device for writing.
///
/// # Errors
/// The system's error.
pub fn open_special(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// Follows a chain of links that doesn't lead to an existing file, and returns its end.
///
/// # Errors
/// If the links form a cycle.
pub fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    /// Maximum number of links to follow, as on Linux.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = directory_of(&path).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("the link points to itself"))
}
