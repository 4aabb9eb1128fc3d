//! Finding plugins in directories.
//!
//! Directories in the order in which the user named them, not their subdirectories, files by the
//! system's ending for libraries, in the order of their names. A file that can't be used is kept as
//! a warning: it only matters when something that it might have given is missed.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{DirError, PluginError, PluginErrorKind as Kind};
use super::file::{EXTENSION, Identity};
use super::library::Plugin;

/// A directory to look in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchDir {
    /// The directory.
    pub path: PathBuf,
    /// Whether the user named it, so that it has to be there.
    pub required: bool,
}

/// What was found in the directories.
#[derive(Debug, Default)]
pub struct Discovered {
    /// The plugins, in search order. None is loaded.
    pub plugins: Vec<Arc<Plugin>>,
    /// Files that look like plugins and can't be used.
    pub unreadable: Vec<PluginError>,
}

/// Looks for plugins. A library that is reached by two ways counts once.
pub fn discover(dirs: &[SearchDir]) -> Result<Discovered, DirError> {
    let mut found = Discovered::default();
    let mut names = HashSet::new();
    let mut files: HashSet<Identity> = HashSet::new();
    for dir in dirs {
        let paths = match libraries_in(&dir.path) {
            Ok(paths) => paths,
            Err(_) if !dir.required => continue,
            Err(error) => {
                let path = dir.path.clone();
                return Err(DirError { path, error });
            }
        };
        for path in paths {
            if !names.insert(path.clone()) {
                continue;
            }
            match Plugin::open(&path) {
                Ok(plugin) => {
                    if plugin.identity().is_none_or(|file| files.insert(*file)) {
                        found.plugins.push(Arc::new(plugin));
                    }
                }
                Err(error) => found.unreadable.push(error),
            }
        }
    }
    Ok(found)
}

/// Refuses a plugin that defines an op which another defines since the same version: nothing tells
/// which is meant.
pub fn check_op_conflicts(plugin: &Plugin, others: &[Arc<Plugin>]) -> Result<(), PluginError> {
    let ops = &plugin.manifest().ops;
    let own: HashSet<(&str, u32)> = ops.iter().map(|op| (op.name.as_str(), op.since)).collect();
    if own.is_empty() {
        return Ok(());
    }
    for other in others {
        let ops = other.manifest().ops.iter();
        let mut ops = ops.map(|op| (op.name.as_str(), op.since));
        if let Some((name, since)) = ops.find(|op| own.contains(op)) {
            let kind = Kind::Conflict {
                what: "the definition of",
                name: format!("{name} since {since}"),
                other: other.origin().clone(),
            };
            return Err(PluginError::new(plugin.origin().clone(), kind));
        }
    }
    Ok(())
}

fn libraries_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let is_hidden = path
            .file_name()
            .is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        if !is_hidden && path.extension().is_some_and(|e| e == EXTENSION) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
