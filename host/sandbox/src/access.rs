//! What a sandboxed process may use.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Files and permissions of a process in a sandbox, in addition to those that every process has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    /// Readable files, and directories with all that is in them.
    pub(crate) read: Vec<PathBuf>,
    /// Files that may be written, and directories in which files may be created and removed.
    pub(crate) write: Vec<PathBuf>,
    /// Libraries that may be loaded, with the other libraries in their directories.
    pub(crate) libraries: BTreeSet<PathBuf>,
    /// Directories whose libraries may be loaded.
    pub(crate) library_directories: BTreeSet<PathBuf>,
    /// The limits of calls into plugins, by file.
    pub(crate) limits: Vec<(PathBuf, CallLimits)>,
    /// Whether network connections are allowed.
    pub(crate) network: bool,
    /// Whether programs may be started.
    pub(crate) exec: bool,
}

/// The limits of calls into a plugin. The supervisor of the process enforces them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallLimits {
    /// The maximum time of a call.
    pub time: Option<Duration>,
    /// The maximum size of the process's memory during a call in bytes, without mapped files.
    pub memory: Option<u64>,
}

/// Something that the sandbox denies unless the user grants it to a plugin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Permission {
    /// Starts programs.
    Exec,
    /// Opens network connections.
    Network,
    /// Reads a file, or a directory with all that is in it.
    Read(PathBuf),
    /// Reads and writes a file, or a directory with all that is in it. A missing directory is created.
    Write(PathBuf),
}

/// A text that isn't a permission.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "unknown permission `{0}`; the permissions are `network`, `exec`, `read:PATH` and `write:PATH`"
)]
pub struct InvalidPermission(String);

impl Access {
    /// Adds what a permission allows.
    pub(crate) fn grant(&mut self, permission: Permission) {
        match permission {
            Permission::Exec => self.exec = true,
            Permission::Network => self.network = true,
            Permission::Read(path) => self.read.push(path),
            Permission::Write(path) => {
                // The rules of the kernel refer to existing files. A failure is reported when the plugin writes.
                if !path.exists() {
                    _ = fs::create_dir_all(&path);
                }
                self.write.push(path);
            }
        }
    }
}

impl Permission {
    /// Returns the permission with its path made absolute, if it is relative to a directory.
    pub fn in_directory(self, directory: &Path) -> Permission {
        let whole = |path: PathBuf| {
            let path = directory.join(path);
            std::path::absolute(&path).unwrap_or(path)
        };
        match self {
            Permission::Read(path) => Permission::Read(whole(path)),
            Permission::Write(path) => Permission::Write(whole(path)),
            other => other,
        }
    }

    /// Whether the path, if there is one, is absolute.
    pub fn is_absolute(&self) -> bool {
        match self {
            Permission::Read(path) | Permission::Write(path) => path.has_root(),
            Permission::Exec | Permission::Network => true,
        }
    }
}

impl FromStr for Permission {
    type Err = InvalidPermission;

    fn from_str(text: &str) -> Result<Permission, InvalidPermission> {
        let path = |path: &str| (!path.is_empty()).then(|| PathBuf::from(path));
        let permission = match text.split_once(':') {
            None if text == "exec" => Some(Permission::Exec),
            None if text == "network" => Some(Permission::Network),
            Some(("read", text)) => path(text).map(Permission::Read),
            Some(("write", text)) => path(text).map(Permission::Write),
            _ => None,
        };
        permission.ok_or_else(|| InvalidPermission(text.to_owned()))
    }
}

impl TryFrom<String> for Permission {
    type Error = InvalidPermission;

    fn try_from(text: String) -> Result<Permission, InvalidPermission> {
        text.parse()
    }
}

impl From<Permission> for String {
    fn from(permission: Permission) -> String {
        permission.to_string()
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Permission::Exec => f.write_str("exec"),
            Permission::Network => f.write_str("network"),
            Permission::Read(path) => write!(f, "read:{}", path.display()),
            Permission::Write(path) => write!(f, "write:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_round_trip() {
        for text in ["exec", "network", "read:/opt/acme", "write:/var/acme"] {
            let permission: Permission = text.parse().unwrap();
            assert_eq!(permission.to_string(), text);
        }
        for text in ["", "read", "read:", "net", "network:", "exec:/bin"] {
            assert!(text.parse::<Permission>().is_err(), "{text}");
        }
    }
}
