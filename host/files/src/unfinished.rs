//! Unfinished files: invisible until they are put in their places.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use tempfile::TempPath;

use super::leftovers::{PART, PREFIX};
use crate::lock;

/// A file without a name, or with a hidden one where the system has no nameless files. It is
/// removed when it is dropped, or when the process dies. A hidden file of a dead process stays
/// until [`super::leftovers`] finds that it isn't locked any more.
pub struct Unfinished {
    file: File,
    dir: PathBuf,
    name: Option<Hidden>,
}

/// The hidden names that are removed when the process is ended by a signal that it catches.
static HIDDEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The lock that is held while files are put in their places, which a signal doesn't interrupt.
static PLACING: Mutex<()> = Mutex::new(());

/// Removes every unfinished file and temporary directory of this process, and lets no file be put
/// in its place any more. For a thread that is about to end the process because of a signal. Files
/// that are being put in their places get there first.
pub fn give_up() {
    std::mem::forget(placing());
    for path in lock(&HIDDEN).iter() {
        // An error is ignored: the process is about to end.
        let _ = match path.is_dir() {
            true => fs::remove_dir_all(path),
            false => fs::remove_file(path),
        };
    }
}

/// A guard that makes [`give_up`] wait until it is dropped.
pub(crate) fn placing() -> MutexGuard<'static, ()> {
    lock(&PLACING)
}

/// A hidden name that is removed when this is dropped.
pub(crate) struct Hidden {
    path: Option<TempPath>,
    /// The lock that tells other runs that this one lives.
    lock: Option<File>,
}

impl Hidden {
    /// A new hidden name in a directory, for the file that `make` creates there.
    pub(crate) fn new(
        dir: &Path,
        suffix: &str,
        make: impl FnMut(&Path) -> io::Result<()>,
    ) -> io::Result<Hidden> {
        let mut builder = tempfile::Builder::new();
        let made = builder.prefix(PREFIX).suffix(suffix).make_in(dir, make);
        // The library's error names the hidden file, which users don't know.
        let path = made.map_err(plain)?.into_temp_path();
        register(&path);
        Ok(Hidden {
            path: Some(path),
            lock: None,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    /// Leaves the file to a later run.
    pub(crate) fn stay(mut self) {
        if let Some(path) = self.path.take() {
            forget(&path);
            // The file stays in any case: only the removal on drop is called off.
            let _ = path.keep();
        }
    }

    /// Renames the file; `over`: also to a name that exists.
    fn rename(&mut self, to: &Path, over: bool) -> io::Result<()> {
        let Some(path) = self.path.take() else {
            return Ok(());
        };
        let old = path.to_path_buf();
        let renamed = match over {
            true => path.persist(to),
            false => path.persist_noclobber(to),
        };
        if let Err(error) = renamed {
            self.path = Some(error.path);
            return Err(error.error);
        }
        forget(&old);
        Ok(())
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            forget(&path);
        }
    }
}

/// Adds a path to those that [`give_up`] removes.
pub(crate) fn register(path: &Path) {
    lock(&HIDDEN).insert(path.to_path_buf());
}

/// Undoes [`register`].
pub(crate) fn forget(path: &Path) {
    lock(&HIDDEN).remove(path);
}

impl Unfinished {
    /// A new file that will be put in a directory, or below it. The directory must exist.
    ///
    /// # Errors
    /// What the system says.
    pub fn in_dir(dir: &Path) -> io::Result<Unfinished> {
        let dir = dir.to_path_buf();
        if let Some(file) = nameless(&dir) {
            // The lock holds for later names of the file. Without locks no leftovers are removed.
            let _ = file.try_lock();
            let name = None;
            return Ok(Unfinished { file, dir, name });
        }
        loop {
            let mut made = None;
            let name = Hidden::new(&dir, PART, |path| {
                made = Some(create(path)?);
                Ok(())
            })?;
            let Some(file) = made else {
                return Err(io::ErrorKind::NotFound.into());
            };
            // Another run may have found the file before it was locked.
            let lost = matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock));
            if !lost && name.path().exists() {
                let name = Some(name);
                return Ok(Unfinished { file, dir, name });
            }
        }
    }

    /// The file, for writing.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// The file for writing it from its start: a plugin that writes to every descriptor has written to this one.
    ///
    /// # Errors
    /// What the system says.
    pub fn anew(&mut self) -> io::Result<&mut File> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        Ok(&mut self.file)
    }

    /// Waits until the file's contents are on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Puts the file at a path where nothing is.
    ///
    /// # Errors
    /// `AlreadyExists` if something is there, and the system's other errors.
    pub(crate) fn put_new(&mut self, path: &Path) -> io::Result<()> {
        match &mut self.name {
            Some(name) => name.rename(path, false),
            None => link(&self.file, path),
        }
    }

    /// Puts the file at a path, in place of the file that is there, and with its permissions.
    pub(crate) fn put(mut self, path: &Path) -> io::Result<()> {
        #[cfg(unix)]
        if let Some(known) = path.symlink_metadata().ok().filter(|known| known.is_file()) {
            let rights = known.permissions();
            if self.file.metadata()?.permissions() != rights {
                self.file.set_permissions(rights)?;
            }
        }
        if self.name.is_none() {
            match self.put_new(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                done => return done,
            }
        }
        self.hidden(PART)?.rename(path, true)
    }

    /// Gives the file a hidden name, which is removed when the returned value is dropped.
    pub(crate) fn hidden(mut self, suffix: &str) -> io::Result<Hidden> {
        let mut hidden = match self.name.take() {
            Some(name) if name.path().to_string_lossy().ends_with(suffix) => name,
            Some(mut name) => {
                let at = name.path().with_extension(suffix.trim_start_matches('.'));
                name.rename(&at, false)?;
                register(&at);
                name.path = Some(TempPath::try_from_path(at)?);
                name
            }
            None => Hidden::new(&self.dir, suffix, |path| link(&self.file, path))?,
        };
        hidden.lock = Some(self.file);
        Ok(hidden)
    }
}

/// The system's error without the path that a library adds to it.
fn plain(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    }
}

/// Creates a file at a path where nothing is.
fn create(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create_new(true).open(path)
}

/// A file without a name, if the system has such files and can name them later.
#[cfg(target_os = "linux")]
fn nameless(dir: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(dir, flags, Mode::from_raw_mode(0o666)).ok()?);
    // Such a file can be named only through /proc.
    at(&file).symlink_metadata().is_ok().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_dir: &Path) -> Option<File> {
    None
}

/// The path at which an open file can be found.
#[cfg(target_os = "linux")]
fn at(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Gives a nameless file a name.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, at(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
