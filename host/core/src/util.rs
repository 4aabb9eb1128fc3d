//! Locks, panic messages and thread numbers.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use passdock_crash::panic_text;
pub(crate) use passdock_crash::thread_number;

/// Locks a mutex, even if it is poisoned. The guarded data is valid after each statement, so a panic in another thread
/// is harmless.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
