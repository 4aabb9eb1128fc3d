//! Files that are seen complete or not at all.
//!
//! A file is written without a name, where the system can do that, and gets one when it is whole
//! ([`Unfinished`]). One output file goes to its [`Target`]; a model and the files that its data is in
//! go together ([`Commit`]), and the model's name is the last one given. A run that dies in between
//! leaves at most hidden files, locked while their run lives; a later run in that directory removes
//! those that are locked no more ([`leftovers`]).

mod commit;
pub mod leftovers;
mod target;
mod temporary;
mod unfinished;

use std::path::Path;

pub use commit::{Commit, lock_directory, remove_unless};
pub use target::{Target, end_of_links, open_special};
pub use temporary::TemporaryDirectory;
pub use unfinished::{Unfinished, give_up};

/// The directory of a path.
pub fn directory_of(path: &Path) -> &Path {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    dir.unwrap_or(Path::new("."))
}
