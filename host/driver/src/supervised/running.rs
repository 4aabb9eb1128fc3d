//! The worker that runs, for threads that hear of a signal.

use std::io;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use passdock_core::util;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The time that a worker gets to end by itself: after its answer, and when it is told to.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// The worker that runs.
pub(super) fn running() -> MutexGuard<'static, Option<Pid>> {
    static RUNNING: Mutex<Option<Pid>> = Mutex::new(None);
    util::lock(&RUNNING)
}

/// Ends the worker that runs, and what it started, and lets no other one start. For a thread that is about to end the
/// process because of a signal.
pub fn give_up() {
    let running = running();
    if let Some(worker) = *running {
        _ = kill_process_group(worker, Signal::TERM);
        let start = Instant::now();
        while !has_ended(worker).unwrap_or(true) && start.elapsed() < GRACE {
            thread::sleep(Duration::from_millis(1));
        }
        _ = kill_process_group(worker, Signal::KILL);
    }
    std::mem::forget(running);
}

/// Stops the worker that runs, and what it started. For a thread that is about to stop the process.
pub fn stop() {
    if let Some(worker) = *running() {
        _ = kill_process_group(worker, Signal::STOP);
    }
}

/// Lets the worker that was stopped go on.
pub fn go_on() {
    if let Some(worker) = *running() {
        _ = kill_process_group(worker, Signal::CONT);
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
