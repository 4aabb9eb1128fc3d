//! One thread at a time: for the passes of a plugin that doesn't say that they are thread-safe.

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crate::util;

/// A lock that the thread which holds it may take again, since a pass may run others.
#[derive(Debug, Default)]
pub struct Solo {
    /// Who is in, and how many times.
    owner: Mutex<Option<(ThreadId, u32)>>,
    left: Condvar,
}

/// Inside until it is dropped.
pub struct Alone<'s>(&'s Solo);

impl Solo {
    /// Waits until no other thread is in.
    pub fn enter(&self) -> Alone<'_> {
        let me = thread::current().id();
        let mut owner = util::lock(&self.owner);
        loop {
            match &mut *owner {
                None => *owner = Some((me, 1)),
                Some((thread, times)) if *thread == me => *times += 1,
                Some(_) => {
                    let waited = self.left.wait(owner);
                    owner = waited.unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
            }
            return Alone(self);
        }
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        let mut owner = util::lock(&self.0.owner);
        match &mut *owner {
            Some((_, times)) if *times > 1 => *times -= 1,
            _ => {
                *owner = None;
                self.0.left.notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn one_thread_at_a_time_and_it_may_come_again() {
        let solo = Solo::default();
        let inside = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _outer = solo.enter();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        drop(solo.enter());
                        thread::yield_now();
                        assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                    }
                });
            }
        });
    }
}
