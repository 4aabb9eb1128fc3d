//! Locking the plugins of a pipeline, and comparing plugins with the lock.

use std::collections::{BTreeMap, BTreeSet};
use std::env::consts::{ARCH, OS};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use passdock_core::discover::user_dir;
use passdock_core::{ErrorKind, PassError, Plugin, Registry};
use passdock_files::directory_of;
use serde::Serialize;

use super::admission::prepared;
use super::contents;
use super::lock_file::{LockFile, LockedPlugin};
use crate::prepare::{Request, Watched, is_standard_dir};
use crate::reproducer::shell_quoted;

/// The name of a lock file.
const NAME: &str = "passdock.lock";

/// The plugins that a pipeline's lock file has after locking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LockUpdate {
    /// The path of the lock file.
    pub file: PathBuf,
    /// The platform whose hashes were written.
    pub platform: String,
    /// The pipeline's plugins, and those that it doesn't need any more, sorted by name.
    pub plugins: Vec<Locked>,
}

/// A plugin in a lock file, and its change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Locked {
    /// The plugin.
    #[serde(flatten)]
    pub plugin: LockedPlugin,
    /// The change in the lock file.
    pub change: LockChange,
    /// The version in the lock file before, if it was another one.
    pub old_version: Option<String>,
}

/// The change of a plugin in a lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LockChange {
    /// The plugin is new.
    Added,
    /// The plugin was locked in another state, or for other platforms only.
    Updated,
    /// Nothing changed.
    Unchanged,
    /// The pipeline doesn't need the plugin any more.
    Removed,
}

/// Returns the path of the lock file of a request's pipeline, which is next to the pipeline. `None` without a pipeline.
pub fn lock_path(request: &Request) -> Option<PathBuf> {
    let pipeline = request.pipeline.as_ref()?;
    Some(pipeline.path.with_file_name(NAME))
}

/// Locks the plugins that a request's run may load: writes their names, versions and hashes to the lock file next to
/// the pipeline. The hashes for other platforms are kept if a plugin's version didn't change. No plugin is loaded. With
/// `locked`, the plugins are compared with the lock file, and nothing is written.
///
/// # Errors
/// If the request has no pipeline, names something unknown, or the lock file can't be read or written.
pub fn lock(registry: &Registry, request: &Request) -> Result<LockUpdate, PassError> {
    let (path, pipeline) = lock_of(request)?;
    let prepared = prepared(registry, request, Watched::default())?;
    let old = LockFile::read(&path)?;
    let mut file = old.clone().unwrap_or_default();
    let mut plugins = Vec::new();
    for plugin in prepared.needed_plugins(request)? {
        let Some(own_path) = plugin.origin().path() else {
            continue;
        };
        let origin = origin(own_path, &path, request);
        let new = locked_plugin(&plugin, origin, contents::blake3(&plugin)?);
        plugins.push(file.put(new, &pipeline));
    }
    plugins.extend(file.remove_all_but(&plugins, &pipeline));
    plugins.sort_by(|a, b| a.plugin.name.cmp(&b.plugin.name));
    if old.as_ref() != Some(&file) && !request.locked {
        file.write(&path)?;
    }
    Ok(LockUpdate {
        file: path,
        platform: platform(),
        plugins,
    })
}

/// Returns the path of a request's lock file, and the name of its pipeline there.
fn lock_of(request: &Request) -> Result<(PathBuf, String), PassError> {
    let pipeline = request.pipeline.as_ref();
    let name = pipeline.and_then(|pipeline| pipeline.path.file_name());
    match (lock_path(request), name.and_then(OsStr::to_str)) {
        (Some(path), Some(name)) => Ok((path, name.to_owned())),
        (Some(path), None) => {
            let message = format!(
                "the name of the pipeline in `{}` is not UTF-8",
                path.display()
            );
            Err(PassError::new(ErrorKind::Lock, message).help("rename the pipeline"))
        }
        (None, _) => {
            let message = "only the plugins of a pipeline can be locked";
            let help = "list the passes or the .rules file in a pipeline, and lock that";
            Err(PassError::new(ErrorKind::Lock, message).help(help))
        }
    }
}

