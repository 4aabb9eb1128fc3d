//! The place of one output file, fixed before any work is done for it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::leftovers::{self, Used};
use super::{Commit, Unfinished, directory_of};

/// Where a file goes. Links are followed, so that a link to a model stays one.
pub enum Target {
    /// To a regular file, there or not.
    File(PathBuf, Unfinished),
    /// To something that can't be replaced: a pipe, a device.
    Special(PathBuf),
}

impl Target {
    /// Where a path leads. The file is made here, so that a directory which isn't there or takes no
    /// file is an error before any work.
    ///
    /// What dead runs have left in its directory goes: `used` as for [`leftovers::remove`].
    ///
    /// # Errors
    /// If no file can be made there.
    pub fn new(path: &Path, used: Option<Used>) -> io::Result<Target> {
        // A pass may change the current directory.
        let whole = std::path::absolute(path)?;
        let place = match fs::metadata(&whole) {
            Ok(known) if known.is_dir() => return Err(io::Error::other("it is a directory")),
            Ok(known) if known.is_file() => fs::canonicalize(&whole)?,
            Ok(_) => return Ok(Target::Special(whole)),
            Err(_) => end_of_links(&whole)?,
        };
        if !directory_of(&place).is_dir() {
            // As the user wrote it, if no link leads elsewhere.
            let given = if place == whole { path } else { &place };
            let dir = directory_of(given).display();
            let message = format!("there is no directory `{dir}`");
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        let path = place;
        leftovers::remove(directory_of(&path), used);
        let file = Unfinished::in_dir(directory_of(&path))?;
        Ok(Target::File(path, file))
    }

    /// Writes the file, and puts it in its place when it is whole; `durable`: when it is on the disk.
    ///
    /// # Errors
    /// What `fill` answers, and what the system says.
    pub fn write(
        self,
        durable: bool,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Target::File(path, mut file) => {
                fill(file.file())?;
                let commit = Commit {
                    durable,
                    ..Commit::default()
                };
                commit.put(file, &path)
            }
            Target::Special(path) => fill(&mut open_special(&path)?),
        }
    }
}

/// Opens a pipe or device to write to.
///
/// # Errors
/// What the system says.
pub fn open_special(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// Where links lead that lead to nothing yet.
///
/// # Errors
/// If a link leads to itself.
pub fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    /// As many as the system follows.
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
