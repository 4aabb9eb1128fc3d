//! The worker that runs, for threads that hear of a signal.

use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use passdock_core::util;
use rustix::process::{Pid, Signal, kill_process_group};

use super::limit::Limit;

/// A worker that runs.
pub(super) struct Running {
    pid: Pid,
    limit: Limit,
}

impl Running {
    pub(super) fn new(pid: Pid) -> Running {
        Running {
            pid,
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

/// Ends the worker that runs, and lets no other one start. For a thread that is about to end the process because of a
/// signal.
pub fn give_up() {
    let running = running();
    if let Some(running) = &*running {
        running.signal(Signal::TERM);
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
