//! Temporary directories.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use tempfile::{Builder, TempDir};

use crate::{directory_of, lock_directory, locked};

/// The prefix and the suffix of the name of a temporary directory, which is hidden.
const NAME: (&str, &str) = (".passdock-", ".part");

/// The directories that are removed when the process is ended by a signal that it catches.
static DIRECTORIES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The lock that is held while files are put in their places, which a signal doesn't interrupt.
static PLACING: Mutex<()> = Mutex::new(());

/// Removes every temporary directory of this process, and lets no file be put in its place any more. For a thread that
/// is about to end the process because of a signal. Files that are being put in their places get there first.
pub fn give_up() {
    std::mem::forget(placing());
    for path in locked(&DIRECTORIES).iter() {
        // An error is ignored: the process is about to end.
        let _ = fs::remove_dir_all(path);
    }
}

/// A guard that makes [`give_up`] wait until it is dropped.
pub(crate) fn placing() -> MutexGuard<'static, ()> {
    locked(&PLACING)
}

/// A directory that is removed with all its contents when it is dropped. The directory of a run
/// that was killed is removed by the next run that makes one at the same place.
pub struct TemporaryDirectory {
    dir: TempDir,
    /// The lock that tells other runs that this one lives.
    _lock: Option<File>,
}

impl TemporaryDirectory {
    /// Makes a directory where the system keeps temporary files. Only its owner may look into it.
    ///
    /// # Errors
    /// The system's error.
    pub fn new() -> io::Result<TemporaryDirectory> {
        TemporaryDirectory::make(&std::env::temp_dir(), &mut Builder::new())
    }

    /// Makes a directory in another one, which may stay there under another name.
    ///
    /// # Errors
    /// The system's error.
    pub fn beside(place: &Path) -> io::Result<TemporaryDirectory> {
        let mut builder = Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        TemporaryDirectory::make(place, &mut builder)
    }

    fn make(place: &Path, builder: &mut Builder<'_, '_>) -> io::Result<TemporaryDirectory> {
        remove_leftovers(place);
        loop {
            let dir = builder.prefix(NAME.0).suffix(NAME.1).tempdir_in(place)?;
            locked(&DIRECTORIES).insert(dir.path().to_owned());
            // Not every system locks directories; without locks no leftovers are removed.
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

    /// Keeps the directory, under another name in the same directory, where nothing is.
    ///
    /// # Errors
    /// The system's error.
    pub fn rename(mut self, to: &Path) -> io::Result<()> {
        let _placing = placing();
        fs::rename(self.path(), to)?;
        self.dir.disable_cleanup(true);
        Ok(())
    }

    /// Keeps the directory in place of another one, which is removed.
    ///
    /// # Errors
    /// The system's error; the other directory is where it was then.
    pub fn replace(self, other: &Path) -> io::Result<()> {
        let aside = TemporaryDirectory::beside(directory_of(other))?;
        let old = aside.path().join("old");
        fs::rename(other, &old)?;
        self.rename(other)
            .or_else(|error| fs::rename(&old, other).and(Err(error)))
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        locked(&DIRECTORIES).remove(self.path());
    }
}

/// Removes what killed runs left in a directory: hidden directories that no process has locked. Once is enough: these
/// runs were before this one, and a directory may hold as many files as this one writes.
fn remove_leftovers(place: &Path) {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let place = std::path::absolute(place).unwrap_or_else(|_| place.to_owned());
    if !locked(&SEEN).insert(place.clone()) {
        return;
    }
    // What can't be listed or removed is left to a later run.
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        let is_ours = name.starts_with(NAME.0) && name.ends_with(NAME.1);
        if is_ours
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Ok(directory) = File::open(entry.path())
            && directory.try_lock().is_ok()
        {
            _ = fs::remove_dir_all(entry.path());
        }
    }
}
