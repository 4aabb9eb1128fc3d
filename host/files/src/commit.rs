//! Commits: several files put in their places together, all or none.

use std::fs::{self, File};
use std::io::ErrorKind::{InvalidInput, PermissionDenied};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[cfg(windows)]
use super::leftovers::PREFIX;
use super::leftovers::{RECORD, Used};
use super::unfinished::{Hidden, placing};
use super::{Unfinished, directory_of};

/// The files that are committed together with a main file. The main file gets its name last: before
/// that everything is as it was, afterwards everything is as it should be. Meanwhile a record
/// beside it lists the names that a run would leave behind if it died in between.
#[derive(Default)]
pub struct Commit {
    /// The new files, by their paths relative to the main file's directory, where nothing is yet.
    pub new: Vec<(PathBuf, Unfinished)>,
    /// The files that are obsolete once the main file is in its place.
    pub old: Vec<PathBuf>,
    /// Whether to wait until all files are on the disk.
    pub durable: bool,
}

/// Locks a directory against other runs that commit files there, and waits for them. `None` where
/// the system doesn't lock directories, or no file can be made there.
pub fn lock_directory(dir: &Path) -> Option<File> {
    #[cfg(not(windows))]
    {
        let file = File::open(dir).ok()?;
        file.lock().ok()?;
        Some(file)
    }
    #[cfg(windows)]
    loop {
        match lock_file(dir) {
            Err(error) if error.raw_os_error() == Some(HELD) => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            locked => return locked.ok(),
        }
    }
}

/// Locks a directory as [`lock_directory`] does, without waiting: `None` also if another run holds
/// the lock.
pub(crate) fn try_lock_directory(dir: &Path) -> Option<File> {
    #[cfg(not(windows))]
    {
        let file = File::open(dir).ok()?;
        file.try_lock().ok()?;
        Some(file)
    }
    #[cfg(windows)]
    lock_file(dir).ok()
}

/// The system's error for a file that another process has opened for itself alone
/// (`ERROR_SHARING_VIOLATION`).
#[cfg(windows)]
const HELD: i32 = 32;

/// Makes the file that stands for a directory's lock: Windows locks no directories. Nobody else can
/// open it meanwhile, and it goes with its last handle, even if the process dies.
#[cfg(windows)]
fn lock_file(dir: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const GENERIC_WRITE: u32 = 0x4000_0000;
    const DELETE: u32 = 0x0001_0000;
    const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).share_mode(0);
    options.access_mode(GENERIC_WRITE | DELETE);
    options.custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    options.open(dir.join(format!("{PREFIX}lock")))
}

/// Removes a file of a directory unless it is used, or an empty directory.
pub fn remove_unless(dir: &Path, name: &Path, used: Used) {
    let path = dir.join(name);
    // Files that can't be removed do no harm.
    let _ = match path.symlink_metadata() {
        Ok(known) if known.is_dir() => fs::remove_dir(&path),
        Ok(known) if known.is_file() && !used(dir, name) => fs::remove_file(&path),
        _ => Ok(()),
    };
}

impl Commit {
    /// Puts `file` at `path` and the other files in their places. `before` is called when nothing is left to do but
    /// that; its error ends it.
    ///
    /// # Errors
    /// The system's error; then everything is as it was. Only one error is returned after the file
    /// was put in its place: that the name may not outlast a loss of power.
    pub fn put(
        mut self,
        file: Unfinished,
        path: &Path,
        before: &dyn Fn() -> io::Result<()>,
    ) -> io::Result<()> {
        let dir = directory_of(path);
        if self.durable {
            for (_, file) in &self.new {
                file.sync()?;
            }
            file.sync()?;
        }
        before()?;
        let _placing = placing();
        let record = self.record(dir)?;
        // Before anything is in its place: a process may be out of descriptors.
        let directory = self.open_directory(dir)?;
        let mut made: Vec<PathBuf> = Vec::new();
        let put = self.place(dir, &mut made).and_then(|()| file.put(path));
        if let Err(error) = put {
            for path in made.iter().rev() {
                // Only the first error is returned.
                let _ = match path.is_dir() {
                    true => fs::remove_dir(path),
                    false => fs::remove_file(path),
                };
            }
            return Err(error);
        }
        let kept = directory.as_ref().map_or(Ok(()), sync);
        for name in &self.old {
            remove_unless(dir, name, |_, _| false);
        }
        // Files that couldn't be removed are left to a later run, with the record.
        let gone = |name: &PathBuf| dir.join(name).symlink_metadata().is_err();
        match record {
            Some(record) if !self.old.iter().all(gone) => record.stay(),
            record => drop(record),
        }
        kept.map_err(|error| {
            let message = format!("it is there, but may not outlast a loss of power: {error}");
            io::Error::new(error.kind(), message)
        })
    }

    /// A hidden file with the names that are in doubt until the main file is in its place.
    fn record(&self, dir: &Path) -> io::Result<Option<Hidden>> {
        if self.new.is_empty() && self.old.is_empty() {
            return Ok(None);
        }
        let mut names: Vec<&Path> = Vec::new();
        for (name, _) in &self.new {
            let parents = name.ancestors().skip(1);
            let missing = parents.filter(|parent| !dir.join(parent).exists());
            let from = names.len();
            names.extend(missing);
            names[from..].reverse();
            names.push(name);
        }
        names.extend(self.old.iter().map(PathBuf::as_path));
        let mut record = Unfinished::in_dir(dir)?;
        record.file().write_all(&serde_json::to_vec(&names)?)?;
        if self.durable {
            record.sync()?;
        }
        let record = record.hidden(RECORD)?;
        self.sync_directory(dir)?;
        Ok(Some(record))
    }

    /// Gives the new files their names, and makes their directories.
    fn place(&mut self, dir: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
        for (name, file) in &mut self.new {
            let path = dir.join(&*name);
            let parents: Vec<&Path> = name.ancestors().skip(1).collect();
            for parent in parents.into_iter().rev() {
                let parent = dir.join(parent);
                if parent.symlink_metadata().is_err() {
                    fs::create_dir(&parent)?;
                    made.push(parent);
                }
            }
            file.put_new(&path)?;
            made.push(path);
        }
        let mut synced: Vec<&Path> = made.iter().map(|path| directory_of(path)).collect();
        synced.sort_unstable();
        synced.dedup();
        synced
            .into_iter()
            .try_for_each(|dir| self.sync_directory(dir))
    }

    /// Waits until the names in a directory are on the disk.
    fn sync_directory(&self, dir: &Path) -> io::Result<()> {
        self.open_directory(dir)?.as_ref().map_or(Ok(()), sync)
    }

    /// A directory, if its names are to be on the disk and the system opens directories.
    fn open_directory(&self, dir: &Path) -> io::Result<Option<File>> {
        if !self.durable {
            return Ok(None);
        }
        match File::open(dir) {
            Ok(directory) => Ok(Some(directory)),
            Err(error) if is_unsupported(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Waits until the names in a directory are on the disk.
fn sync(directory: &File) -> io::Result<()> {
    match directory.sync_all() {
        Err(error) if is_unsupported(&error) => Ok(()),
        done => done,
    }
}

/// Systems that can't open or sync directories write names on their own.
fn is_unsupported(error: &io::Error) -> bool {
    cfg!(not(unix)) || matches!(error.kind(), PermissionDenied | InvalidInput)
}
