//! Putting files in their places together: all, or none.

use std::fs::{self, File};
use std::io::ErrorKind::{InvalidInput, PermissionDenied};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::leftovers::{RECORD, Used};
use super::unfinished::{Hidden, placing};
use super::{Unfinished, directory_of};

/// What goes with a file to its place. That file's name is given last, and is what counts: before it,
/// all is as it was; after it, all is as it should be. A record of names that only a run which died
/// in between would leave stands beside it meanwhile.
#[derive(Default)]
pub struct Commit {
    /// New files, by their names from the file's directory; nothing is there.
    pub new: Vec<(PathBuf, Unfinished)>,
    /// Files that nobody needs once the file is in its place.
    pub old: Vec<PathBuf>,
    /// Whether to wait until all of it is on the disk.
    pub durable: bool,
}

/// Locks a directory against others that put files there; waits for them. `None` where the system
/// doesn't lock directories.
pub fn lock_directory(dir: &Path) -> Option<File> {
    let file = File::open(dir).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// As [`lock_directory`], without waiting: `None` also if somebody puts files there.
pub(crate) fn try_lock_directory(dir: &Path) -> Option<File> {
    let file = File::open(dir).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Removes a file of a directory, or a directory in which nothing is, unless it is used.
pub fn remove_unless(dir: &Path, name: &Path, used: Used) {
    let path = dir.join(name);
    // Whatever can't be removed isn't in anybody's way.
    let _ = match path.symlink_metadata() {
        Ok(known) if known.is_dir() => fs::remove_dir(&path),
        Ok(known) if known.is_file() && !used(dir, name) => fs::remove_file(&path),
        _ => Ok(()),
    };
}

impl Commit {
    /// Puts `file` at `path` and the rest where it goes.
    ///
    /// # Errors
    /// What the system says; then everything is as it was. One error is told after the file has come
    /// to its place: that the system doesn't promise to keep it there.
    pub fn put(mut self, file: Unfinished, path: &Path) -> io::Result<()> {
        let dir = directory_of(path);
        if self.durable {
            for (_, file) in &self.new {
                file.sync()?;
            }
            file.sync()?;
        }
        let _placing = placing();
        let record = self.record(dir)?;
        let mut made: Vec<PathBuf> = Vec::new();
        let put = self.place(dir, &mut made).and_then(|()| file.put(path));
        if let Err(error) = put {
            for path in made.iter().rev() {
                // The first error is the one to tell.
                let _ = match path.is_dir() {
                    true => fs::remove_dir(path),
                    false => fs::remove_file(path),
                };
            }
            return Err(error);
        }
        let kept = self.sync_directory(dir);
        for name in &self.old {
            remove_unless(dir, name, |_, _| false);
        }
        // What couldn't be removed is left to a later run, and so is the record of it.
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

    /// The names in doubt until the file is in its place, in a hidden file.
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
        if !self.durable {
            return Ok(());
        }
        match File::open(dir).and_then(|file| file.sync_all()) {
            // Systems that can't open directories, or can't wait for them, keep names in their own time.
            Err(error)
                if cfg!(not(unix)) || matches!(error.kind(), PermissionDenied | InvalidInput) =>
            {
                Ok(())
            }
            done => done,
        }
    }
}
