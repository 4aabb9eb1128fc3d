//! [`Clock`]: processor time, which depends less on other load on the machine.

use std::time::{Duration, Instant};

/// A clock of this thread's processor time; of elapsed time where the system doesn't report that.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    busy: Option<u64>,
}

impl Clock {
    /// Starts a clock.
    pub fn start() -> Clock {
        Clock {
            busy: Clock::busy(),
            start: Instant::now(),
        }
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        let all = self.start.elapsed();
        let busy = Clock::busy().zip(self.busy);
        busy.map_or(all, |(now, then)| Duration::from_nanos(now - then))
    }

    fn busy() -> Option<u64> {
        // The system updates the count when it schedules.
        std::thread::yield_now();
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        stat.split(' ').next()?.parse().ok()
    }
}
