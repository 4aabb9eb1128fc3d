//! Groups of files that are written to a staging directory and committed together.

use std::fs::{self, File};
use std::io;
use std::io::ErrorKind::{AlreadyExists, InvalidInput, PermissionDenied};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::TempPath;

use crate::temporary::{TemporaryDirectory, placement_lock};
use crate::{directory_of, lock_directory, same_contents};

/// The name of the main file in its staging directory.
const MAIN: &str = "0";

/// A staging directory next to the final path of a file. The file and its companions are written there.
#[derive(Default)]
pub struct Staging {
    target: PathBuf,
    directory: PathBuf,
    owned: Option<TemporaryDirectory>,
    files: usize,
}

/// Files that are written but not yet committed. The owner of the staging directory commits them.
///
/// Renaming the main file is the commit point. Before it all existing files are unchanged, after it all new ones are
/// visible.
#[derive(Serialize, Deserialize)]
pub struct Staged {
    /// The staging directory. The committing process sets it.
    #[serde(skip)]
    staging: Staging,
    /// The length of the main file in bytes.
    len: u64,
    /// The companions, whose final paths don't exist yet.
    new: Vec<StagedFile>,
    /// Whether to sync all files to disk.
    durable: bool,
    #[serde(skip)]
    lock: Option<File>,
}

/// A companion of the main file.
#[derive(Serialize, Deserialize)]
pub struct StagedFile {
    /// Its final path, relative to the main file's directory.
    pub to: PathBuf,
    /// Its name in the staging directory.
    pub name: String,
    /// The length in bytes.
    pub len: u64,
}

impl Staging {
    /// Creates a staging directory for the file at `target`, with an empty main file. If another process will commit
    /// the file, `given` is the directory that it has created.
    ///
    /// # Errors
    /// The system's error.
    pub fn new(target: &Path, given: Option<&Path>) -> io::Result<Staging> {
        let mut staging = Staging {
            target: target.to_path_buf(),
            ..Staging::default()
        };
        match given {
            Some(directory) => staging.directory = directory.to_owned(),
            None => {
                let own = TemporaryDirectory::in_directory(directory_of(target))?;
                File::create_new(own.path().join(MAIN))?;
                staging.directory = own.path().to_path_buf();
                staging.owned = Some(own);
            }
        }
        Ok(staging)
    }

    /// Whether this process created the directory, and will commit the files.
    pub fn is_own(&self) -> bool {
        self.owned.is_some()
    }

    /// Returns the directory, which is in the main file's directory.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Opens and truncates the main file.
    ///
    /// # Errors
    /// The system's error.
    pub fn main_file(&self) -> io::Result<File> {
        let mut options = File::options();
        options.read(true).write(true).truncate(true);
        options.open(self.directory.join(MAIN))
    }

    /// Creates a companion file, and returns it with its name.
    ///
    /// # Errors
    /// The system's error.
    pub fn new_file(&mut self) -> io::Result<(File, String)> {
        self.files += 1;
        let name = self.files.to_string();
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        Ok((options.open(self.directory.join(&name))?, name))
    }

    /// Finishes writing. `new` are companions. `lock` excludes other writers that would choose these files differently.
    ///
    /// # Errors
    /// The system's error.
    pub fn finish(
        self,
        new: Vec<StagedFile>,
        durable: bool,
        lock: Option<File>,
    ) -> io::Result<Staged> {
        Ok(Staged {
            len: self.directory.join(MAIN).metadata()?.len(),
            staging: self,
            new,
            durable,
            lock,
        })
    }
}

impl Staged {
    /// Sets the staging directory of this process for files that another process wrote.
    pub fn at(self, staging: Staging) -> Staged {
        Staged { staging, ..self }
    }

    /// Returns the final path of the main file.
    pub fn target(&self) -> &Path {
        &self.staging.target
    }

    /// Returns the total size of all files in bytes.
    pub fn bytes(&self) -> u64 {
        self.len + self.new.iter().map(|file| file.len).sum::<u64>()
    }

