//! Commands that run for a limited time.

use std::io;
use std::process::{Command, ExitStatus};
use std::time::Duration;

#[cfg(unix)]
use passdock::supervised;
use passdock::waiting::{wait_within, waiting};

/// Runs a command. Returns its status; `None` if it took longer than `timeout` and was ended, with what it started. A
/// signal that ends this process ends it, too.
pub(crate) fn run(
    command: &mut Command,
    timeout: Option<Duration>,
) -> io::Result<Option<ExitStatus>> {
    #[cfg(unix)]
    let mut child = supervised::spawn(command, timeout.is_some(), &[])?;
    #[cfg(not(unix))]
    let mut child = command.spawn()?;
    let status = waiting(|| match timeout {
        Some(timeout) => wait_within(&mut child, timeout),
        None => child.wait().map(Some),
    });
    #[cfg(unix)]
    supervised::forget(&child);
    status
}
