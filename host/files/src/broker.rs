//! Output files of a process in a sandbox, which may write only temporary files. Its broker, the process that started
//! it, copies them to their final paths.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use serde::{Deserialize, Serialize};

use crate::directory::OutputDirectory;
use crate::locked;
use crate::numbered::{is_numbered, remove_numbered};
use crate::target::{check_writable, write_file};

/// A change to files that a process asks its broker for.
#[derive(Debug, Serialize, Deserialize)]
pub enum OutputRequest {
    /// Checks that a file can be created at a path.
    Check {
        /// The path.
        #[serde(with = "crate::raw_path")]
        path: PathBuf,
    },
    /// Creates a directory and its parents.
    CreateDirectory {
        /// The directory.
        #[serde(with = "crate::raw_path")]
        path: PathBuf,
    },
    /// Copies a temporary file to a path.
    File {
        /// The temporary file.
        #[serde(with = "crate::raw_path")]
        from: PathBuf,
        /// The final path.
        #[serde(with = "crate::raw_path")]
        path: PathBuf,
        /// Whether to sync it to disk.
        durable: bool,
    },
    /// Copies a temporary directory to a path.
    Directory {
        /// The temporary directory.
        #[serde(with = "crate::raw_path")]
        from: PathBuf,
        /// The final path.
        #[serde(with = "crate::raw_path")]
        path: PathBuf,
        /// The file that an existing directory must have to be replaced.
        marker: String,
    },
    /// Removes numbered files of a directory. See [`crate::remove_numbered_files`].
    RemoveNumbered {
        /// The directory.
        #[serde(with = "crate::raw_path")]
        path: PathBuf,
        /// The end of the names.
        suffix: String,
    },
}

/// A function that asks the broker for a change. The result is what [`OutputRequest::fulfill`] returns.
pub type Broker = dyn Fn(OutputRequest) -> io::Result<Option<String>> + Send + Sync;

static BROKER: OnceLock<(PathBuf, Box<Broker>)> = OnceLock::new();

/// The paths that this process may write.
static DECLARED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Sets the broker of this process, which from then on writes all output files outside of the directory `temporary`.
pub fn set_broker(
    temporary: PathBuf,
    broker: impl Fn(OutputRequest) -> io::Result<Option<String>> + Send + Sync + 'static,
) {
    _ = BROKER.set((temporary, Box::new(broker)));
}

/// Returns the broker that writes a file of this process, if it has one.
pub(crate) fn broker_for(path: &Path) -> Option<&'static Broker> {
    let (temporary, broker) = BROKER.get()?;
    (!path.starts_with(temporary)).then_some(&**broker)
}

/// Declares that this process will write a file or a directory, or numbered `.ir` files in the directory. A process in a
/// sandbox must declare its outputs before it enters it.
pub fn declare_output(path: &Path) {
    if broker_for(path).is_some() {
        locked(&DECLARED).insert(resolved(path));
    }
}

/// Returns the declared outputs.
pub fn declared_outputs() -> Vec<PathBuf> {
    locked(&DECLARED).iter().cloned().collect()
}

impl OutputRequest {
    /// Changes files for another process, whose temporary files are in `temporary`, and which may only write to
    /// `allowed`. Returns a name for [`OutputRequest::RemoveNumbered`].
    ///
    /// # Errors
    /// If the request isn't allowed, or the system's error.
    pub fn fulfill(
        &self,
        temporary: &Path,
        allowed: Option<&[PathBuf]>,
    ) -> io::Result<Option<String>> {
        let (OutputRequest::Check { path }
        | OutputRequest::CreateDirectory { path }
        | OutputRequest::File { path, .. }
        | OutputRequest::Directory { path, .. }
        | OutputRequest::RemoveNumbered { path, .. }) = self;
        let is_whole = |path: &Path| {
            let mut parts = path.components();
            path.is_absolute() && parts.all(|part| part != Component::ParentDir)
        };
        let to = resolved(path);
        let name = to
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let is_dump = |one: &PathBuf| to.parent() == Some(one) && is_numbered(name, ".ir");
        let is_allowed = |all: &[PathBuf]| all.iter().any(|one| to == *one || is_dump(one));
        if !is_whole(path) || !allowed.is_none_or(is_allowed) {
            return Err(io::Error::other("the path is not an output of this run"));
        }
        if let OutputRequest::File { from, .. } | OutputRequest::Directory { from, .. } = self
            && (!is_whole(from) || !from.starts_with(temporary))
        {
            return Err(io::Error::other("not a temporary file of this run"));
        }
        match self {
            OutputRequest::Check { path } => check_writable(path).map(|()| None),
            OutputRequest::CreateDirectory { path } => fs::create_dir_all(path).map(|()| None),
            OutputRequest::File {
                from,
                path,
                durable,
            } => {
                let mut from = open_regular(from)?;
                let copy = |to: &mut File| io::copy(&mut from, to).map(drop);
                write_file(path, *durable, copy).map(|()| None)
            }
            OutputRequest::Directory { from, path, marker } => {
                let directory = OutputDirectory::new(path, marker)?;
                copy_tree(from, directory.path())?;
                directory.finish().map(|()| None)
            }
            OutputRequest::RemoveNumbered { path, suffix } => remove_numbered(path, suffix),
        }
    }
}

/// Resolves the links of a path. Its end may not exist.
fn resolved(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for parent in whole.ancestors() {
        if let (Ok(known), Ok(rest)) = (dunce::canonicalize(parent), whole.strip_prefix(parent)) {
            return match rest.as_os_str().is_empty() {
                true => known,
                false => known.join(rest),
            };
        }
    }
    whole
}

/// Opens a file that another process wrote, unless it is a link or a special file.
fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a regular file")),
    }
}

/// Copies the files of a directory at any depth.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let mut left = vec![(from.to_path_buf(), to.to_path_buf())];
    while let Some((from, to)) = left.pop() {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let to = to.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                fs::create_dir(&to)?;
                left.push((entry.path(), to));
            } else {
                io::copy(
                    &mut open_regular(&entry.path())?,
                    &mut File::create_new(to)?,
                )?;
            }
        }
    }
    Ok(())
}

/// Creates a directory and its parents.
///
/// # Errors
/// The system's error.
pub fn create_directory(path: &Path) -> io::Result<()> {
    match broker_for(path) {
        Some(_) if path.is_dir() => Ok(()),
        Some(broker) => {
            let path = std::path::absolute(path)?;
            broker(OutputRequest::CreateDirectory { path }).map(drop)
        }
        None => fs::create_dir_all(path),
    }
}
