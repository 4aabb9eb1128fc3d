//! Leftovers of runs that died: hidden files on which no process holds a lock any more.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use super::commit::try_lock_directory;
use crate::lock;

/// The prefix of every hidden name.
pub(crate) const PREFIX: &str = ".passdock-";

/// The suffix of an unfinished file or directory.
pub(crate) const PART: &str = ".part";

/// The suffix of a [`super::Commit`]'s record.
pub(crate) const RECORD: &str = ".commit";

/// Whether a file is a hidden one of some run.
pub fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with(PREFIX)
}

/// A test whether a file of a directory is used, by its path relative to the directory.
pub type Used = fn(&Path, &Path) -> bool;

/// Removes the leftovers of dead runs in a directory. The files that a commit's record lists are
/// removed unless they are used; without `used` they are left to another run.
pub fn remove(dir: &Path, used: Option<Used>) {
    // A run that commits files there may rely on the files that it has found.
    let lock = used.and_then(|_| try_lock_directory(dir));
    let used = used.filter(|_| lock.is_some());
    if !is_first(dir, used.is_some()) {
        return;
    }
    // Files that can't be listed or removed are left to a later run.
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else {
            continue;
        };
        let path = entry.path();
        if name.ends_with(PART) {
            remove_dead(&path);
        } else if let Some(used) = used
            && name.ends_with(RECORD)
        {
            settle(dir, &path, used);
        }
    }
}

/// Whether this process looks into a directory for the first time. Once is enough: the dead runs
/// are those before this one, and a directory may hold as many files as this one writes.
pub(crate) fn is_first(dir: &Path, records: bool) -> bool {
    static SEEN: Mutex<BTreeSet<(PathBuf, bool)>> = Mutex::new(BTreeSet::new());
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
    lock(&SEEN).insert((dir, records))
}

/// Removes a file or directory that no living process has locked.
pub(crate) fn remove_dead(path: &Path) {
    if let Some((_lock, is_dir)) = dead(path) {
        let _ = match is_dir {
            true => fs::remove_dir_all(path),
            false => fs::remove_file(path),
        };
    }
}

/// A lock on a file or directory that no other process has locked, and whether it is a directory.
fn dead(path: &Path) -> Option<(File, bool)> {
    let kind = path.symlink_metadata().ok()?;
    if !kind.is_dir() && !kind.is_file() {
        return None;
    }
    let file = File::open(path).ok()?;
    match file.try_lock() {
        Ok(()) => Some((file, kind.is_dir())),
        // Its run lives, or the system has no locks.
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => None,
    }
}

/// Finishes a commit of a dead run: removes the listed files that are unused, then the record.
fn settle(dir: &Path, record: &Path, used: Used) {
    let Some((mut file, false)) = dead(record) else {
        return;
    };
    let mut text = String::new();
    if !is_own(&file) || file.read_to_string(&mut text).is_err() {
        return;
    }
    let names: Vec<PathBuf> = serde_json::from_str(&text).unwrap_or_default();
    let inside = |name: &&PathBuf| {
        let mut parts = name.components();
        parts.all(|part| matches!(part, Component::Normal(_)))
    };
    // Directories come before their contents in the list.
    for name in names.iter().rev().filter(inside) {
        super::remove_unless(dir, name, used);
    }
    let _ = fs::remove_file(record);
}

/// Whether a record is this user's: one that another user wrote into a shared directory isn't
/// trusted.
fn is_own(record: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let own = rustix::process::geteuid().as_raw();
        record.metadata().is_ok_and(|known| known.uid() == own)
    }
    #[cfg(not(unix))]
    {
        let _ = record;
        true
    }
}
