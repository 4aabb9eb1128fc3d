//! The target of an output file, fixed before any work is done for it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::directory_of;
use crate::staged::Staging;

/// The place that a file is written to.
pub enum Target {
    /// A regular file, existing or new.
    File(PathBuf),
    /// A file that can't be replaced: a pipe, a device.
    Special(PathBuf),
}

impl Target {
    /// The target at a path. That a file can be made there is tried, so that a missing or read-only directory is
    /// an error before any work. Links are followed, so that a link to a model stays one.
    ///
    /// # Errors
    /// If no file can be made there.
    pub fn new(path: &Path) -> io::Result<Target> {
        // A pass may change the current directory.
        let whole = std::path::absolute(path)?;
        let place = match fs::metadata(&whole) {
            Ok(known) if known.is_dir() => return Err(io::Error::other("it is a directory")),
            Ok(known) if known.is_file() => dunce::canonicalize(&whole)?,
            Ok(_) => return Ok(Target::Special(whole)),
            Err(_) => end_of_links(&whole)?,
        };
        if !directory_of(&place).is_dir() {
            // The path as the user wrote it, if no link leads elsewhere.
            let given = if place == whole { path } else { &place };
            let dir = directory_of(given).display();
            let message = format!("there is no directory `{dir}`");
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        Target::file(place)
    }

    /// The target at a path whose name the user didn't choose. What is there is replaced, and a link isn't followed:
    /// another user may have made it.
    ///
    /// # Errors
    /// If no file can be made there.
    pub fn replacing(path: &Path) -> io::Result<Target> {
        if path.symlink_metadata().is_ok_and(|known| known.is_dir()) {
            return Err(io::Error::other("it is a directory"));
        }
        let dir = dunce::canonicalize(directory_of(path))?;
        Target::file(dir.join(path.file_name().unwrap_or_default()))
    }

    fn file(place: PathBuf) -> io::Result<Target> {
        tempfile::tempfile_in(directory_of(&place)).map_err(plain)?;
        Ok(Target::File(place))
    }

    /// Writes the file, and puts it in its place when it is complete; `durable`: when it is on the
    /// disk.
    ///
    /// # Errors
    /// What `fill` answers, and what the system says.
    pub fn write(
        self,
        durable: bool,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Target::File(place) => {
                let staging = Staging::new(&place, None)?;
                fill(&mut staging.main_file()?)?;
                let staged = staging.finish(Vec::new(), Vec::new(), durable, None)?;
                staged.commit()
            }
            Target::Special(path) => fill(&mut open_special(&path)?),
        }
    }
}

/// The system's error without the path that a library adds to it.
pub(crate) fn plain(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    }
}

/// Opens a pipe or device for writing.
///
/// # Errors
/// What the system says.
pub fn open_special(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// The end of a chain of links that leads to no file yet.
///
/// # Errors
/// If a link leads to itself.
pub fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    /// The most links that are followed: as many as the system follows.
    const MOST: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST {
        match fs::read_link(&path) {
            Ok(to) => path = directory_of(&path).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("it is a link to itself"))
}
