//! The gate that every call into a plugin passes through: no panic leaves it.
//!
//! A hook in the plugin's copy of `std` records a panic's message and location. It is installed once, when the plugin
//! is attached. On a thread that is inside the gate it prints nothing, unless RUST_BACKTRACE asks for a backtrace;
//! elsewhere it calls the previous hook.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use passdock_abi::Status;

thread_local! {
    /// Whether this thread is inside the gate.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// The last panic that the hook recorded.
    static SEEN: RefCell<Option<Panicked>> = const { RefCell::new(None) };
}

/// A panic that was caught.
#[doc(hidden)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Panicked {
    /// The panic's message.
    pub message: String,
    /// The source file, or empty.
    pub file: String,
    /// The line, or 0.
    pub line: u32,
    /// The column, or 0.
    pub column: u32,
}

impl Panicked {
    /// Returns message and location as one line.
    pub(crate) fn to_message(&self) -> String {
        if self.file.is_empty() {
            return format!("panicked: {}", self.message);
        }
        format!(
            "panicked at {}:{}:{}: {}",
            self.file, self.line, self.column, self.message
        )
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_owned();
    }
    if let Some(text) = payload.downcast_ref::<String>() {
        return text.clone();
    }
    "the panic's payload is not a string".to_owned()
}

/// Installs the hook, once per copy of `std`.
#[doc(hidden)]
pub fn install_hook() {
    static INSTALLED: Once = Once::new();
    if std::thread::panicking() {
        // Hooks can't be changed now; messages still come from payloads.
        return;
    }
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_inside = INSIDE.try_with(Cell::get).unwrap_or(false);
            if !is_inside || std::env::var_os("RUST_BACKTRACE").map_or(false, |value| value != "0")
            {
                before(info);
            }
            if !is_inside {
                return;
            }
            let (file, line, column) = info.location().map_or(("", 0, 0), |location| {
                (location.file(), location.line(), location.column())
            });
            let (message, file) = (message(info.payload()), file.to_owned());
            let seen = Panicked {
                message,
                file,
                line,
                column,
            };
            let _ = SEEN.try_with(|slot| {
                if let Ok(mut slot) = slot.try_borrow_mut() {
                    *slot = Some(seen);
                }
            });
        }));
    });
}

/// Runs `body` and returns its status. If it panics, calls `report` and returns [`Status::PANICKED`].
#[doc(hidden)]
#[inline]
pub fn enter(body: impl FnOnce() -> Status, report: impl FnOnce(&Panicked)) -> Status {
    // Looked up once, because in a shared library the lookup is a function call.
    let inside: *const Cell<bool> = INSIDE.with(|inside| inside as *const _);
    // SAFETY: the variable belongs to this thread and has no destructor, so it lives until the thread ends.
    let inside = unsafe { &*inside };
    let outer = inside.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    inside.set(outer);
    match result {
        Ok(status) => status,
        Err(payload) => caught(payload, report),
    }
}

#[cold]
fn caught(payload: Box<dyn Any + Send>, report: impl FnOnce(&Panicked)) -> Status {
    let seen = SEEN.with(|slot| slot.try_borrow_mut().ok().and_then(|mut slot| slot.take()));
    let seen = seen.unwrap_or_else(|| Panicked {
        message: message(&*payload),
        ..Panicked::default()
    });
    // The payload's type is the author's: its drop may panic too, and that payload is leaked.
    if let Err(second) = panic::catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        std::mem::forget(second);
    }
    report(&seen);
    Status::PANICKED
}
