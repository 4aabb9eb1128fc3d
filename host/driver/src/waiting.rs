//! Waiting for other processes, which have separate time limits, and for users.

use std::io::{self, Read, Seek, SeekFrom};
#[cfg(not(unix))]
use std::process::Command;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of bytes at the end of a process's output that are shown.
const TAIL: u64 = 2000;

static WAITS: AtomicUsize = AtomicUsize::new(0);

/// Returns `true` if a thread of this process is waiting.
pub fn is_waiting() -> bool {
    WAITS.load(Ordering::SeqCst) > 0
}

/// Calls a function that waits for another process or for a user.
pub fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    struct Waiting;
    impl Drop for Waiting {
        fn drop(&mut self) {
            WAITS.fetch_sub(1, Ordering::SeqCst);
        }
    }
    WAITS.fetch_add(1, Ordering::SeqCst);
    let _waiting = Waiting;
    wait()
}

/// Waits for a process and returns its status. Returns `None` if it exceeded `timeout` and was terminated with its
/// process group.
///
/// # Errors
/// The system's error.
pub fn wait_within(child: &mut Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
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

/// Terminates a process and its process group.
pub(crate) fn end(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        // Fails if the process has already exited, or has no separate group.
        _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    #[cfg(not(unix))]
    {
        // Without this tool, only the process itself is terminated.
        let mut tool = Command::new("taskkill");
        tool.args(["/T", "/F", "/PID", &child.id().to_string()]);
        _ = tool.output();
    }
    if child.try_wait()?.is_none() {
        child.kill()?;
    }
    child.wait().map(drop)
}

/// Reads the end of a process's output from a file.
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
