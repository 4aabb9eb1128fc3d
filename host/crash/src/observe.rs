//! What this process tells of itself while it runs plugins, so that somebody knows if it can't say itself what it died of.

use std::path::Path;
use std::sync::OnceLock;

use crate::call::Callee;

/// Something that happens.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// A pass begins, or an instrument is called. Passes do so one after the other, but for those that a pass runs.
    Began(&'a Callee<'a>),
    /// The instrument that was called has returned.
    Returned,
    /// The plugin in this file is loaded.
    Loading(&'a Path),
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
