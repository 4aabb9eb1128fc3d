//! The end of a worker's time, which comes also if the worker stopped its supervisor (SIGSTOP).
//!
//! The system wakes the supervisor then, and it ends the worker. A worker that goes on stopping it is killed by the
//! system, too, and then the supervisor is woken once more. Elsewhere than on Linux there are no such timers.

use std::time::{Duration, Instant};

/// The time that a worker has at least for what is left when all but the output's place is written: moments. One that
/// takes longer was made to wait.
pub(super) const PLACING: Duration = Duration::from_secs(10);

#[cfg(target_os = "linux")]
use passdock_crash::SignalTimer;

/// The time that a supervisor has to end a worker by itself.
#[cfg(target_os = "linux")]
const PATIENCE: Duration = Duration::from_millis(200);

/// The time behind its end after which a worker is killed; and the time after which nothing of it is left.
#[cfg(target_os = "linux")]
const LATEST: Duration = Duration::from_millis(1000);
#[cfg(target_os = "linux")]
const GONE: Duration = Duration::from_millis(1200);

/// The supervisor's side.
#[derive(Default)]
pub(super) struct Limit {
    until: Option<Instant>,
    #[cfg(target_os = "linux")]
    timers: Vec<(Duration, SignalTimer)>,
}

impl Limit {
    /// The worker has time until then.
    pub(super) fn set(&mut self, until: Instant) {
        self.until = Some(until);
        #[cfg(target_os = "linux")]
        if self.timers.is_empty() {
            let timers = [PATIENCE, GONE].into_iter();
            let timers = timers.map(|behind| Ok((behind, SignalTimer::to_continue()?)));
            self.timers = timers.collect::<std::io::Result<_>>().unwrap_or_default();
        }
        self.go_on();
    }

    /// Whoever stops this process may do so.
    pub(super) fn rest(&self) {
        #[cfg(target_os = "linux")]
        for (_, timer) in &self.timers {
            timer.unset();
        }
    }

    /// The time goes on.
    pub(super) fn go_on(&self) {
        #[cfg(target_os = "linux")]
        if let Some(until) = self.until {
            let left = until.saturating_duration_since(Instant::now());
            for (behind, timer) in &self.timers {
                timer.set(left.saturating_add(*behind));
            }
        }
    }
}

/// The worker's side.
pub(super) struct OwnLimit {
    #[cfg(target_os = "linux")]
    limit: Option<(Duration, SignalTimer)>,
}

impl OwnLimit {
    /// A limit that isn't set; `None`: there is none.
    pub(super) fn new(limit: Option<Duration>) -> OwnLimit {
        #[cfg(not(target_os = "linux"))]
        let _ = limit;
        OwnLimit {
            #[cfg(target_os = "linux")]
            limit: limit.and_then(|limit| Some((limit, SignalTimer::to_kill().ok()?))),
        }
    }

    /// The time begins.
    pub(super) fn begin(&self) {
        self.begin_with(Duration::ZERO);
    }

    /// The time begins, and is not less than this.
    pub(super) fn begin_with(&self, least: Duration) {
        #[cfg(target_os = "linux")]
        if let Some((limit, timer)) = &self.limit {
            timer.set((*limit).max(least).saturating_add(LATEST));
        }
        #[cfg(not(target_os = "linux"))]
        let _ = least;
    }

    /// This process waits for its supervisor.
    pub(super) fn rest(&self) {
        #[cfg(target_os = "linux")]
        if let Some((_, timer)) = &self.limit {
            timer.unset();
        }
    }
}
