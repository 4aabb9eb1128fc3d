//! The command line that replays a reproducer.

use std::path::{Path, PathBuf};

use passdock_core::{FailureSite, PassError};
use passdock_crash::TerminationCause;

/// Returns the command that replays a reproducer on this machine.
///
/// It has the plugins in use, as files if they were named by file, otherwise as directories, except for the default
/// ones. It has `--trust` if required, because the reproducer was written here, and the time limit that was exceeded.
/// `needs_trust` is the result of [`super::write`].
pub fn command(
    dir: &Path,
    error: &PassError,
    site: &FailureSite,
    default_dirs: &[PathBuf],
    needs_trust: bool,
) -> String {
    let mut command = format!("passdock replay {}", shell_quoted(&dir.to_string_lossy()));
    let is_absolute = |text: &str| Path::new(text).is_absolute();
    let reaches_out = |value: &toml::Value| value.as_str().is_some_and(is_absolute);
    let instruments = site.context.checking_instruments().iter();
    let mut options = instruments.flat_map(|instrument| instrument.values());
    if needs_trust || options.any(reaches_out) {
        command.push_str(" --trust");
    }
    let mut named: Vec<PathBuf> = Vec::new();
    let files = site.context.registry().named_files();
    for plugin in site.context.registry().plugins() {
        let path = plugin.origin().path().filter(|_| plugin.is_used());
        if let Some(file) = path.filter(|path| files.contains(*path)) {
            command.push_str(" --plugin ");
            command.push_str(&shell_quoted(&file.to_string_lossy()));
        } else if let Some(dir) = path.and_then(Path::parent)
            && !default_dirs.iter().any(|known| known == dir)
            && !named.iter().any(|known| known == dir)
        {
            named.push(dir.to_path_buf());
            command.push_str(" --plugin-dir ");
            command.push_str(&shell_quoted(&dir.to_string_lossy()));
        }
    }
    let termination = error.termination.as_ref();
    let cause = termination.map(|termination| &termination.cause);
    if let Some(TerminationCause::Timeout { seconds }) = cause {
        command.push_str(&format!(" --timeout {seconds}"));
    }
    command
}

/// Quotes a text as a single word for a shell.
pub fn shell_quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:=@%,".contains(c);
    let plain = |c: char| plain(c) || (cfg!(windows) && c == '\\');
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        // File names on Windows can't contain double quotes.
        false if cfg!(windows) => format!("\"{text}\""),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
