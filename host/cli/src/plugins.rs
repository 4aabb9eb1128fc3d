//! Where the command looks for plugins besides what it is told.

use std::path::PathBuf;

/// `PASSDOCK_PLUGIN_PATH`, then the standard plugins beside the executable or in
/// `../lib/passdock/plugins`. None of them has to be there.
pub(crate) fn standard_dirs() -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = std::env::var_os("PASSDOCK_PLUGIN_PATH")
        .map(|paths| {
            std::env::split_paths(&paths)
                .filter(|p| !p.as_os_str().is_empty())
                .collect()
        })
        .unwrap_or_default();
    let executable = std::env::current_exe().and_then(|path| path.canonicalize());
    if let Some(beside) = executable
        .ok()
        .and_then(|path| path.parent().map(PathBuf::from))
    {
        // Not `beside/../lib`: messages name files of it.
        if let Some(prefix) = beside.parent() {
            dirs.push(prefix.join("lib/passdock/plugins"));
        }
        dirs.push(beside);
    }
    dirs
}
