//! Default directories in which the command searches plugins.

use std::path::PathBuf;

use passdock::Registry;

/// Description of `PrintIR`, the pass of the command itself.
pub(crate) const HOST_PASS_SUMMARY: &str = "Prints the module under a heading.";

/// Returns a registry with the command's instruments and pass, in addition to those of the library.
pub(crate) fn registry() -> Registry {
    let registry = Registry::new();
    passdock_tools::page::register(&registry);
    registry
}

/// Returns `PASSDOCK_PLUGIN_PATH`, and the directories of the standard plugins: the executable's, or
/// `../lib/passdock/plugins`. They need not exist.
pub(crate) fn standard_dirs() -> Vec<PathBuf> {
    let paths = std::env::var_os("PASSDOCK_PLUGIN_PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&paths).filter(|dir| !dir.as_os_str().is_empty());
    let mut dirs: Vec<PathBuf> = dirs.collect();
    if let Some(program) = program_dir() {
        // Normalized, because messages show paths of files in it.
        if let Some(prefix) = program.parent() {
            dirs.push(prefix.join("lib/passdock/plugins"));
        }
        dirs.push(program);
    }
    dirs
}

/// Returns the directory of the executable.
pub(crate) fn program_dir() -> Option<PathBuf> {
    let executable = std::env::current_exe().and_then(dunce::canonicalize);
    executable.ok()?.parent().map(PathBuf::from)
}
