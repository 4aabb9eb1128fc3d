//! Files that are seen complete or not at all.
//!
//! A file is written without a name, where the system can do that, and is named when it is complete
//! ([`Unfinished`]). One output file is written to its [`Target`]; a model and its data files are
//! put in their places together ([`Commit`]), the model last. A run that dies in between leaves at
//! most hidden files, which are locked while their run lives; a later run in that directory removes
//! those that aren't locked any more ([`leftovers`]).

mod commit;
pub mod leftovers;
mod read;
mod standard;
mod target;
mod temporary;
mod unfinished;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use commit::{Commit, lock_directory, remove_unless};
pub use read::{open, read, read_to_string};
pub use standard::{StandardOutput, set_output_apart};
pub use target::{Target, end_of_links, open_special};
pub use temporary::TemporaryDirectory;
pub use unfinished::{Unfinished, give_up};

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
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The directory of a path.
pub fn directory_of(path: &Path) -> &Path {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    dir.unwrap_or(Path::new("."))
}
