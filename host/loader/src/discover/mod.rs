//! Finding plugins in directories.
//!
//! Directories are searched in the order in which the user named them, without subdirectories. In each of them, the
//! files with the system's extension for libraries are opened in the order of their names. The error about an unusable
//! file is stored, since it matters only if a pass is missing that the file may define.
//!
//! A library of another system is ignored if the directory has one of the same name for this system. Errors about other
//! such libraries are stored separately if there are libraries for this system. So are errors about libraries that
//! aren't plugins, in directories for all kinds of libraries.

mod default_dirs;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use passdock_abi as abi;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::error::{DirError, PluginError, PluginErrorKind as Kind};
use crate::file::{EXTENSION, Identity};
use crate::library::Plugin;

pub use default_dirs::{default_dirs, dir_in_prefix, user_dir};

/// A directory that is searched for plugins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchDir {
    /// The directory's path.
    pub path: PathBuf,
    /// Whether the user named the directory, so that it must exist.
    pub required: bool,
    /// Whether the directory may have libraries that aren't plugins, as a program's directory may. They are skipped.
    pub mixed: bool,
}

/// The plugins and the unusable files found in the directories.
#[derive(Debug, Default)]
pub struct Discovered {
    /// The plugins, in search order. None is loaded.
    pub plugins: Vec<Arc<Plugin>>,
    /// The errors about files that look like plugins and can't be used.
    pub unreadable: Vec<PluginError>,
    /// The errors about skipped libraries: those of other systems in directories that have some for this one, and
    /// libraries that aren't plugins in mixed directories.
    pub passed_over: Vec<PluginError>,
}

/// The minimum number of files in a directory for opening them in parallel. For fewer files, starting threads costs
/// more than it saves.
const MANY: usize = 32;

/// Finds the plugins in directories. A library that is reached by two paths counts once.
///
/// # Errors
/// If a required directory can't be read.
pub fn discover(dirs: &[SearchDir]) -> Result<Discovered, DirError> {
    let mut discovered = Discovered::default();
    let mut searched = HashSet::new();
    let mut files: HashSet<Identity> = HashSet::new();
    for dir in dirs {
        if searched.contains(&dir.path) {
            continue;
        }
        let libraries = match libraries_in(&dir.path) {
            Ok(libraries) => libraries,
            Err(_) if !dir.required => continue,
            Err(error) => {
                let path = dir.path.clone();
                return Err(DirError { path, error });
            }
        };
        searched.insert(&dir.path);
        let (own, mut foreign): (Vec<_>, Vec<_>) =
            libraries.into_iter().partition(|path| is_own(path));
        let names: HashSet<&str> = own.iter().filter_map(|own| name(own)).collect();
        foreign.retain(|path| name(path).is_none_or(|name| !names.contains(name)));
        let open = |path: &PathBuf| Plugin::open(path).map(Arc::new);
        // A separate pool, because the threads of a shared pool don't exist in a forked process.
        let threads = ThreadPoolBuilder::new();
        let threads = (own.len() >= MANY).then(|| threads.build().ok()).flatten();
        let mut opened: Vec<Result<Arc<Plugin>, PluginError>> = match threads {
            Some(threads) => threads.install(|| own.par_iter().map(open).collect()),
            None => own.iter().map(open).collect(),
        };
        opened.extend(foreign.iter().map(open));
        // Only libraries of other systems are probably an error. Next to some for this system, they are probably
        // intentional.
        let is_foreign = |error: &PluginError| !error.origin.path().is_some_and(is_own);
        let is_passed_over = |error: &PluginError| {
            dir.mixed && is_no_plugin(error) || !own.is_empty() && is_foreign(error)
        };
        let mut plugins = Vec::with_capacity(opened.len());
        for opened in opened {
            match opened {
                Ok(plugin) => plugins.push(plugin),
                Err(error) if is_passed_over(&error) => discovered.passed_over.push(error),
                Err(error) => discovered.unreadable.push(error),
            }
        }
        plugins.retain(|plugin| plugin.file().is_none_or(|file| files.insert(*file)));
        discovered.plugins.extend(plugins);
    }
    Ok(discovered)
}

/// Whether a file is a library of this system without a plugin's entry point.
fn is_no_plugin(error: &PluginError) -> bool {
    matches!(*error.kind, Kind::MissingSymbol { symbol } if symbol == abi::ENTRY_SYMBOL)
}

/// Whether an error is about an unrelated library: it has neither a plugin's symbol of another ABI version nor the
/// SDK's name. This reads the file, so call it only after a pass wasn't found.
pub fn is_unrelated(error: &PluginError) -> bool {
    /// The prefix of a plugin's symbols in every ABI version.
    const PREFIX: &[u8] = b"passdock";
    let path = error.origin.path().filter(|_| is_no_plugin(error));
    path.and_then(|path| std::fs::read(path).ok())
        .is_some_and(|bytes| !bytes.windows(PREFIX.len()).any(|part| part == PREFIX))
}

/// Rejects a plugin that defines an op which another one defines since the same version: the two definitions would be
/// ambiguous.
///
/// # Errors
/// If another plugin defines the same op.
pub fn check_op_conflicts(plugin: &Plugin, others: &[Arc<Plugin>]) -> Result<(), PluginError> {
    let own: HashSet<(&str, i64)> = defined(plugin).collect();
    if own.is_empty() {
        return Ok(());
    }
    for other in others {
        if let Some((name, since)) = defined(other).find(|op| own.contains(op)) {
            let kind = Kind::Conflict {
                what: "definition of",
                name: format!("{name} since {since}"),
                other: other.origin().clone(),
            };
            return Err(PluginError::new(plugin.origin().clone(), kind));
        }
    }
    Ok(())
}

/// Returns the ops that a plugin defines. Extensions aren't included, since any number of plugins may extend a
/// definition.
fn defined(plugin: &Plugin) -> impl Iterator<Item = (&str, i64)> {
    let ops = plugin.manifest().ops.iter().filter(|op| !op.extends);
    ops.map(|op| (op.name.as_str(), op.since))
}

/// Returns the name of a library on any system: `acme` for `libacme.so` and for `acme.dll`.
fn name(path: &Path) -> Option<&str> {
    let stem = path.file_stem()?.to_str()?;
    Some(stem.strip_prefix("lib").unwrap_or(stem))
}

/// Whether a library has this system's extension.
fn is_own(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == EXTENSION)
}

/// The extensions of libraries on all systems.
const EXTENSIONS: [&str; 3] = ["so", "dylib", "dll"];

/// Lists the libraries in a directory, sorted by name.
fn libraries_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut libraries = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let is_hidden = path
            .file_name()
            .is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        let extension = path.extension().and_then(OsStr::to_str);
        if !is_hidden && extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
            libraries.push(path);
        }
    }
    // Compared as strings: comparing paths would split them into components each time.
    libraries.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(libraries)
}

#[cfg(test)]
mod tests;
