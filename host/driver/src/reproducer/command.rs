//! The command line that replays a reproducer.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use passdock_core::terminal::is_hidden;
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
    let mut command = format!("passdock replay {}", shell_path(dir));
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
            command.push_str(&shell_path(file));
        } else if let Some(dir) = path.and_then(Path::parent)
            && !default_dirs.iter().any(|known| known == dir)
            && !named.iter().any(|known| known == dir)
        {
            named.push(dir.to_path_buf());
            command.push_str(" --plugin-dir ");
            command.push_str(&shell_path(dir));
        }
    }
    let termination = error.termination.as_ref();
    let cause = termination.map(|termination| &termination.cause);
    if let Some(TerminationCause::Timeout { seconds }) = cause {
        command.push_str(&format!(" --timeout {seconds}"));
    }
    command
}

/// Quotes a path as a single word for a shell, so that it can't be an option.
pub fn shell_path(path: &Path) -> String {
    match path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        true => shell_quoted(Path::new(".").join(path)),
        false => shell_quoted(path),
    }
}

/// Quotes a text as a single word for a shell.
pub fn shell_quoted(text: impl AsRef<OsStr>) -> String {
    let bytes = text.as_ref().as_encoded_bytes();
    let text = String::from_utf8_lossy(bytes);
    let plain = |c: char| c.is_alphanumeric() || "/._-+:=@%,".contains(c);
    let plain = |c: char| plain(c) || (cfg!(windows) && c == '\\');
    let is_exact = matches!(text, Cow::Borrowed(_)) && !text.contains(is_hidden);
    match !text.is_empty() && text.chars().all(plain) {
        true if is_exact => text.into_owned(),
        // File names on Windows can't contain double quotes.
        _ if cfg!(windows) => format!("\"{text}\""),
        _ if is_exact => format!("'{}'", text.replace('\'', "'\\''")),
        _ => format!("$'{}'", octal(bytes)),
    }
}

/// Writes bytes for `$'…'`. Hidden characters and bytes that aren't UTF-8 become octal escapes.
fn octal(bytes: &[u8]) -> String {
    let mut out = String::new();
    let escape = |out: &mut String, bytes: &[u8]| {
        // Writing to a `String` can't fail.
        bytes
            .iter()
            .for_each(|byte| _ = write!(out, "\\{byte:03o}"));
    };
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' | '\\' => out.extend(['\\', c]),
                c if is_hidden(c) => escape(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => out.push(c),
            }
        }
        escape(&mut out, chunk.invalid());
    }
    out
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    use super::*;

    /// Each path is followed by its expected form. A shell returns the path.
    #[test]
    fn paths_are_single_shell_words() {
        for (path, quoted) in [
            (&b"a/b-1.onnx"[..], "a/b-1.onnx"),
            ("größe".as_bytes(), "größe"),
            (b"a b;$(x)`y`", "'a b;$(x)`y`'"),
            (b"it's", "'it'\\''s'"),
            (b"--plugin=x.so", "./--plugin=x.so"),
            (b"a\x1b[31m\n'\\", "$'a\\033[31m\\012\\'\\\\'"),
            (
                "\u{202e}\u{3164}".as_bytes(),
                "$'\\342\\200\\256\\343\\205\\244'",
            ),
            (b"\xff", "$'\\377'"),
        ] {
            let shown = shell_path(Path::new(OsStr::from_bytes(path)));
            assert_eq!(shown, quoted);
            let script = format!("printf %s {shown}");
            let printed = match Command::new("bash").args(["-c", &script]).output() {
                Ok(printed) => printed.stdout,
                // Not every system has this shell.
                Err(_) => continue,
            };
            assert!(printed.ends_with(path), "{shown}");
        }
    }
}
