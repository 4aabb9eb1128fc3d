//! Caught panics of the host, with their source locations. The standard library's message is suppressed for them.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};

use crate::call;

/// A caught panic.
pub struct Panic {
    /// The payload of the panic.
    pub payload: Box<dyn Any + Send>,
    /// The source location, if [`keep_quiet`] was called.
    pub location: Option<String>,
}

thread_local! {
    /// The number of calls on this thread's stack that catch panics.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    /// The source location of the last panic.
    static LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Calls `body` and catches its panic.
///
/// # Errors
/// If `body` panics.
pub fn caught<T>(body: impl FnOnce() -> T) -> Result<T, Panic> {
    CATCHING.set(CATCHING.get() + 1);
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    CATCHING.set(CATCHING.get() - 1);
    result.map_err(|payload| Panic {
        payload,
        location: LOCATION.take(),
    })
}

/// Suppresses the standard library's message for panics that [`caught`] or a call into a plugin catches, unless
/// RUST_BACKTRACE asks for a backtrace. Only programs should call this; it replaces the panic hook.
pub fn keep_quiet() {
    let backtraces = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let is_caught = CATCHING.try_with(Cell::get).unwrap_or(0) > 0 || call::is_any();
        if backtraces || !is_caught {
            before(info);
        }
        if !is_caught {
            return;
        }
        let location = info.location().map(ToString::to_string);
        // The thread-local is already destroyed in a thread that exits.
        _ = LOCATION.try_with(|last| last.replace(location));
    }));
}

/// Returns the message of a panic.
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
