//! Files that are seen complete or not at all.
//!
//! A file is written to a hidden directory beside its place ([`Staging`]), and gets its name when it is complete
//! ([`Staged`]): a model together with its data files, the model last. One output file is written to its [`Target`].
//! A run that dies in between leaves at most hidden directories, which are locked while their run lives; a later run in
//! that directory removes those that aren't locked any more ([`leftovers`]).

pub mod leftovers;
mod lock;
mod read;
mod staged;
mod standard;
mod target;
mod temporary;

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use lock::{DirectoryLock, lock_directory};
pub use read::{open, read, read_to_string};
pub use staged::{Staged, StagedFile, Staging, StagingPlace};
pub use standard::{StandardOutput, set_output_apart};
pub use target::{Target, end_of_links, open_special};
pub use temporary::{TemporaryDirectory, give_up};

/// Checks that so many bytes fit on the disk that a directory is on. Where the system doesn't say, they do.
///
/// # Errors
/// If they don't.
pub fn check_room(dir: &Path, bytes: u64) -> std::io::Result<()> {
    #[cfg(unix)]
    if let Ok(disk) = rustix::fs::statvfs(dir) {
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if bytes > free {
            return Err(std::io::Error::new(
                std::io::ErrorKind::StorageFull,
                format!("its constants take {bytes} bytes, and the disk has {free} left"),
            ));
        }
    }
    let _ = (dir, bytes);
    Ok(())
}

/// Locks a mutex; one that a panic left locked guards nothing that is half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The directory of a path.
pub fn directory_of(path: &Path) -> &Path {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    dir.unwrap_or(Path::new("."))
}

/// Removes a file of a directory unless it is used, or an empty directory.
fn remove_unless(dir: &Path, name: &Path, used: leftovers::Used) {
    let path = dir.join(name);
    // Files that can't be removed do no harm.
    let _ = match path.symlink_metadata() {
        Ok(known) if known.is_dir() => fs::remove_dir(&path),
        Ok(known) if known.is_file() && !used(dir, name) => fs::remove_file(&path),
        _ => Ok(()),
    };
}
