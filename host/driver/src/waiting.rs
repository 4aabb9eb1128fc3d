//! Waits for other processes, which have limits of their own, and for users.

use std::io::{self, Read, Seek, SeekFrom};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The bytes of a process's output that are shown: the last ones.
const TAIL: u64 = 2000;

static WAITS: AtomicUsize = AtomicUsize::new(0);

/// Whether a thread of this process waits.
pub fn is_waiting() -> bool {
    WAITS.load(Ordering::SeqCst) > 0
}

/// Waits for another process, or for a user.
pub fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    WAITS.fetch_add(1, Ordering::SeqCst);
    let result = wait();
    WAITS.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Runs a command. Returns its status; `None` if it took longer than `timeout` and was ended, with what it started. A
/// signal that ends this process ends it, too.
///
/// # Errors
/// The system's error.
pub fn run(command: &mut Command, timeout: Option<Duration>) -> io::Result<Option<ExitStatus>> {
    #[cfg(unix)]
    let mut child = crate::children::spawn(command, timeout.is_some(), &[])?;
    #[cfg(not(unix))]
    let mut child = command.spawn()?;
    let status = waiting(|| match timeout {
        Some(timeout) => wait_within(&mut child, timeout),
        None => child.wait().map(Some),
    });
    #[cfg(unix)]
    crate::children::forget(&child);
    status
}

/// Waits for a process. Returns its status; `None` if it took longer and was ended.
pub(crate) fn wait_within(child: &mut Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let Some(left) = timeout.checked_sub(start.elapsed()) else {
            end(child)?;
            return Ok(None);
        };
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Ends a process and what it started in its group.
pub(crate) fn end(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        // It may have ended by itself meanwhile, or have no group of its own.
        _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    #[cfg(not(unix))]
    {
        // Where there is no such tool, only the process itself is ended.
        let mut tool = Command::new("taskkill");
        tool.args(["/T", "/F", "/PID", &child.id().to_string()]);
        _ = tool.output();
    }
    if child.try_wait()?.is_none() {
        child.kill()?;
    }
    child.wait().map(drop)
}

/// Reads the end of what a process printed to a file.
///
/// # Errors
/// The system's error.
pub fn tail(mut file: impl Read + Seek) -> io::Result<String> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
