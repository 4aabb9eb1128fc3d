//! Panics of the host that are caught: where they were, without the text that the standard library prints of each.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};

use crate::call;

/// A panic that was caught.
pub struct Panic {
    /// What the panic was made with.
    pub payload: Box<dyn Any + Send>,
    /// The place of it in the source, if [`keep_quiet`] was called.
    pub place: Option<String>,
}

thread_local! {
    /// How many of the calls on this thread's stack catch panics.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    /// The place of the last panic.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a body, and catches its panic.
///
/// # Errors
/// The panic.
pub fn caught<T>(body: impl FnOnce() -> T) -> Result<T, Panic> {
    CATCHING.set(CATCHING.get() + 1);
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    CATCHING.set(CATCHING.get() - 1);
    result.map_err(|payload| Panic {
        payload,
        place: PLACE.take(),
    })
}

/// Lets the standard library say nothing of panics that are caught: those in [`caught`], and those in calls into
/// plugins. With RUST_BACKTRACE it says what it always says. For a program; a library has no say in this.
pub fn keep_quiet() {
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
        return;
    }
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let is_caught = CATCHING.try_with(Cell::get).unwrap_or(0) > 0 || call::is_any();
        if !is_caught {
            return before(info);
        }
        let place = info.location().map(ToString::to_string);
        // A thread that ends has none.
        _ = PLACE.try_with(|kept| kept.replace(place));
    }));
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
