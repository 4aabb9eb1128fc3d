//! Leftovers of runs that died: hidden directories on which no process holds a lock any more.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use crate::lock::try_lock_directory;
use crate::{locked, remove_unless};

/// The prefix of every hidden name.
pub(crate) const PREFIX: &str = ".passdock-";

/// The suffix of a hidden directory.
pub(crate) const PART: &str = ".part";

/// The file of a staging directory that lists the names which are in doubt while files are put in their places.
pub(crate) const COMMIT: &str = "commit";

/// Whether a file is a hidden one of some run.
pub fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with(PREFIX)
}

/// A test whether a file of a directory is used, by its path relative to the directory.
pub type Used = fn(&Path, &Path) -> bool;

/// Removes the leftovers of dead runs in a directory. The files that one of them was about to put there are
/// removed unless they are used; without `used` they are left to another run.
pub fn remove(dir: &Path, used: Option<Used>) {
    // A run that commits files there may rely on the files that it has found.
    let lock = used.and_then(|_| try_lock_directory(dir));
    let used = used.filter(|_| lock.is_some());
    if !is_first(dir, used.is_some()) {
        return;
    }
    // What can't be listed or removed is left to a later run.
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_part = |name: &str| name.starts_with(PREFIX) && name.ends_with(PART);
        if name.to_str().is_some_and(is_part) {
            remove_dead(&entry.path(), Some((dir, used)));
        }
    }
}

/// Whether this process looks into a directory for the first time. Once is enough: the dead runs
/// are those before this one, and a directory may hold as many files as this one writes.
pub(crate) fn is_first(dir: &Path, records: bool) -> bool {
    static SEEN: Mutex<BTreeSet<(PathBuf, bool)>> = Mutex::new(BTreeSet::new());
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
    locked(&SEEN).insert((dir, records))
}

/// Removes a directory that no living process has locked, with what was to be put in a place (`dir`) from there.
pub(crate) fn remove_dead(path: &Path, placed: Option<(&Path, Option<Used>)>) {
    if !path.symlink_metadata().is_ok_and(|kind| kind.is_dir()) {
        return;
    }
    let Ok(directory) = File::open(path) else {
        return;
    };
    // Its run lives, or the system has no locks.
    if directory.try_lock().is_err() {
        return;
    }
    if let Some((dir, used)) = placed
        && let Ok(list) = File::open(path.join(COMMIT))
    {
        match used {
            Some(used) => settle(dir, &list, used),
            None => return,
        }
    }
    _ = fs::remove_dir_all(path);
}

/// Finishes a commit of a dead run: removes the listed files that are unused.
fn settle(dir: &Path, mut list: &File, used: Used) {
    let mut text = String::new();
    if !is_own(list) || list.read_to_string(&mut text).is_err() {
        return;
    }
    let names: Vec<PathBuf> = serde_json::from_str(&text).unwrap_or_default();
    let inside = |name: &&PathBuf| {
        let mut parts = name.components();
        parts.all(|part| matches!(part, Component::Normal(_)))
    };
    // Directories come before their contents in the list.
    for name in names.iter().rev().filter(inside) {
        remove_unless(dir, name, used);
    }
}

/// Whether a list is this user's: one that another user wrote into a shared directory isn't
/// trusted.
fn is_own(list: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let own = rustix::process::geteuid().as_raw();
        list.metadata().is_ok_and(|known| known.uid() == own)
    }
    #[cfg(not(unix))]
    {
        let _ = list;
        true
    }
}