impl LockFile {
    /// Adds a plugin of a pipeline, or updates it.
    fn put(&mut self, new: LockedPlugin, pipeline: &str) -> Locked {
        let at = self.plugins.partition_point(|old| old.name < new.name);
        let old = self.plugins.get(at).filter(|old| old.name == new.name);
        let old = old.cloned();
        let mut put = new;
        put.pipelines.insert(pipeline.to_owned());
        if let Some(old) = &old {
            put.pipelines.extend(old.pipelines.iter().cloned());
            if (&old.version, &old.abi) == (&put.version, &put.abi) {
                let others = old.blake3.iter();
                let others = others.filter(|(other, _)| **other != platform());
                put.blake3
                    .extend(others.map(|(other, hash)| (other.clone(), hash.clone())));
            }
            self.plugins.remove(at);
        }
        let change = match &old {
            None => LockChange::Added,
            Some(old) if *old == put => LockChange::Unchanged,
            Some(_) => LockChange::Updated,
        };
        let old_version = old.map(|old| old.version).filter(|old| *old != put.version);
        self.plugins.insert(at, put.clone());
        Locked {
            plugin: put,
            change,
            old_version,
        }
    }

    /// Removes a pipeline from the plugins that it doesn't need any more, and plugins without a pipeline.
    fn remove_all_but(&mut self, needed: &[Locked], pipeline: &str) -> Vec<Locked> {
        let is_needed =
            |plugin: &LockedPlugin| needed.iter().any(|one| one.plugin.name == plugin.name);
        let mut removed = Vec::new();
        for plugin in self.plugins.iter_mut().filter(|plugin| !is_needed(plugin)) {
            if plugin.pipelines.remove(pipeline) {
                removed.push(Locked {
                    plugin: plugin.clone(),
                    change: LockChange::Removed,
                    old_version: None,
                });
            }
        }
        self.plugins.retain(|plugin| !plugin.pipelines.is_empty());
        removed
    }
}

/// Returns the entry of a plugin whose file has a given hash on this platform.
fn locked_plugin(plugin: &Plugin, origin: String, blake3: String) -> LockedPlugin {
    let about = &plugin.manifest().plugin;
    LockedPlugin {
        name: about.name.clone(),
        version: about.version.clone(),
        abi: about.abi.to_string(),
        origin,
        pipelines: BTreeSet::new(),
        blake3: BTreeMap::from([(platform(), blake3)]),
    }
}

/// The lock of a pipeline, for comparing plugins with it.
pub(super) struct Lock {
    path: PathBuf,
    /// The plugins of the pipeline.
    plugins: Vec<LockedPlugin>,
    /// The command that updates the lock.
    command: String,
}

impl Lock {
    /// Reads the lock of a request's pipeline.
    ///
    /// # Errors
    /// If there is no lock, or it can't be read or is invalid.
    pub(super) fn read(request: &Request) -> Result<Lock, PassError> {
        let (path, pipeline) = lock_of(request)?;
        let command = command(request);
        let Some(file) = LockFile::read(&path)? else {
            let message = format!("`{}` does not exist", path.display());
            let error = PassError::new(ErrorKind::Lock, message);
            return Err(error.help(format!("lock the plugins of the pipeline: `{command}`")));
        };
        let plugins = file.plugins.into_iter();
        let plugins: Vec<LockedPlugin> = plugins
            .filter(|plugin| plugin.pipelines.contains(&pipeline))
            .collect();
        Ok(Lock {
            path,
            plugins,
            command,
        })
    }

