//! What this process tells of itself while it runs plugins, so that somebody knows if it can't say itself what it died of.

use std::sync::OnceLock;

use crate::call::Callee;

/// Something that happens.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// A pass begins, an instrument is called (with the pass that it is called around), or a library is loaded. Passes
    /// begin one after the other, but for those that a pass runs.
    Began(&'a Callee<'a>, Option<&'a Callee<'a>>),
    /// The last instrument that was called has returned, or the last library is loaded.
    Returned,
    /// A pass that this one ran has returned.
    GoesOn(&'a Callee<'a>),
    /// The last pass has returned: what comes now is none of the passes'.
    Over,
}

/// A function that hears of it.
pub type Observer = dyn Fn(Seen<'_>) + Send + Sync;

static OBSERVER: OnceLock<Box<Observer>> = OnceLock::new();

/// Tells `observer` of all that happens from now on. The first call counts.
pub fn observe(observer: Box<Observer>) {
    _ = OBSERVER.set(observer);
}

/// Tells the observer, if there is one.
#[inline]
pub fn tell(seen: Seen<'_>) {
    if let Some(observer) = OBSERVER.get() {
        observer(seen);
    }
}
