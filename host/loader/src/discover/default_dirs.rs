//! The directories that are searched by default.

use std::env;
use std::path::{Path, PathBuf};

/// Returns the plugin directories that are searched by default, in search order: those in `PASSDOCK_PLUGIN_PATH`, those
/// of the program, and those of the plugins that the user installed. They need not exist.
pub fn default_dirs(program: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let named = env::var_os("PASSDOCK_PLUGIN_PATH").unwrap_or_default();
    let named = env::split_paths(&named).filter(|dir| !dir.as_os_str().is_empty());
    named.chain(program).chain(installed_dirs()).collect()
}

/// Returns the plugin directory of an installation, such as `/usr/local` or a Python environment.
pub fn dir_in_prefix(prefix: &Path) -> PathBuf {
    prefix.join("lib/passdock/plugins")
}

/// Returns the directory to which `passdock plugin install` installs plugins, each in a subdirectory of its name. It
/// need not exist. Returns `None` if the environment names no home directory.
pub fn user_dir() -> Option<PathBuf> {
    Some(data_dir()?.join("passdock").join("plugins"))
}

/// Returns the directories of the user's installed plugins, sorted.
fn installed_dirs() -> Vec<PathBuf> {
    let entries = user_dir().and_then(|dir| dir.read_dir().ok());
    let entries = entries.into_iter().flatten().flatten();
    let visible = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    let mut dirs: Vec<PathBuf> = visible.map(|entry| entry.path()).collect();
    dirs.sort();
    dirs
}

/// Returns the directory for data of the user's programs on this machine.
fn data_dir() -> Option<PathBuf> {
    if cfg!(windows) {
        return absolute("LOCALAPPDATA");
    }
    let home = || env::home_dir().filter(|home| home.is_absolute());
    if cfg!(target_os = "macos") {
        return Some(home()?.join("Library").join("Application Support"));
    }
    // A relative path is ignored, as the XDG base directory specification requires.
    absolute("XDG_DATA_HOME").or_else(|| Some(home()?.join(".local/share")))
}

/// Returns the path in a variable, if it is absolute.
fn absolute(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env::var_os(variable)?);
    path.is_absolute().then_some(path)
}
