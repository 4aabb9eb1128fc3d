//! Temporary directories.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use tempfile::{Builder, TempDir};

use crate::{directory_of, lock_directory, locked};

/// The prefix and suffix of the names of temporary directories, which are hidden.
const NAME: (&str, &str) = (".passdock-", ".part");

/// The directories to remove when a caught signal terminates the process.
static DIRECTORIES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A lock that is held during commits, so that a signal doesn't interrupt them.
static PLACEMENT_LOCK: Mutex<()> = Mutex::new(());

/// Removes all temporary directories of this process and prevents further commits. Waits for a commit in progress.
/// Called by a thread that is about to terminate the process because of a signal.
pub fn give_up() {
    std::mem::forget(placement_lock());
    for path in locked(&DIRECTORIES).iter() {
        // Errors are ignored: the process is about to terminate.
        let _ = fs::remove_dir_all(path);
    }
}

/// Returns a guard that makes [`give_up`] wait until it is dropped.
pub(crate) fn placement_lock() -> MutexGuard<'static, ()> {
    locked(&PLACEMENT_LOCK)
}

/// A directory that is removed with its contents on drop. If the process is killed, the next run that creates one in
/// the same parent removes it.
pub struct TemporaryDirectory {
    dir: TempDir,
    /// A lock that shows other runs that the directory is in use.
    _lock: Option<File>,
}

impl TemporaryDirectory {
    /// Creates a directory in the system's temporary directory, with permissions for its owner only.
    ///
    /// # Errors
    /// The system's error.
    pub fn new() -> io::Result<TemporaryDirectory> {
        TemporaryDirectory::make(&std::env::temp_dir(), &mut Builder::new())
    }

    /// Creates a directory in `parent`, where it can later be renamed.
    ///
    /// # Errors
    /// The system's error.
    pub fn in_directory(parent: &Path) -> io::Result<TemporaryDirectory> {
        let mut builder = Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        TemporaryDirectory::make(parent, &mut builder)
    }

    fn make(parent: &Path, builder: &mut Builder<'_, '_>) -> io::Result<TemporaryDirectory> {
        remove_stale(parent);
        loop {
            let dir = builder.prefix(NAME.0).suffix(NAME.1).tempdir_in(parent)?;
            locked(&DIRECTORIES).insert(dir.path().to_owned());
            // Some systems can't lock directories. Leftovers aren't removed there.
            let lock = lock_directory(dir.path());
            let directory = TemporaryDirectory { dir, _lock: lock };
            // Another run may have removed the directory before it was locked.
            if directory.path().exists() {
                return Ok(directory);
            }
        }
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Keeps the directory and renames it to `to`, which must not exist.
    ///
    /// # Errors
    /// The system's error.
    pub fn rename(mut self, to: &Path) -> io::Result<()> {
        let _guard = placement_lock();
        self.put(to)
    }

    /// Renames the directory to `to` and keeps it.
    fn put(&mut self, to: &Path) -> io::Result<()> {
        fs::rename(self.path(), to)?;
        self.dir.disable_cleanup(true);
        Ok(())
    }

    /// Keeps the directory and replaces another one with it.
    ///
    /// # Errors
    /// The system's error. The other directory is then unchanged. If it can't be restored, it is kept in a directory
    /// `.passdock-*` next to its path.
    pub fn replace(mut self, other: &Path) -> io::Result<()> {
        let mut aside = TemporaryDirectory::in_directory(directory_of(other))?;
        let old = aside.path().join("old");
        let _guard = placement_lock();
        fs::rename(other, &old)?;
        let placed = self.put(other);
        if placed.is_err() && fs::rename(&old, other).is_err() {
            // With another name, a later run doesn't remove it.
            let kept = aside.path().with_extension("old");
            _ = aside.put(&kept);
            aside.dir.disable_cleanup(true);
        }
        placed
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        locked(&DIRECTORIES).remove(self.path());
    }
}

/// Removes directories that killed runs left: hidden ones that no process has locked. This is done once per parent,
/// because listing it for each file would be slow.
fn remove_stale(parent: &Path) {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let parent = std::path::absolute(parent).unwrap_or_else(|_| parent.to_owned());
    if !locked(&SEEN).insert(parent.clone()) {
        return;
    }
    // Entries that can't be listed or removed are left for a later run.
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        let is_own_file = name.starts_with(NAME.0) && name.ends_with(NAME.1);
        if is_own_file
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Ok(directory) = File::open(entry.path())
            && directory.try_lock().is_ok()
        {
            _ = fs::remove_dir_all(entry.path());
        }
    }
}
