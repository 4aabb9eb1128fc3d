//! The format of lock files, which are untrusted input.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::path::Path;

use passdock_core::{ErrorKind, PassError, Snippet, terminal};
use passdock_files::Target;
use serde::{Deserialize, Serialize};

/// The version of the file format.
const VERSION: u32 = 1;

/// The maximum size of a lock file in bytes.
const MAX_LEN: u64 = 4 << 20;

/// The text before the plugins.
const HEADER: &str = "# Written by `passdock lock`. Don't edit it; commit it with the pipeline.\n";

/// A lock file: the plugins of the pipelines in its directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LockFile {
    version: u32,
    /// The plugins, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) plugins: Vec<LockedPlugin>,
}

/// A plugin in a lock file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedPlugin {
    /// The plugin's name.
    pub name: String,
    /// The plugin's version.
    pub version: String,
    /// The plugin ABI that it was built for.
    pub abi: String,
    /// The path relative to the lock file, or the kind of directory in which it was found.
    pub origin: String,
    /// The pipelines that need the plugin: names of files in the directory of the lock file, and of built-in
    /// pipelines.
    pub pipelines: BTreeSet<String>,
    /// The BLAKE3 hash of the file for each platform.
    pub blake3: BTreeMap<String, String>,
}

impl LockedPlugin {
    fn strings(&self) -> impl Iterator<Item = &str> {
        let single = [&self.name, &self.version, &self.abi, &self.origin].into_iter();
        let hashes = self
            .blake3
            .iter()
            .flat_map(|(platform, hash)| [platform, hash]);
        let all = single.chain(&self.pipelines).chain(hashes);
        all.map(String::as_str)
    }
}

/// The version of any lock file.
#[derive(Deserialize)]
struct AnyVersion {
    version: u32,
}

impl Default for LockFile {
    fn default() -> LockFile {
        LockFile {
            version: VERSION,
            plugins: Vec::new(),
        }
    }
}

impl LockFile {
    /// Reads a lock file. Returns `None` if there is none.
    ///
    /// # Errors
    /// If it can't be read or is invalid.
    pub(super) fn read(path: &Path) -> Result<Option<LockFile>, PassError> {
        let unreadable = |why: &dyn std::fmt::Display| {
            let message = format!("could not read `{}`: {why}", path.display());
            PassError::new(ErrorKind::Lock, message)
        };
        let file = match passdock_files::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&error)),
        };
        let mut text = String::new();
        let len = file.take(MAX_LEN + 1).read_to_string(&mut text);
        if len.map_err(|error| unreadable(&error))? as u64 > MAX_LEN {
            return Err(unreadable(&"it is too large for a lock file"));
        }
        LockFile::parse(&path.to_string_lossy(), &text).map(Some)
    }

    /// Parses the text of a lock file. `name` is its path in errors.
    pub(super) fn parse(name: &str, text: &str) -> Result<LockFile, PassError> {
        let invalid = |error: toml::de::Error| {
            let message = format!("invalid lock file: {}", error.message());
            let snippet = Snippet::new(name, text, error.span().unwrap_or(0..0), "");
            let error = PassError::new(ErrorKind::Lock, message).snippet(snippet);
            error.help("restore the file, or delete it and run `passdock lock`")
        };
        let AnyVersion { version } = toml::from_str(text).map_err(invalid)?;
        if version != VERSION {
            let message = format!("unsupported version {version} of `{name}`, expected {VERSION}");
            let error = PassError::new(ErrorKind::Lock, message);
            return Err(
                error.help("use the passdock that wrote it, or delete it and run `passdock lock`")
            );
        }
        let file: LockFile = toml::from_str(text).map_err(invalid)?;
        file.check(name)?;
        Ok(file)
    }

    /// Rejects hidden characters, which messages would show, and duplicate plugins.
    fn check(&self, path: &str) -> Result<(), PassError> {
        let error = |message: String| {
            let error = PassError::new(ErrorKind::Lock, message);
            Err(error.help("delete the file and run `passdock lock`"))
        };
        let is_hidden = |string: &&str| string.chars().any(terminal::is_hidden);
        let mut strings = self.plugins.iter().flat_map(LockedPlugin::strings);
        if let Some(string) = strings.find(is_hidden) {
            let string = terminal::safe_line(string);
            return error(format!("hidden characters in `{string}` in `{path}`"));
        }
        let mut names = BTreeSet::new();
        let mut plugins = self.plugins.iter().map(|plugin| &plugin.name);
        match plugins.find(|name| !names.insert(*name)) {
            Some(name) => error(format!("duplicate plugin `{name}` in `{path}`")),
            None => Ok(()),
        }
    }

    /// Writes a lock file atomically.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn write(&self, path: &Path) -> Result<(), PassError> {
        let write = || -> io::Result<()> {
            let text = toml::to_string(self).map_err(io::Error::other)?;
            let target = Target::new(path)?;
            target.write(true, |file| write!(file, "{HEADER}{text}"))
        };
        write().map_err(|error| {
            let message = format!("could not write `{}`: {error}", path.display());
            PassError::new(ErrorKind::Write, message)
        })
    }
}

/// Parses the text of a lock file, for fuzzing. Returns the text of the parsed file.
///
/// # Errors
/// If it is invalid.
pub fn check_lock_file(text: &str) -> Result<String, PassError> {
    let file = LockFile::parse("passdock.lock", text)?;
    let printed = toml::to_string(&file);
    printed.map_err(|error| PassError::new(ErrorKind::Lock, error.to_string()))
}
