//! The worker that runs, for threads that hear of a signal.

use std::io;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use passdock_core::util;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::limit::Limit;
#[cfg(target_os = "linux")]
use super::orphans::Orphans;

/// The time that a worker gets to end by itself: after its answer, and when it is told to.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// A worker that runs.
pub(super) struct Running {
    pid: Pid,
    #[cfg(target_os = "linux")]
    orphans: Orphans,
    limit: Limit,
}

impl Running {
    pub(super) fn new(pid: Pid, #[cfg(target_os = "linux")] orphans: Orphans) -> Running {
        Running {
            pid,
            #[cfg(target_os = "linux")]
            orphans,
            limit: Limit::default(),
        }
    }

    fn signal(&self, signal: Signal) {
        // It may have ended by itself meanwhile.
        _ = kill_process_group(self.pid, signal);
    }
}

/// The worker that runs.
pub(super) fn running() -> MutexGuard<'static, Option<Running>> {
    static RUNNING: Mutex<Option<Running>> = Mutex::new(None);
    util::lock(&RUNNING)
}

/// The worker that runs has time until then.
pub(super) fn runs_until(until: Instant) {
    if let Some(running) = &mut *running() {
        running.limit.set(until);
    }
}

/// Ends the worker that runs, and what it started, and lets no other one start. For a thread that is about to end the
/// process because of a signal.
pub fn give_up() {
    let running = running();
    if let Some(running) = &*running {
        running.signal(Signal::TERM);
        let start = Instant::now();
        while !has_ended(running.pid).unwrap_or(true) && start.elapsed() < GRACE {
            thread::sleep(Duration::from_millis(1));
        }
        running.signal(Signal::KILL);
        #[cfg(target_os = "linux")]
        running.orphans.end(running.pid);
    }
    std::mem::forget(running);
}

/// Stops the worker that runs, and what it started. For a thread that is about to stop the process.
pub fn stop() {
    if let Some(running) = &*running() {
        running.limit.rest();
        running.signal(Signal::STOP);
    }
}

/// Lets the worker that was stopped go on.
pub fn go_on() {
    if let Some(running) = &mut *running() {
        running.limit.go_on();
        running.signal(Signal::CONT);
    }
}

/// Whether a child has ended, which nobody waited for yet.
pub(super) fn has_ended(child: Pid) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(child), options) {
        Ok(status) => Ok(status.is_some()),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