    /// Returns whether the lock has a plugin of a name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.plugins.iter().any(|plugin| plugin.name == name)
    }

    /// Describes how a plugin, whose file has a given hash, differs from its entry in the lock, as a predicate: `has
    /// version 1.3.0, locked 1.2.0`.
    pub(super) fn difference(&self, plugin: &Plugin, blake3: &str) -> Option<String> {
        let name = plugin.name();
        let locked = self.plugins.iter().find(|locked| locked.name == name)?;
        let about = &plugin.manifest().plugin;
        let platform = platform();
        let mut fields = Vec::new();
        if about.version != locked.version {
            let (locked, found) = (&locked.version, &about.version);
            fields.push(format!("version {found}, locked {locked}"));
        }
        let abi = about.abi.to_string();
        if abi != locked.abi {
            fields.push(format!("ABI {abi}, locked {}", locked.abi));
        }
        match locked.blake3.get(&platform) {
            Some(locked) if locked == blake3 => {}
            Some(locked) => fields.push(format!("BLAKE3 {blake3}, locked {locked}")),
            None => fields.push(format!("BLAKE3 {blake3}, not locked for {platform}")),
        }
        let fields = Some(fields.join("; ")).filter(|fields| !fields.is_empty());
        fields.map(|fields| format!("has {fields}"))
    }

    /// Describes the locked plugins that a registry doesn't have.
    pub(super) fn missing(&self, registry: &Registry) -> Vec<String> {
        let plugins = self.plugins.iter();
        let missing = plugins.filter(|locked| registry.plugin(&locked.name).is_none());
        let missing = missing.map(|locked| {
            let (name, version, origin) = (&locked.name, &locked.version, &locked.origin);
            format!("plugin `{name}` {version} is missing; it was locked in {origin}")
        });
        missing.collect()
    }

    /// Returns the error for plugins that differ from the lock.
    pub(super) fn error(&self, differences: Vec<String>) -> PassError {
        let message = format!("the plugins differ from `{}`", self.path.display());
        let mut error = PassError::new(ErrorKind::Lock, message);
        error.notes = differences;
        error.help(format!(
            "use the locked plugins; if the change is intended, run `{}`",
            self.command
        ))
    }
}

/// Returns the command that locks the plugins of a request.
fn command(request: &Request) -> String {
    let mut command = "passdock lock".to_owned();
    let mut add = |flag: &str, value: &str| {
        command += &format!(" {flag}{}", shell_quoted(value));
    };
    if let Some(pipeline) = &request.pipeline {
        add("", &pipeline.name());
    }
    for file in &request.plugin_files {
        add("--plugin ", &file.to_string_lossy());
    }
    for dir in &request.plugin_dirs {
        add("--plugin-dir ", &dir.to_string_lossy());
    }
    if !request.passes.is_empty() {
        add("--passes ", &request.passes.join(","));
    }
    if request.trust {
        command += " --trust";
    }
    command
}

/// Returns the platform of this host, such as `linux-x86_64`.
fn platform() -> String {
    match cfg!(target_env = "musl") {
        true => format!("{OS}-{ARCH}-musl"),
        false => format!("{OS}-{ARCH}"),
    }
}

/// Describes where a plugin was found, independent of the machine: the kind of default directory, or the path relative
/// to the lock file, or the option that named it.
fn origin(plugin: &Path, lock: &Path, request: &Request) -> String {
    let dir = directory_of(plugin);
    let is_named = request.plugin_files.iter().any(|file| file == plugin);
    let is_default = !is_named && request.default_dirs.iter().any(|default| default == dir);
    if is_default {
        let named = std::env::var_os("PASSDOCK_PLUGIN_PATH").unwrap_or_default();
        let kind = if is_standard_dir(request, dir) {
            "standard plugins"
        } else if user_dir().is_some_and(|user| dir.starts_with(user)) {
            "installed plugins"
        } else if std::env::split_paths(&named).any(|named| named == dir) {
            "PASSDOCK_PLUGIN_PATH"
        } else {
            "Python environment"
        };
        return kind.to_owned();
    }
    let base = directory_of(lock).canonicalize();
    let inside = base.ok().zip(plugin.canonicalize().ok());
    let inside = inside.and_then(|(base, plugin)| Some(plugin.strip_prefix(base).ok()?.to_owned()));
    match inside {
        Some(inside) => inside.to_string_lossy().replace('\\', "/"),
        None if is_named => "--plugin".to_owned(),
        None if request.plugin_dirs.iter().any(|named| named == dir) => "--plugin-dir".to_owned(),
        None => "[plugins] of the pipeline".to_owned(),
    }
}
