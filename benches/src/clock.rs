//! [`Clock`]: what others on the machine count less in.

use std::time::{Duration, Instant};

/// Time that this thread had a processor for; all time where the system doesn't tell.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    busy: Option<u64>,
}

impl Clock {
    /// A clock that begins now.
    pub fn start() -> Clock {
        Clock {
            busy: Clock::busy(),
            start: Instant::now(),
        }
    }

    /// The time since it began.
    pub fn elapsed(&self) -> Duration {
        let all = self.start.elapsed();
        let busy = Clock::busy().zip(self.busy);
        busy.map_or(all, |(now, then)| Duration::from_nanos(now - then))
    }

    fn busy() -> Option<u64> {
        // The system counts up when it looks at who runs next.
        std::thread::yield_now();
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        stat.split(' ').next()?.parse().ok()
    }
}