    /// Commits all files, and removes the files `old`, which are relative to the main file's directory.
    ///
    /// # Errors
    /// If a file was changed by something else, or the system's error. Existing files are then unchanged. Only one
    /// error is returned after the commit: that the new name may be lost if power fails.
    pub fn commit(mut self, old: &[PathBuf]) -> io::Result<()> {
        let target = &self.staging.target;
        let dir = directory_of(target);
        let main = self.staging.directory.join(MAIN);
        let rights = main.symlink_metadata()?.permissions();
        self.check(&main, self.len)?;
        for file in &self.new {
            // Another process may have named them.
            let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
            if !file
                .to
                .components()
                .chain(Path::new(&file.name).components())
                .all(is_plain)
            {
                return Err(io::Error::other(
                    "a data file is outside of the model's directory",
                ));
            }
            let path = self.staging.directory.join(&file.name);
            fs::set_permissions(&path, rights.clone())?;
            self.check(&path, file.len)?;
        }
        #[cfg(unix)]
        if let Ok(known) = target.symlink_metadata()
            && known.is_file()
        {
            fs::set_permissions(&main, known.permissions())?;
        }
        let _lock = self.lock.take().or_else(|| lock_directory(dir));
        let _guard = placement_lock();
        // Opened before the commit, because the process may be out of descriptors.
        let directory = self.open_directory(dir)?;
        let mut committed: Vec<PathBuf> = Vec::new();
        let put = self
            .commit_new(dir, &mut committed)
            .and_then(|()| fs::rename(&main, target));
        if let Err(error) = put {
            // The first error is returned; errors of the rollback are ignored.
            committed.iter().rev().for_each(|path| _ = remove(path));
            return Err(error);
        }
        let synced = directory.as_ref().map_or(Ok(()), sync);
        // Obsolete files that can't be removed are harmless.
        old.iter().for_each(|name| _ = remove(&dir.join(name)));
        synced.map_err(|error| {
            let message = format!("the file was written, but could not be synced to disk: {error}");
            io::Error::new(error.kind(), message)
        })
    }

    /// Checks that a file has the expected type and length, and syncs it to disk.
    fn check(&self, path: &Path, len: u64) -> io::Result<()> {
        let metadata = path.symlink_metadata()?;
        #[cfg(unix)]
        let links = std::os::unix::fs::MetadataExt::nlink(&metadata);
        #[cfg(not(unix))]
        let links = 1;
        if !metadata.is_file() || metadata.len() != len || links != 1 {
            return Err(io::Error::other("another program changed the file"));
        }
        match self.durable {
            true => File::options().write(true).open(path)?.sync_all(),
            false => Ok(()),
        }
    }

    /// Renames the companions to their final paths, and creates their directories.
    fn commit_new(&self, dir: &Path, committed: &mut Vec<PathBuf>) -> io::Result<()> {
        for file in &self.new {
            let to = dir.join(&file.to);
            let parents: Vec<&Path> = file.to.ancestors().skip(1).collect();
            for parent in parents.into_iter().rev() {
                let parent = dir.join(parent);
                if parent.symlink_metadata().is_err() {
                    fs::create_dir(&parent)?;
                    committed.push(parent);
                }
            }
            let staged = TempPath::try_from_path(self.staging.directory.join(&file.name))?;
            match staged.persist_noclobber(&to) {
                Ok(()) => committed.push(to),
                // Another run has already committed the same file.
                Err(error)
                    if error.error.kind() == AlreadyExists
                        && same_contents(&mut File::open(&error.path)?, &mut File::open(&to)?)? => {
                }
                Err(error) => return Err(error.error),
            }
        }
        for path in committed {
            self.open_directory(directory_of(path))?
                .as_ref()
                .map_or(Ok(()), sync)?;
        }
        Ok(())
    }

    /// Opens a directory to sync it. Returns `None` if the files needn't be durable, or the system can't open
    /// directories.
    fn open_directory(&self, dir: &Path) -> io::Result<Option<File>> {
        if !self.durable {
            return Ok(None);
        }
        match File::open(dir) {
            Ok(directory) => Ok(Some(directory)),
            Err(error) if is_unsupported(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Removes a file, or an empty directory.
fn remove(path: &Path) -> io::Result<()> {
    match path.is_dir() {
        true => fs::remove_dir(path),
        false => fs::remove_file(path),
    }
}

/// Syncs the entries of a directory to disk.
fn sync(directory: &File) -> io::Result<()> {
    match directory.sync_all() {
        Err(error) if is_unsupported(&error) => Ok(()),
        done => done,
    }
}

/// Returns `true` for errors of systems that can't open or sync directories.
fn is_unsupported(error: &io::Error) -> bool {
    cfg!(not(unix)) || matches!(error.kind(), PermissionDenied | InvalidInput)
}
