//! The lock for plugins' passes that aren't declared thread-safe: only one thread at a time runs them.
//!
//! All plugins and registries share one lock. Passes may run other passes, so with a lock per plugin two threads could
//! deadlock. A library exists once per process, even if several registries have it.

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crate::context::pool;
use crate::util;

/// The thread that holds the lock, and how often: the lock is reentrant.
static OWNER: Mutex<Option<(ThreadId, u32)>> = Mutex::new(None);
static RELEASED: Condvar = Condvar::new();

/// A guard that holds the lock until it is dropped.
pub(super) struct Alone(());

/// Acquires the lock, after waiting for other threads to release it.
pub(super) fn enter() -> Alone {
    let me = thread::current().id();
    let mut owner = util::lock(&OWNER);
    loop {
        match &mut *owner {
            None => *owner = Some((me, 1)),
            Some((thread, times)) if *thread == me => *times += 1,
            Some(_) => {
                owner = RELEASED.wait(owner).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
        }
        return Alone(());
    }
}

/// Whether this thread holds the lock. If so, it must not wait for other threads.
pub(super) fn is_inside() -> bool {
    let owner = util::lock(&OWNER);
    owner.is_some_and(|(thread, _)| thread == thread::current().id())
}

/// Resets the host in a process that was just forked. Only the forking thread exists there, so no other thread is in a
/// pass. Without the threads of contexts, passes run on the calling thread.
///
/// A program that forks must call this in the new process before it runs passes.
pub fn forked() {
    pool::forked();
    let mut owner = util::lock(&OWNER);
    *owner = owner.filter(|(thread, _)| *thread == thread::current().id());
}

impl Drop for Alone {
    fn drop(&mut self) {
        let mut owner = util::lock(&OWNER);
        match &mut *owner {
            Some((_, times)) if *times > 1 => *times -= 1,
            _ => {
                *owner = None;
                RELEASED.notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn lock_is_exclusive_and_reentrant() {
        let inside = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _outer = enter();
                        assert!(is_inside());
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        drop(enter());
                        thread::yield_now();
                        assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                    }
                });
            }
        });
    }
}
