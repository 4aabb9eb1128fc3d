//! Commands that the command starts: for so long at most, and what they said.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
#[cfg(not(unix))]
use std::process::Stdio;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

#[cfg(unix)]
use passdock::supervised;
use passdock::waiting::waiting;

/// The bytes of a command's output that are shown.
const TAIL: u64 = 2000;

/// The status of a command; `None` if it took longer than `timeout` and was ended, with what it started. A
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
        Some(timeout) => within(&mut child, timeout),
        None => child.wait().map(Some),
    });
    #[cfg(unix)]
    supervised::forget(&child);
    status
}

/// The status of a command; `None` if it took longer and was ended.
fn within(child: &mut Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut wait = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let Some(left) = timeout.checked_sub(start.elapsed()) else {
            end(child)?;
            return Ok(None);
        };
        std::thread::sleep(wait.min(left));
        wait = (wait * 2).min(Duration::from_millis(50));
    }
}

/// Ends a command and what it started.
fn end(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        // It may have ended by itself meanwhile.
        _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    #[cfg(not(unix))]
    {
        // Where there is no such tool, only the command itself is ended.
        let tree = ["/T", "/F", "/PID", &child.id().to_string()];
        let mut ended = Command::new("taskkill");
        ended.args(tree).stdin(Stdio::null());
        _ = ended.stdout(Stdio::null()).stderr(Stdio::null()).status();
        if child.try_wait()?.is_none() {
            child.kill()?;
        }
    }
    child.wait().map(drop)
}

/// The end of a file, as text.
pub(crate) fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
