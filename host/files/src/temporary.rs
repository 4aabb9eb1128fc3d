//! Temporary directories.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use crate::leftovers::{PART, PREFIX, is_first, remove_dead};
use crate::locked;

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

/// Undoes that a directory is removed by [`give_up`].
fn forget(path: &Path) {
    locked(&DIRECTORIES).remove(path);
}

/// A directory that is removed with all its contents when it is dropped. The directory of a run
/// that died is removed by the next run that makes one at the same place.
pub struct TemporaryDirectory {
    dir: Option<tempfile::TempDir>,
    /// The lock that tells other runs that this one lives.
    _lock: Option<File>,
}

impl TemporaryDirectory {
    /// A new directory where the system keeps temporary files. Only its owner may look into it.
    ///
    /// # Errors
    /// The system's error.
    pub fn new() -> io::Result<TemporaryDirectory> {
        let place = std::env::temp_dir();
        if is_first(&place, false) {
            own_leftovers(&place)
                .iter()
                .for_each(|path| remove_dead(path, None));
        }
        TemporaryDirectory::make(&place, &mut tempfile::Builder::new())
    }

    /// A new directory in another one, which may stay there under another name.
    ///
    /// # Errors
    /// What the system says.
    pub fn beside(place: &Path) -> io::Result<TemporaryDirectory> {
        crate::leftovers::remove(place, None);
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o777));
        }
        TemporaryDirectory::make(place, &mut builder)
    }

    fn make(place: &Path, builder: &mut tempfile::Builder<'_, '_>) -> io::Result<Self> {
        loop {
            let dir = builder.prefix(PREFIX).suffix(PART).tempdir_in(place)?;
            locked(&DIRECTORIES).insert(dir.path().to_path_buf());
            // Not every system locks directories; without locks no leftovers are removed.
            let lock = File::open(dir.path()).ok();
            let lost = lock.as_ref().is_some_and(|lock| {
                matches!(lock.try_lock(), Err(std::fs::TryLockError::WouldBlock))
            });
            let made = TemporaryDirectory {
                dir: Some(dir),
                _lock: lock,
            };
            // Another run may have found the directory before it was locked.
            if !lost && made.path().exists() {
                return Ok(made);
            }
        }
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        self.dir.as_ref().map_or(Path::new(""), |dir| dir.path())
    }

    /// Keeps the directory, under another name in the same directory, where nothing is.
    ///
    /// # Errors
    /// What the system says.
    pub fn rename(self, to: &Path) -> io::Result<()> {
        let _placing = placing();
        self.put(to)
    }

    fn put(self, to: &Path) -> io::Result<()> {
        std::fs::rename(self.path(), to)?;
        self.keep();
        Ok(())
    }

    /// Keeps the directory at the path where it is.
    pub(crate) fn keep(mut self) {
        forget(self.path());
        self.dir.take().map(tempfile::TempDir::keep);
    }

    /// Keeps the directory in place of another one, which is removed.
    ///
    /// # Errors
    /// What the system says; the other directory is where it was then.
    pub fn exchange(self, with: &Path) -> io::Result<()> {
        let _placing = placing();
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            let flags = RenameFlags::EXCHANGE;
            if renameat_with(CWD, self.path(), CWD, with, flags).is_ok() {
                return Ok(());
            }
        }
        // Not every system can exchange two names atomically.
        let place = crate::directory_of(with);
        let aside = TemporaryDirectory::beside(place)?;
        let old = aside.path().join("old");
        std::fs::rename(with, &old)?;
        self.put(with).inspect_err(|_| {
            if std::fs::rename(&old, with).is_err() {
                // The old directory is kept beside rather than lost.
                aside.keep();
            }
        })
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        forget(self.path());
    }
}

/// The leftover temporary directories of this user.
#[cfg(unix)]
fn own_leftovers(place: &Path) -> Vec<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with(PREFIX)
                && name.ends_with(PART)
                && entry.metadata().is_ok_and(|known| known.uid() == own)
        })
        .map(|entry| entry.path())
        .collect()
}

#[cfg(not(unix))]
fn own_leftovers(_place: &Path) -> Vec<PathBuf> {
    Vec::new()
}
