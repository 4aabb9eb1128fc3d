//! Files that are seen complete or not at all.
//!
//! A file is written to a hidden directory beside its place ([`Staging`]), and gets its name when it is complete
//! ([`Staged`]): a model together with its data files, the model last. One output file is written to its [`Target`].
//! A run that is killed in between leaves at most hidden directories, which are locked while their run lives; a later
//! run in that directory removes those that aren't locked any more.

mod read;
mod staged;
mod standard;
mod target;
mod temporary;

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use read::{open, read, read_to_string};
pub use staged::{Staged, StagedFile, Staging};
pub use standard::{StandardOutput, set_output_apart};
pub use target::{Target, end_of_links, open_special};
pub use temporary::{TemporaryDirectory, give_up};

/// Locks a mutex; one that a panic left locked guards nothing that is half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a directory against other runs that put files there, and waits for them, until the result is dropped. `None`
/// where the system doesn't lock directories.
pub fn lock_directory(directory: &Path) -> Option<File> {
    let file = File::open(directory).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// The directory of a path.
pub fn directory_of(path: &Path) -> &Path {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    dir.unwrap_or(Path::new("."))
}
