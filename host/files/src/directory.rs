//! Output directories, which are seen complete or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::broker::{OutputRequest, broker_for};
use crate::directory_of;
use crate::temporary::TemporaryDirectory;

/// A directory that is being written, and is renamed to its final path when it is complete.
pub struct OutputDirectory {
    unfinished: TemporaryDirectory,
    to: PathBuf,
    marker: String,
}

impl OutputDirectory {
    /// Creates the directory for the final path `to`, and its parents. An existing directory with the file `marker` is
    /// replaced.
    ///
    /// # Errors
    /// If something else exists at the path, or the system's error.
    pub fn new(to: &Path, marker: &str) -> io::Result<OutputDirectory> {
        let to = std::path::absolute(to)?;
        if to.symlink_metadata().is_ok() && !to.join(marker).is_file() {
            let message = format!("the path exists, and has no `{marker}`");
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        let unfinished = match broker_for(&to) {
            Some(_) => TemporaryDirectory::new()?,
            None => {
                fs::create_dir_all(directory_of(&to))?;
                TemporaryDirectory::in_directory(directory_of(&to))?
            }
        };
        Ok(OutputDirectory {
            unfinished,
            to,
            marker: marker.to_owned(),
        })
    }

    /// The path at which the files are written.
    pub fn path(&self) -> &Path {
        self.unfinished.path()
    }

    /// The absolute final path.
    pub fn final_path(&self) -> &Path {
        &self.to
    }

    /// Renames the directory to its final path. An existing one is removed afterwards.
    ///
    /// # Errors
    /// The system's error.
    pub fn finish(self) -> io::Result<()> {
        if let Some(broker) = broker_for(&self.to) {
            let request = OutputRequest::Directory {
                from: self.path().to_owned(),
                path: self.to,
                marker: self.marker,
            };
            return broker(request).map(drop);
        }
        match self.to.symlink_metadata() {
            Ok(_) => self.unfinished.replace(&self.to),
            Err(_) => self.unfinished.rename(&self.to),
        }
    }
}
