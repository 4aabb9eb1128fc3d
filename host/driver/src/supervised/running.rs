//! The worker that runs, for threads that hear of a signal; and the end of its time, which comes also to a supervisor
//! that was stopped.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use passdock_core::util;
#[cfg(target_os = "linux")]
use passdock_crash::Continued;
use rustix::process::{Pid, Signal, kill_process_group};

/// The time that a supervisor has to end a worker by itself, and between two tries to have it go on.
const PATIENCE: Duration = Duration::from_millis(200);

/// A worker that runs.
pub(super) struct Running {
    pid: Pid,
    /// The end of its time, if it has one.
    until: Option<Instant>,
    /// Lets this process go on then: a worker may have stopped it, and is to be ended all the same.
    #[cfg(target_os = "linux")]
    continued: Option<Continued>,
}

impl Running {
    pub(super) fn new(pid: Pid) -> Running {
        Running {
            pid,
            until: None,
            #[cfg(target_os = "linux")]
            continued: None,
        }
    }

    /// Has this process go on when the worker's time is over.
    fn set(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(until) = self.until {
            self.continued = self.continued.take().or_else(|| Continued::new().ok());
            if let Some(continued) = &self.continued {
                let left = until.saturating_duration_since(Instant::now());
                continued.after(left.saturating_add(PATIENCE), PATIENCE);
            }
        }
    }

    /// Lets whoever stops this process have it stopped.
    fn unset(&self) {
        #[cfg(target_os = "linux")]
        if let Some(continued) = &self.continued {
            continued.never();
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
        running.until = Some(until);
        running.set();
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
        running.unset();
        running.signal(Signal::STOP);
    }
}

/// Lets the worker that was stopped go on.
pub fn go_on() {
    if let Some(running) = &mut *running() {
        running.set();
        running.signal(Signal::CONT);
    }
}
