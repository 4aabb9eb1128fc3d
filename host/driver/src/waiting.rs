//! Waits for other processes, which have limits of their own, and for users.

use std::sync::atomic::{AtomicUsize, Ordering};

static WAITS: AtomicUsize = AtomicUsize::new(0);

/// Whether a thread of this process waits.
pub fn is_waiting() -> bool {
    WAITS.load(Ordering::SeqCst) > 0
}

/// Waits for another process, or for a user.
pub fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    WAITS.fetch_add(1, Ordering::SeqCst);
    let result = wait();
    WAITS.fetch_sub(1, Ordering::SeqCst);
    result
}
