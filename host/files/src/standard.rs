//! Standard output, kept for what the program itself has to say.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::process::Stdio;
use std::sync::OnceLock;

/// Standard output as it was when it was set apart.
static APART: OnceLock<File> = OnceLock::new();

/// Sets standard output apart: what a library prints there goes to standard error from now on, and [`StandardOutput`]
/// to where it went. Where one of them is closed, or the system has no such thing, all stays as it is.
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

/// Standard output, wherever it is.
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
    /// It, for a process that is started.
    pub fn inherited() -> Stdio {
        let file = APART.get().and_then(|file| file.try_clone().ok());
        file.map_or_else(Stdio::inherit, Stdio::from)
    }

    /// Whether it is a terminal.
    pub fn is_terminal() -> bool {
        match APART.get() {
            Some(file) => file.is_terminal(),
            None => io::stdout().is_terminal(),
        }
    }
}
