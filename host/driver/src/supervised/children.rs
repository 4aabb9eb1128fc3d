//! The child processes of this process, which receive its signals.

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use passdock_core::util;
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

/// How long a process may take to exit when it is asked to, or when its channel is closed.
pub(super) const GRACE_PERIOD: Duration = Duration::from_millis(500);

/// A running process.
struct Running {
    pid: Pid,
    own_group: bool,
}

impl Running {
    /// Sends a signal to the process, and to its group if it has its own one.
    fn signal(&self, signal: Signal) {
        // Fails if the process has already exited.
        _ = match self.own_group {
            true => kill_process_group(self.pid, signal),
            false => kill_process(self.pid, signal),
        };
    }
}

fn running() -> MutexGuard<'static, Vec<Running>> {
    static RUNNING: Mutex<Vec<Running>> = Mutex::new(Vec::new());
    util::lock(&RUNNING)
}

/// Starts a command that inherits these descriptors in addition to the standard streams. With `own_group`, it can be
/// terminated together with its descendants. Otherwise it receives the terminal's signals.
///
/// # Errors
/// The system's error.
pub fn spawn(
    command: &mut Command,
    own_group: bool,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<Child> {
    if own_group {
        command.process_group(0);
    }
    // Locked until the process is registered: signal handlers wait for that, and no other process inherits the
    // descriptors.
    let mut running = running();
    let inherit = |flags| descriptors.iter().try_for_each(|fd| fcntl_setfd(fd, flags));
    inherit(FdFlags::empty())?;
    let child = command.spawn();
    inherit(FdFlags::CLOEXEC)?;
    let child = child?;
    let pid = Pid::from_child(&child);
    running.push(Running { pid, own_group });
    Ok(child)
}

/// Unregisters a process that was waited for.
pub fn forget(child: &Child) {
    let pid = Pid::from_child(child);
    running().retain(|running| running.pid != pid);
}

/// Terminates all running child processes and prevents new ones. Called by a thread that is about to terminate the
/// process because of a signal.
pub fn give_up() {
    let running = running();
    running.iter().for_each(|child| child.signal(Signal::TERM));
    let start = Instant::now();
    let has_ended = |child: &Running| has_ended(child.pid).unwrap_or(true);
    while !running.iter().all(has_ended) && start.elapsed() < GRACE_PERIOD {
        thread::sleep(Duration::from_millis(1));
    }
    let groups = running.iter().filter(|child| child.own_group);
    groups.for_each(|child| child.signal(Signal::KILL));
    std::mem::forget(running);
}

/// Stops the child processes that the terminal doesn't stop. Called by a thread that is about to stop this process.
pub fn stop() {
    signal_groups(Signal::STOP);
}

/// Continues stopped child processes.
pub fn resume() {
    signal_groups(Signal::CONT);
}

fn signal_groups(signal: Signal) {
    let running = running();
    let groups = running.iter().filter(|child| child.own_group);
    groups.for_each(|child| child.signal(signal));
}

/// Returns `true` if a child has exited but wasn't waited for.
pub(super) fn has_ended(child: Pid) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(child), options) {
        Ok(status) => Ok(status.is_some()),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
