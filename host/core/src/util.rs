//! Locks, panic messages and thread numbers, which many files need.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use passdock_diagnostic::{Diagnostic, Severity};

/// Locks a mutex, poisoned or not: the guarded data is valid after each statement, so a panic
/// elsewhere doesn't matter.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The message of a panic.
pub fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "a panic without a message".to_owned(),
    }
}

/// The most diagnostics of one run of a pass that are kept.
const MAX_SAID: usize = 10_000;

/// Adds a diagnostic to those of a pass. Of very many only the first are kept, with a warning that there were more; an
/// error among the others is kept all the same, since it makes the pass fail.
pub(crate) fn keep_said(said: &mut Vec<Diagnostic>, one: Diagnostic) {
    if said.len() < MAX_SAID {
        said.push(one);
        return;
    }
    if said.len() == MAX_SAID {
        let message = format!(
            "The pass says very much; what comes after {MAX_SAID} diagnostics is left out."
        );
        said.push(Diagnostic::new(Severity::Warning, "too-many", message));
    }
    if one.severity.is_failure() && said.len() == MAX_SAID + 1 {
        said.push(one);
    }
}

/// The number of the current thread, unique in the process.
pub(crate) fn thread_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static NUMBER: u32 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_diagnostics_the_first_are_kept_and_an_error() {
        let mut said = Vec::new();
        for at in 0..MAX_SAID + 100 {
            keep_said(
                &mut said,
                Diagnostic::new(Severity::Note, "a", at.to_string()),
            );
        }
        assert_eq!(said.len(), MAX_SAID + 1);
        assert_eq!(said[MAX_SAID].code, "too-many");
        for _ in 0..2 {
            keep_said(&mut said, Diagnostic::new(Severity::Error, "b", "wrong"));
        }
        assert_eq!(said.len(), MAX_SAID + 2);
        assert_eq!(said[MAX_SAID + 1].code, "b");
    }
}
