//! The limits of calls into plugins, which the supervisor checks at intervals.

use std::fs;
use std::time::{Duration, Instant};

use passdock_crash::{Culprit, Record, TerminationCause};
use passdock_sandbox::CallLimits;

/// The interval of the checks.
pub(super) const INTERVAL: Duration = Duration::from_millis(20);

/// The limits of a worker's calls, and the calls that are running.
#[derive(Default)]
pub(super) struct Limits {
    by_file: Vec<(String, CallLimits)>,
    running: Vec<RunningCall>,
}

/// A call, and the time since which it is known to run.
struct RunningCall {
    thread: u32,
    call: Culprit,
    since: Instant,
}

impl Limits {
    pub(super) fn new(by_file: Vec<(String, CallLimits)>) -> Limits {
        Limits {
            by_file,
            running: Vec::new(),
        }
    }

    /// Whether there are no limits.
    pub(super) fn is_empty(&self) -> bool {
        self.by_file.is_empty()
    }

    /// Returns the limit that a call of a process exceeds, if there is one.
    pub(super) fn exceeded(&mut self, record: &Record, process: u32) -> Option<TerminationCause> {
        let earlier = std::mem::take(&mut self.running);
        for (thread, call) in record.calls() {
            let limits = self
                .by_file
                .iter()
                .find(|(file, _)| call.plugin.as_ref() == Some(file));
            let Some((_, limits)) = limits else { continue };
            let is_same = |other: &&RunningCall| {
                let one = &other.call;
                (other.thread, one.kind, one.number, &one.name)
                    == (thread, call.kind, call.number, &call.name)
            };
            let known = earlier.iter().find(is_same);
            let since = known.map_or_else(Instant::now, |known| known.since);
            if let Some(limit) = limits.time.filter(|limit| since.elapsed() >= *limit) {
                let seconds = limit.as_secs_f64();
                return Some(TerminationCause::Timeout { seconds });
            }
            if let Some(bytes) = limits.memory.filter(|limit| memory_of(process) > *limit) {
                return Some(TerminationCause::Memory { bytes });
            }
            self.running.push(RunningCall {
                thread,
                call,
                since,
            });
        }
        None
    }
}

/// Returns the size of a process's memory in bytes, without mapped files; 0 if the system doesn't report it.
fn memory_of(process: u32) -> u64 {
    let counts = fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let mut counts = counts.split(' ').map(|count| count.parse().unwrap_or(0));
    let (resident, shared): (u64, u64) = (counts.nth(1).unwrap_or(0), counts.next().unwrap_or(0));
    resident.saturating_sub(shared) * rustix::param::page_size() as u64
}
