//! Files that are written beside the place where they go, and put there together: all or none.

use std::fs::{self, File};
use std::io::ErrorKind::{AlreadyExists, InvalidInput, PermissionDenied};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::TempPath;

use crate::temporary::{TemporaryDirectory, placing};
use crate::{directory_of, lock_directory};

/// The name of the main file in its staging directory.
const MAIN: &str = "0";

/// A directory beside a file's place, in which the file is written, and those that go with it.
#[derive(Default)]
pub struct Staging {
    place: PathBuf,
    directory: PathBuf,
    owned: Option<TemporaryDirectory>,
    files: usize,
}

/// Files that are written and not in their places yet. Whoever owns the staging directory puts them there.
///
/// Until the main file has its name, everything is as it was; afterwards everything is as it should be.
#[derive(Serialize, Deserialize)]
pub struct Staged {
    /// The directory, which the process gives that puts the files in their places.
    #[serde(skip)]
    staging: Staging,
    /// The length of the main file.
    len: u64,
    /// The files that go with it, where nothing is yet.
    new: Vec<StagedFile>,
    /// The files that are obsolete once the main file is in its place, relative to its directory.
    old: Vec<PathBuf>,
    /// Whether to wait until all files are on the disk.
    durable: bool,
    #[serde(skip)]
    lock: Option<File>,
}

/// A file that goes with the main file.
#[derive(Serialize, Deserialize)]
pub struct StagedFile {
    /// Its place, relative to the main file's directory.
    pub to: PathBuf,
    /// Its name in the staging directory.
    pub name: String,
    /// Its length.
    pub len: u64,
}

impl Staging {
    /// Makes a staging directory for the file at `place`, with that file. `given` is the name of the one that the
    /// process made which will put the file in its place.
    ///
    /// # Errors
    /// The system's error.
    pub fn new(place: &Path, given: Option<&str>) -> io::Result<Staging> {
        let mut staging = Staging {
            place: place.to_path_buf(),
            ..Staging::default()
        };
        match given {
            Some(name) => staging.directory = directory_of(place).join(name),
            None => {
                let own = TemporaryDirectory::beside(directory_of(place))?;
                File::create_new(own.path().join(MAIN))?;
                staging.directory = own.path().to_path_buf();
                staging.owned = Some(own);
            }
        }
        Ok(staging)
    }

    /// The name of the directory, which is beside the place.
    pub fn name(&self) -> String {
        let name = self.directory.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Opens the main file, which is empty.
    ///
    /// # Errors
    /// What the system says.
    pub fn main_file(&self) -> io::Result<File> {
        let mut options = File::options();
        options.read(true).write(true).truncate(true);
        options.open(self.directory.join(MAIN))
    }

    /// Makes another file. Answers its name, too.
    ///
    /// # Errors
    /// What the system says.
    pub fn new_file(&mut self) -> io::Result<(File, String)> {
        self.files += 1;
        let name = self.files.to_string();
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        Ok((options.open(self.directory.join(&name))?, name))
    }

    /// The files, when all is written: `new` beside the main file, `old` obsolete then. `lock` keeps other writers away
    /// for whom the choice of these would be another.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(
        self,
        new: Vec<StagedFile>,
        old: Vec<PathBuf>,
        durable: bool,
        lock: Option<File>,
    ) -> io::Result<Staged> {
        Ok(Staged {
            len: self.directory.join(MAIN).metadata()?.len(),
            staging: self,
            new,
            old,
            durable,
            lock,
        })
    }
}

impl Staged {
    /// The same files, as this process puts them in their places, which were written by another one.
    pub fn at(self, staging: Staging) -> Staged {
        Staged { staging, ..self }
    }

