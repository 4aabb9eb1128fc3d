//! The command's registry, and the directories in which it searches plugins.

use std::env;
use std::path::PathBuf;

use passdock::Registry;
use passdock::plugin::discover;

/// Description of `PrintIR`, the pass of the command itself.
pub(crate) const HOST_PASS_SUMMARY: &str = "Prints the module under a heading.";

/// Returns a registry with the command's instruments and pass, in addition to those of the library.
pub(crate) fn registry() -> Registry {
    let registry = Registry::new();
    passdock_tools::page::register(&registry);
    registry
}

/// Returns the directories that are searched by default. The program's are those of the standard plugins, next to the
/// executable or in `../lib/passdock/plugins`, and that of the active Python environment. They need not exist.
pub(crate) fn default_dirs() -> Vec<PathBuf> {
    let mut dirs = Vec::new();
    if let Some(program) = program_dir() {
        // Normalized, because messages show paths of files in it.
        dirs.extend(program.parent().map(discover::dir_in_prefix));
        dirs.push(program);
    }
    let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].map(env::var_os);
    let environments = environments.into_iter().flatten().map(PathBuf::from);
    let absolute = environments.filter(|prefix| prefix.is_absolute());
    dirs.extend(absolute.map(|prefix| discover::dir_in_prefix(&prefix)));
    discover::default_dirs(dirs)
}

/// Returns the directory of the executable.
pub(crate) fn program_dir() -> Option<PathBuf> {
    let executable = env::current_exe().and_then(dunce::canonicalize);
    executable.ok()?.parent().map(PathBuf::from)
}
