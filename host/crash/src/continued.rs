//! A timer of the system that lets this process go on, should somebody have stopped it.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::Duration;

use libc::{itimerspec, time_t, timer_t, timespec};

/// A timer that sends SIGCONT to this process, which does nothing to one that isn't stopped.
#[derive(Debug)]
pub struct Continued {
    timer: timer_t,
}

// SAFETY: the timer is the process's, and the calls on it may be made by any thread.
unsafe impl Send for Continued {}

impl Continued {
    /// A timer that isn't set.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> io::Result<Continued> {
        let mut timer: timer_t = ptr::null_mut();
        // SAFETY: all zeros are a `sigevent`; the call is given pointers to it and to memory for the timer.
        let made = unsafe {
            let mut event: libc::sigevent = MaybeUninit::zeroed().assume_init();
            event.sigev_notify = libc::SIGEV_SIGNAL;
            event.sigev_signo = libc::SIGCONT;
            libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer)
        };
        match made {
            0 => Ok(Continued { timer }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The process goes on after this time, and again each `every` later.
    pub fn after(&self, time: Duration, every: Duration) {
        // Zero would stand for never.
        self.set(time.max(Duration::from_nanos(1)), every);
    }

    /// The process isn't made to go on any more.
    pub fn never(&self) {
        self.set(Duration::ZERO, Duration::ZERO);
    }

    fn set(&self, first: Duration, every: Duration) {
        let times = itimerspec {
            it_value: spec(first),
            it_interval: spec(every),
        };
        // SAFETY: the timer is there until this is dropped; the call is given a pointer to the times.
        unsafe { libc::timer_settime(self.timer, 0, &times, ptr::null_mut()) };
    }
}

impl Drop for Continued {
    fn drop(&mut self) {
        // SAFETY: it is there, and nobody uses it any more.
        unsafe { libc::timer_delete(self.timer) };
    }
}

fn spec(time: Duration) -> timespec {
    timespec {
        // One that is too long is as good as none.
        tv_sec: time_t::try_from(time.as_secs()).unwrap_or(time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The test runs itself as the process that is stopped.
    #[test]
    fn a_process_that_was_stopped_goes_on() {
        const STOPPED: &str = "PASSDOCK_TEST_STOPPED";
        if std::env::var_os(STOPPED).is_some() {
            let continued = Continued::new().unwrap();
            continued.after(Duration::from_millis(50), Duration::from_millis(50));
            for _ in 0..2 {
                // SAFETY: it has no preconditions.
                unsafe { libc::raise(libc::SIGSTOP) };
            }
            continued.never();
            return;
        }
        let test = "continued::tests::a_process_that_was_stopped_goes_on";
        let program = std::env::current_exe().unwrap();
        let stopped = Command::new(program)
            .args([test, "--exact"])
            .env(STOPPED, "1")
            .output()
            .unwrap();
        assert!(stopped.status.success(), "{stopped:?}");
    }
}