    /// The bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.len + self.new.iter().map(|file| file.len).sum::<u64>()
    }

    /// Puts all files in their places.
    ///
    /// # Errors
    /// If a file isn't what was written there, and the system's errors; then everything is as it was. Only one error is
    /// returned after the main file was put in its place: that the name may not outlast a loss of power.
    pub fn commit(mut self) -> io::Result<()> {
        let place = &self.staging.place;
        let dir = directory_of(place);
        let main = self.staging.directory.join(MAIN);
        let rights = main.symlink_metadata()?.permissions();
        self.check(&main, self.len)?;
        for file in &self.new {
            let path = self.staging.directory.join(&file.name);
            fs::set_permissions(&path, rights.clone())?;
            self.check(&path, file.len)?;
        }
        #[cfg(unix)]
        if let Ok(known) = place.symlink_metadata()
            && known.is_file()
        {
            fs::set_permissions(&main, known.permissions())?;
        }
        let _lock = self.lock.take().or_else(|| lock_directory(dir));
        let _placing = placing();
        // Before anything is in its place: a process may be out of descriptors.
        let directory = self.open_directory(dir)?;
        let mut placed: Vec<PathBuf> = Vec::new();
        let put = self
            .place_new(dir, &mut placed)
            .and_then(|()| fs::rename(&main, place));
        if let Err(error) = put {
            // Only the first error is returned.
            placed.iter().rev().for_each(|path| _ = remove(path));
            return Err(error);
        }
        let synced = directory.as_ref().map_or(Ok(()), sync);
        // Files that can't be removed do no harm.
        self.old.iter().for_each(|name| _ = remove(&dir.join(name)));
        synced.map_err(|error| {
            let message = format!("it is there, but may not outlast a loss of power: {error}");
            io::Error::new(error.kind(), message)
        })
    }

    /// Makes sure that a file is what was written, and waits until it is on the disk.
    fn check(&self, path: &Path, len: u64) -> io::Result<()> {
        let metadata = path.symlink_metadata()?;
        #[cfg(unix)]
        let links = std::os::unix::fs::MetadataExt::nlink(&metadata);
        #[cfg(not(unix))]
        let links = 1;
        if !metadata.is_file() || metadata.len() != len || links != 1 {
            return Err(io::Error::other("something else wrote into it"));
        }
        match self.durable {
            true => File::options().write(true).open(path)?.sync_all(),
            false => Ok(()),
        }
    }

    /// Gives the new files their names, and makes their directories.
    fn place_new(&self, dir: &Path, placed: &mut Vec<PathBuf>) -> io::Result<()> {
        for file in &self.new {
            let to = dir.join(&file.to);
            let parents: Vec<&Path> = file.to.ancestors().skip(1).collect();
            for parent in parents.into_iter().rev() {
                let parent = dir.join(parent);
                if parent.symlink_metadata().is_err() {
                    fs::create_dir(&parent)?;
                    placed.push(parent);
                }
            }
            let staged = TempPath::try_from_path(self.staging.directory.join(&file.name))?;
            match staged.persist_noclobber(&to) {
                Ok(()) => placed.push(to),
                // Another run was faster, with the same.
                Err(error) if error.error.kind() == AlreadyExists && is_same(&error.path, &to)? => {
                }
                Err(error) => return Err(error.error),
            }
        }
        for path in placed {
            self.open_directory(directory_of(path))?
                .as_ref()
                .map_or(Ok(()), sync)?;
        }
        Ok(())
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

/// Removes a file, or an empty directory.
fn remove(path: &Path) -> io::Result<()> {
    match path.is_dir() {
        true => fs::remove_dir(path),
        false => fs::remove_file(path),
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

/// Whether two files have the same bytes.
fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut bytes, mut others) = (Vec::new(), Vec::new());
    loop {
        bytes.clear();
        others.clear();
        (&mut one).take(1 << 20).read_to_end(&mut bytes)?;
        (&mut other).take(1 << 20).read_to_end(&mut others)?;
        if bytes != others || bytes.is_empty() {
            return Ok(bytes == others);
        }
    }
}
