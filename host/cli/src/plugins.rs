//! Where the command looks for plugins besides what it is told.

use std::path::PathBuf;

use passdock::Registry;

/// What the command's own pass, `PrintIR`, does.
pub(crate) const OWN_PASS: &str = "Prints the module under a heading, and changes nothing.";

/// A registry with the instruments and the pass that the command has beside the library's.
pub(crate) fn registry() -> Registry {
    let registry = Registry::new();
    passdock_tools::page::register(&registry);
    registry
}

/// `PASSDOCK_PLUGIN_PATH`, then the standard plugins beside the executable or in
/// `../lib/passdock/plugins`. None of them has to be there.
pub(crate) fn standard_dirs() -> Vec<PathBuf> {
    let paths = std::env::var_os("PASSDOCK_PLUGIN_PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&paths).filter(|dir| !dir.as_os_str().is_empty());
    let mut dirs: Vec<PathBuf> = dirs.collect();
    if let Some(beside) = program_dir() {
        // Not `beside/../lib`: messages name files of it.
        if let Some(prefix) = beside.parent() {
            dirs.push(prefix.join("lib/passdock/plugins"));
        }
        dirs.push(beside);
    }
    dirs
}

/// The directory of the executable.
pub(crate) fn program_dir() -> Option<PathBuf> {
    let executable = std::env::current_exe().and_then(dunce::canonicalize);
    executable.ok()?.parent().map(PathBuf::from)
}
