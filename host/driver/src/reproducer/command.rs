//! The command line that runs a reproducer again.

use std::path::{Path, PathBuf};

use passdock_core::FailureSite;

/// The command that runs a reproducer again on this machine: with the directories of the plugins
/// that were loaded, but for those that it looks in by itself.
pub fn command(dir: &Path, site: &FailureSite, standard_dirs: &[PathBuf]) -> String {
    let mut command = format!("passdock replay {}", word(&dir.to_string_lossy()));
    let mut named: Vec<PathBuf> = Vec::new();
    for plugin in site.context.registry().plugins() {
        let path = plugin.origin().path().filter(|_| plugin.is_loaded());
        if let Some(dir) = path.and_then(Path::parent)
            && !standard_dirs.iter().any(|known| known == dir)
            && !named.iter().any(|known| known == dir)
        {
            named.push(dir.to_path_buf());
            command.push_str(" --plugin-dir ");
            command.push_str(&word(&dir.to_string_lossy()));
        }
    }
    command
}

/// A word as a shell takes it.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:=@%,".contains(c);
    let plain = |c: char| plain(c) || (cfg!(windows) && c == '\\');
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        // No name has such a quote there.
        false if cfg!(windows) => format!("\"{text}\""),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
