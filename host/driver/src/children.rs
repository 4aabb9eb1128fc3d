//! The processes that this one started, which a signal ends or stops with it.

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use passdock_core::util;
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

/// The time that a process gets to end by itself when it is asked to, or when its channel is closed.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// A process that runs.
struct Running {
    pid: Pid,
    own_group: bool,
}

impl Running {
    /// Sends a signal to the process, and to what it started in a group of its own.
    fn signal(&self, signal: Signal) {
        // It may have ended by itself meanwhile.
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

/// Starts a command, which gets these descriptors besides the standard streams. In a group of its own it can be ended
/// with what it started; in the group of this process the terminal's signals reach it.
///
/// # Errors
/// The system's error.
pub(crate) fn spawn(
    command: &mut Command,
    own_group: bool,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<Child> {
    if own_group {
        command.process_group(0);
    }
    // A signal waits until the process is known, and another process is started when the descriptors are closed to it.
    let mut running = running();
    let inherit = |flags| descriptors.iter().try_for_each(|fd| fcntl_setfd(fd, flags));
    inherit(FdFlags::empty())?;
    let child = command.spawn();
    inherit(FdFlags::CLOEXEC)?;
    let child = child?;
    let pid = Pid::from_child(&child);
    running.push(Running { pid, own_group });
    if let Some(report) = REPORT.get() {
        report(Some(pid.as_raw_pid()));
    }
    Ok(child)
}

/// Forgets a process that was waited for.
pub(crate) fn forget(child: &Child) {
    forget_process(Pid::from_child(child));
    if let Some(report) = REPORT.get() {
        report(None);
    }
}

fn forget_process(pid: Pid) {
    running().retain(|running| running.pid != pid);
}

type Report = Box<dyn Fn(Option<i32>) + Send + Sync>;

/// The report of a worker that it waits for another process.
static REPORT: OnceLock<Report> = OnceLock::new();

/// Reports from now on which process this one waits for.
pub(super) fn report_to(report: impl Fn(Option<i32>) + Send + Sync + 'static) {
    _ = REPORT.set(Box::new(report));
}

/// The group of a process that a worker waits for, if it has one of its own. It ends with this process.
pub(super) struct AdoptedGroup(Pid);

/// Adds the group of a process that a worker waits for.
pub(super) fn adopt(pid: Pid) -> AdoptedGroup {
    running().push(Running {
        pid,
        own_group: true,
    });
    AdoptedGroup(pid)
}

impl AdoptedGroup {
    /// Ends the group of a worker that has ended.
    pub(super) fn kill(&self) {
        _ = kill_process_group(self.0, Signal::KILL);
    }
}

impl Drop for AdoptedGroup {
    fn drop(&mut self) {
        forget_process(self.0);
    }
}

/// Ends the processes that run, and lets no other one start. For a thread that is about to end the process because of a
/// signal.
pub fn give_up() {
    let running = running();
    running.iter().for_each(|child| child.signal(Signal::TERM));
    let start = Instant::now();
    let has_ended = |child: &Running| has_ended(child.pid).unwrap_or(true);
    while !running.iter().all(has_ended) && start.elapsed() < GRACE {
        thread::sleep(Duration::from_millis(1));
    }
    let groups = running.iter().filter(|child| child.own_group);
    groups.for_each(|child| child.signal(Signal::KILL));
    std::mem::forget(running);
}

/// Stops the processes that the terminal doesn't stop. For a thread that is about to stop this one.
pub fn stop() {
    signal_groups(Signal::STOP);
}

/// Lets processes that were stopped go on.
pub fn go_on() {
    signal_groups(Signal::CONT);
}

fn signal_groups(signal: Signal) {
    let running = running();
    let groups = running.iter().filter(|child| child.own_group);
    groups.for_each(|child| child.signal(signal));
}

/// Whether a child has ended that wasn't waited for.
pub(super) fn has_ended(child: Pid) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(child), options) {
        Ok(status) => Ok(status.is_some()),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
