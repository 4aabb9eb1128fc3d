//! The place of one output file, fixed before any work is done for it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::{Commit, Unfinished, directory_of, leftovers};

/// Where a file goes. Links are followed, so that a link to a model stays one.
pub(crate) enum Target {
    /// To a regular file, there or not.
    File(PathBuf, Unfinished),
    /// To something that can't be replaced: a pipe, a device.
    Special(PathBuf),
}

impl Target {
    /// Where a path leads. The file is made here, so that a directory which isn't there or takes no
    /// file is an error before any work.
    pub(crate) fn new(path: &Path) -> io::Result<Target> {
        let path = match fs::metadata(path) {
            Ok(known) if known.is_dir() => return Err(io::Error::other("it is a directory")),
            Ok(known) if known.is_file() => fs::canonicalize(path)?,
            Ok(_) => return Ok(Target::Special(path.to_path_buf())),
            Err(_) => end_of_links(path)?,
        };
        leftovers::remove(directory_of(&path), None);
        let file = Unfinished::in_dir(directory_of(&path))?;
        Ok(Target::File(path, file))
    }

    /// Writes the file, and puts it in its place when it is whole; `durable`: when it is on the disk.
    pub(crate) fn write(
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
pub(crate) fn open_special(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// Where links lead that lead to nothing yet.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
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
