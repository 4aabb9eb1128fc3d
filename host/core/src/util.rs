//! Locks, panic messages and thread numbers, which many files need.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use passdock_crash::panic_text;
pub(crate) use passdock_crash::thread_number;

/// Locks a mutex, poisoned or not: the guarded data is valid after each statement, so a panic
/// elsewhere doesn't matter.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
