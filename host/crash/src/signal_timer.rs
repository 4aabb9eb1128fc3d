//! A timer of the system that sends a signal to this process, also while it is stopped, whatever its threads do.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::Duration;

use libc::{c_int, itimerspec, time_t, timer_t, timespec};

/// A timer that sends a signal once. A process that is started from this one doesn't have it.
#[derive(Debug)]
pub struct SignalTimer {
    timer: timer_t,
}

// SAFETY: the timer is the process's, and the calls on it may be made by any thread.
unsafe impl Send for SignalTimer {}

impl SignalTimer {
    /// A timer that lets the process go on if somebody stopped it, and otherwise does nothing.
    ///
    /// # Errors
    /// What the system says.
    pub fn to_continue() -> io::Result<SignalTimer> {
        SignalTimer::new(libc::SIGCONT)
    }

    /// A timer that kills the process.
    ///
    /// # Errors
    /// What the system says.
    pub fn to_kill() -> io::Result<SignalTimer> {
        SignalTimer::new(libc::SIGKILL)
    }

    fn new(signal: c_int) -> io::Result<SignalTimer> {
        let mut timer: timer_t = ptr::null_mut();
        // SAFETY: all zeros are a `sigevent`; the call is given pointers to it and to memory for the timer.
        let made = unsafe {
            let mut event: libc::sigevent = MaybeUninit::zeroed().assume_init();
            event.sigev_notify = libc::SIGEV_SIGNAL;
            event.sigev_signo = signal;
            libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer)
        };
        match made {
            0 => Ok(SignalTimer { timer }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The signal comes after this time, and not when it was to come before.
    pub fn set(&self, time: Duration) {
        // Zero would stand for never.
        self.set_to(time.max(Duration::from_nanos(1)));
    }

    /// The signal doesn't come any more.
    pub fn unset(&self) {
        self.set_to(Duration::ZERO);
    }

    fn set_to(&self, time: Duration) {
        let times = itimerspec {
            it_value: timespec {
                // One that is too long is as good as none.
                tv_sec: time_t::try_from(time.as_secs()).unwrap_or(time_t::MAX),
                tv_nsec: time.subsec_nanos().into(),
            },
            it_interval: timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
        };
        // SAFETY: the timer is there until this is dropped; the call is given a pointer to the times.
        unsafe { libc::timer_settime(self.timer, 0, &times, ptr::null_mut()) };
    }
}

impl Drop for SignalTimer {
    fn drop(&mut self) {
        // SAFETY: it is there, and nobody uses it any more.
        unsafe { libc::timer_delete(self.timer) };
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    /// The test runs itself as the process that gets the signal.
    #[test]
    fn a_process_that_is_stopped_goes_on_and_is_killed() {
        const STOPPED: &str = "PASSDOCK_TEST_STOPPED";
        if std::env::var_os(STOPPED).is_some() {
            let timer = SignalTimer::to_continue().unwrap();
            let last = SignalTimer::to_kill().unwrap();
            for _ in 0..2 {
                timer.set(Duration::from_millis(50));
                // SAFETY: it has no preconditions.
                unsafe { libc::raise(libc::SIGSTOP) };
            }
            // One that is taken back doesn't come.
            last.set(Duration::from_millis(50));
            last.unset();
            std::thread::sleep(Duration::from_millis(100));
            last.set(Duration::from_millis(50));
            // SAFETY: as above.
            unsafe { libc::raise(libc::SIGSTOP) };
        }
        let test = "signal_timer::tests::a_process_that_is_stopped_goes_on_and_is_killed";
        let program = std::env::current_exe().unwrap();
        let start = std::time::Instant::now();
        let stopped = Command::new(program)
            .args([test, "--exact"])
            .env(STOPPED, "1")
            .output()
            .unwrap();
        assert_eq!(stopped.status.signal(), Some(libc::SIGKILL), "{stopped:?}");
        assert!(start.elapsed() >= Duration::from_millis(200));
    }
}
