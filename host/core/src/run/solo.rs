//! The lock for passes of plugins that aren't declared thread-safe: one thread at a time runs them.
//!
//! There is one lock for all of them, whatever their plugin and their registry. A pass may run
//! others, so with a lock for each plugin two threads could wait for each other; and a library is
//! in the process once, however many registries have it.

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crate::context::pool;
use crate::util;

/// The thread that holds the lock, and how many times: it may enter again.
static OWNER: Mutex<Option<(ThreadId, u32)>> = Mutex::new(None);
static LEFT: Condvar = Condvar::new();

/// A guard that holds the lock until it is dropped.
pub(super) struct Alone(());

/// Takes the lock, and waits until no other thread holds it.
pub(super) fn enter() -> Alone {
    let me = thread::current().id();
    let mut owner = util::lock(&OWNER);
    loop {
        match &mut *owner {
            None => *owner = Some((me, 1)),
            Some((thread, times)) if *thread == me => *times += 1,
            Some(_) => {
                owner = LEFT.wait(owner).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
        }
        return Alone(());
    }
}

/// Whether this thread holds the lock: then it must not wait for another one.
pub(super) fn is_inside() -> bool {
    let owner = util::lock(&OWNER);
    owner.is_some_and(|(thread, _)| thread == thread::current().id())
}

/// Resets the host in a process that was just forked: it has the forking thread and no others, so none of them is in
/// a pass. The threads of contexts are gone: their passes run on the thread that calls them.
///
/// A program that forks calls it in the new process, before it runs passes.
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
                LEFT.notify_one();
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
