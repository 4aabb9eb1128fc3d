//! Finding plugins in directories.
//!
//! Directories in the order in which the user named them, not their subdirectories, files by the
//! system's ending for libraries, in the order of their names. A file that can't be used is kept as
//! a warning: it only matters when something that it might have given is missed. So is a library of
//! another system, unless one of the same name for this system is beside it.

mod cache;
mod codec;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use crate::error::{DirError, PluginError, PluginErrorKind as Kind};
use crate::file::{EXPECTED, EXTENSION, Identity};
use crate::library::Plugin;
pub use cache::ManifestCache;

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
    /// Libraries of other systems, by their endings, among others of this one.
    pub passed_over: Vec<PluginError>,
}

/// The libraries in a directory.
#[derive(Default)]
struct Listing {
    /// By the ending that this system's have.
    own: Vec<PathBuf>,
    /// By the ending of another system's.
    foreign: Vec<(PathBuf, &'static str)>,
}

/// So many files of a directory are looked at on all cores: for fewer, threads aren't worth it.
const MANY: usize = 32;

/// Looks for plugins. A library that is reached by two ways counts once. Manifests that `cache` has
/// aren't read again.
///
/// # Errors
/// If a directory that has to be there can't be read.
pub fn discover(dirs: &[SearchDir], cache: Option<&ManifestCache>) -> Result<Discovered, DirError> {
    let mut found = Discovered::default();
    let mut searched = HashSet::new();
    let mut files: HashSet<Identity> = HashSet::new();
    for dir in dirs {
        if searched.contains(&dir.path) {
            continue;
        }
        let listing = match libraries_in(&dir.path) {
            Ok(listing) => listing,
            Err(_) if !dir.required => continue,
            Err(error) => {
                let path = dir.path.clone();
                return Err(DirError { path, error });
            }
        };
        searched.insert(&dir.path);
        found.tell_foreign(&listing);
        let kept = cache.map(|cache| cache.of(&dir.path));
        let open = |path: &PathBuf| {
            let known = kept.as_ref().and_then(|kept| kept.plugin(path));
            known.map_or_else(|| Plugin::open(path), Ok).map(Arc::new)
        };
        let own = listing.own;
        let opened: Vec<Result<Arc<Plugin>, PluginError>> = match own.len() < MANY {
            true => own.iter().map(open).collect(),
            false => own.par_iter().map(open).collect(),
        };
        let mut plugins = Vec::with_capacity(opened.len());
        for opened in opened {
            match opened {
                Ok(plugin) => plugins.push(plugin),
                Err(error) => found.unreadable.push(error),
            }
        }
        if let Some(kept) = kept {
            kept.keep(&plugins);
        }
        plugins.retain(|plugin| plugin.file().is_none_or(|(file, _)| files.insert(*file)));
        found.plugins.extend(plugins);
    }
    Ok(found)
}

/// Refuses a plugin that defines an op which another defines since the same version: nothing tells
/// which is meant.
///
/// # Errors
/// If one of the others defines the same op.
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

impl Discovered {
    /// Keeps a warning for each library of another system that isn't there for this one, too.
    fn tell_foreign(&mut self, listing: &Listing) {
        if listing.foreign.is_empty() {
            return;
        }
        let known: HashSet<&str> = listing.own.iter().filter_map(|own| name(own)).collect();
        // Where nothing is of this system, somebody mistook the file; elsewhere it may just be there.
        let errors = match listing.own.is_empty() {
            true => &mut self.unreadable,
            false => &mut self.passed_over,
        };
        for (path, system) in &listing.foreign {
            let alone = name(path).is_none_or(|name| !known.contains(name));
            if alone {
                let kind = Kind::OtherSystem {
                    system,
                    expected: EXPECTED,
                };
                errors.push(PluginError::file(path, kind));
            }
        }
    }
}

/// What a library is called on any system: `acme` of `libacme.so` and of `acme.dll`.
fn name(path: &Path) -> Option<&str> {
    let stem = path.file_stem()?.to_str()?;
    Some(stem.strip_prefix("lib").unwrap_or(stem))
}

fn text(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// The systems whose libraries have an ending of their own.
const SYSTEMS: [(&str, &str); 3] = [("so", "Linux"), ("dylib", "macOS"), ("dll", "Windows")];

fn libraries_in(dir: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let is_hidden = path
            .file_name()
            .is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        let Some(ending) = path.extension().and_then(OsStr::to_str) else {
            continue;
        };
        if is_hidden {
            continue;
        }
        if ending == EXTENSION {
            listing.own.push(path);
        } else if let Some((_, system)) = SYSTEMS.iter().find(|(known, _)| *known == ending) {
            listing.foreign.push((path, system));
        }
    }
    // As text: all begin with the same directory, and comparing paths takes them apart each time.
    listing.own.sort_unstable_by(|a, b| text(a).cmp(text(b)));
    listing.foreign.sort();
    Ok(listing)
}
