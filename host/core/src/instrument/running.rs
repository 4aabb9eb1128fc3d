//! State of instruments for running passes: a stack per thread, and the number of times that the context is entered.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use passdock_ir::Module;

use crate::util::{self, thread_number};

/// The running passes, with a value for each. Passes may be nested, and run on several threads.
pub struct Running<T>(Mutex<Vec<(u32, T)>>);

impl<T> Default for Running<T> {
    fn default() -> Running<T> {
        Running(Mutex::default())
    }
}

impl<T> Running<T> {
    /// Adds a pass that starts on this thread.
    pub fn push(&self, state: T) {
        self.lock().push((thread_number(), state));
    }

    /// Removes the pass that started last on this thread.
    pub fn pop(&self) -> Option<T> {
        let mut running = self.lock();
        let thread = thread_number();
        let at = running.iter().rposition(|(id, _)| *id == thread)?;
        Some(running.remove(at).1)
    }

    /// Returns the number of passes that run on this thread.
    pub fn depth(&self) -> usize {
        let thread = thread_number();
        self.lock().iter().filter(|(id, _)| *id == thread).count()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u32, T)>> {
        util::lock(&self.0)
    }
}

impl Running<Module> {
    /// Removes the pass that started last on this thread, and returns the module before it. `after` becomes the module
    /// of the pass around it.
    pub(crate) fn end(&self, after: &Module) -> Option<Module> {
        let before = self.pop()?;
        let thread = thread_number();
        if let Some((_, outer)) = self.lock().iter_mut().rfind(|(id, _)| *id == thread) {
            outer.clone_from(after);
        }
        Some(before)
    }
}

/// The number of times that the context is entered, perhaps on several threads or nested. Only the first entry resets
/// an instrument's results.
#[derive(Default)]
pub struct Entries(AtomicU32);

impl Entries {
    /// Counts an entry. Returns `true` if the context wasn't entered before.
    pub fn enter(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// Counts an exit. Returns `true` if the context isn't entered any more.
    pub fn exit(&self) -> bool {
        let less = |count: u32| Some(count.saturating_sub(1));
        let order = Ordering::Relaxed;
        let before = self.0.fetch_update(order, order, less);
        before.is_ok_and(|count| count <= 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Entries;

    #[test]
    fn only_the_first_entry_and_the_last_exit_count() {
        let entries = Entries::default();
        assert!(entries.enter());
        assert!(!entries.enter());
        assert!(!entries.exit());
        assert!(!entries.enter());
        assert!(!entries.exit());
        assert!(entries.exit());
        // A surplus exit doesn't hide the next entry.
        assert!(entries.exit());
        assert!(entries.enter());
    }
}
