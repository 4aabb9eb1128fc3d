//! Atomic output files, temporary directories, and reading of files that a user names.
//!
//! A file is written to a hidden directory next to its final path ([`Staging`]) and renamed when it is complete
//! ([`Staged`]). A model and its data files are committed together, the model last. A single output file is written to
//! its [`Target`]. A run that is killed leaves at most hidden directories. They are locked while their run is alive,
//! and a later run in the same directory removes those that aren't locked any more.

mod broker;
mod directory;
mod numbered;
pub mod raw_path;
mod read;
mod staged;
mod standard;
mod target;
mod temporary;

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use broker::{
    Broker, OutputRequest, create_directory, declare_output, declared_outputs, set_broker,
};
pub use directory::OutputDirectory;
pub use numbered::remove_numbered_files;
pub use read::{open, read, read_to_string, same_contents};
pub use staged::{Staged, StagedFile, Staging};
pub use standard::{StandardOutput, set_output_apart};
pub use target::{Target, end_of_links, open_special};
pub use temporary::{TemporaryDirectory, give_up};

/// Locks a mutex. Poisoning is ignored, because the guarded data is consistent at any time.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a directory against other writers until the result is dropped, and waits for them. Returns `None` if the
/// system can't lock directories.
pub fn lock_directory(directory: &Path) -> Option<File> {
    let file = File::open(directory).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// Returns the parent directory of a path, `.` for a bare name.
pub fn directory_of(path: &Path) -> &Path {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    dir.unwrap_or(Path::new("."))
}
