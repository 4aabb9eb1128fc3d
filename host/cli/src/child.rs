//! Child processes with a time limit.

use std::io;
use std::process::{Command, ExitStatus};
use std::time::Duration;

#[cfg(unix)]
use passdock::supervised;
use passdock::waiting::{wait_within, waiting};

/// Runs a command and returns its status. Returns `None` if the command exceeded `timeout` and was terminated with its
/// descendants. A signal that terminates this process terminates the child, too.
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
