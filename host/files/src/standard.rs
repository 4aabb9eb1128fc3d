//! Standard output, reserved for the output of the program itself.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::process::Stdio;
use std::sync::OnceLock;

/// A duplicate of the original standard output.
static APART: OnceLock<File> = OnceLock::new();

/// Redirects standard output to standard error, so that output of libraries goes there. [`StandardOutput`] still writes
/// to the original one. Does nothing if one of them is closed, or the system doesn't support it.
pub fn set_output_apart() {
    #[cfg(unix)]
    {
        let duplicate = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3);
        if let Ok(duplicate) = duplicate
            && rustix::stdio::dup2_stdout(io::stderr()).is_ok()
        {
            _ = APART.set(duplicate.into());
        }
    }
}

/// The original standard output.
pub struct StandardOutput;

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match APART.get() {
            Some(mut file) => file.write(bytes),
            None => io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match APART.get() {
            Some(mut file) => file.flush(),
            None => io::stdout().flush(),
        }
    }
}

impl StandardOutput {
    /// Returns it as the standard stream of a child process.
    pub fn inherited() -> Stdio {
        let file = APART.get().and_then(|file| file.try_clone().ok());
        file.map_or_else(Stdio::inherit, Stdio::from)
    }

    /// Returns `true` if it is a terminal.
    pub fn is_terminal() -> bool {
        match APART.get() {
            Some(file) => file.is_terminal(),
            None => io::stdout().is_terminal(),
        }
    }
}
