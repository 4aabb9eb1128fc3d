//! Commands that the command starts: for so long at most, and what they said.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
#[cfg(not(unix))]
use std::process::Stdio;
use std::process::{Child, Command, ExitStatus};
#[cfg(unix)]
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The bytes of a command's output that are shown.
const TAIL: u64 = 2000;

/// The status of a command; `None` if it took longer than `timeout` and was ended, with what it started. A
/// signal that ends this process ends it, too ([`give_up`]).
pub(crate) fn run(
    command: &mut Command,
    timeout: Option<Duration>,
) -> io::Result<Option<ExitStatus>> {
    let mut child = start(command, timeout.is_some())?;
    let status = match timeout {
        Some(timeout) => within(&mut child, timeout),
        None => child.wait().map(Some),
    };
    ended(&child);
    status
}

/// Forgets a command that was waited for.
fn ended(child: &Child) {
    #[cfg(unix)]
    running().retain(|known| known.pid != rustix::process::Pid::from_child(child));
    let _ = child;
}

/// Starts a command; in a group of its own if it is to be ended with what it started.
#[cfg(not(unix))]
fn start(command: &mut Command, _: bool) -> io::Result<Child> {
    command.spawn()
}

/// Starts a command; in a group of its own if it is to be ended with what it started. In the group of this
/// process it hears from the terminal itself.
#[cfg(unix)]
fn start(command: &mut Command, alone: bool) -> io::Result<Child> {
    if alone {
        std::os::unix::process::CommandExt::process_group(command, 0);
    }
    // Until it is known, a signal waits.
    let mut running = running();
    let child = command.spawn()?;
    running.push(Running {
        pid: rustix::process::Pid::from_child(&child),
        alone,
    });
    Ok(child)
}

/// A command that runs.
#[cfg(unix)]
struct Running {
    pid: rustix::process::Pid,
    /// Whether it is in a group of its own.
    alone: bool,
}

#[cfg(unix)]
fn running() -> MutexGuard<'static, Vec<Running>> {
    static RUNNING: Mutex<Vec<Running>> = Mutex::new(Vec::new());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a command runs.
#[cfg(unix)]
pub(crate) fn runs() -> bool {
    !running().is_empty()
}

/// Ends the commands that run, and lets no other one start. For a thread that is about to end the process because
/// of a signal.
#[cfg(unix)]
pub(crate) fn give_up() {
    use rustix::process::{Signal, kill_process, kill_process_group};
    let running = running();
    for Running { pid, alone } in &*running {
        // It may have ended by itself meanwhile.
        _ = match alone {
            true => kill_process_group(*pid, Signal::KILL),
            false => kill_process(*pid, Signal::TERM),
        };
    }
    std::mem::forget(running);
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
