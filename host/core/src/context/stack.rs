//! The thread-local stack of contexts: the one place that keeps state per thread.
//!
//! Only what users call reads it (`PassContext::current`, `Pass::call`), once; inside the host the
//! context is an argument.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering};

use super::PassContext;

/// The number of the next thread that asks for its own.
static NEXT: AtomicU32 = AtomicU32::new(1);

thread_local! {
    static STACK: RefCell<Vec<PassContext>> = const { RefCell::new(Vec::new()) };
    static DEFAULT: OnceCell<PassContext> = const { OnceCell::new() };
    static CALLBACKS: Cell<u32> = const { Cell::new(0) };
    static NUMBER: u32 = NEXT.fetch_add(1, Ordering::Relaxed);
}

/// The innermost context, or the thread's default one, which is always the same.
pub(super) fn current() -> PassContext {
    let top = STACK.with_borrow(|stack| stack.last().cloned());
    top.unwrap_or_else(|| {
        DEFAULT.with(|cell| cell.get_or_init(PassContext::thread_default).clone())
    })
}

/// A number that no other thread of the process has.
pub(crate) fn thread_number() -> u32 {
    NUMBER.with(|number| *number)
}

/// Puts a context on top.
pub(super) fn push(context: PassContext) {
    STACK.with_borrow_mut(|stack| stack.push(context));
}

/// Takes a context off if it is the innermost one; otherwise answers which one is.
pub(super) fn pop(context: &PassContext) -> Result<(), Option<PassContext>> {
    STACK.with_borrow_mut(|stack| match stack.last() {
        Some(top) if top.is(context) => {
            stack.pop();
            Ok(())
        }
        top => Err(top.cloned()),
    })
}

/// Runs `body` with a context on top, without its callbacks: for the host's own workers.
pub(crate) fn with_pushed<T>(context: &PassContext, body: impl FnOnce() -> T) -> T {
    struct Pop;
    impl Drop for Pop {
        fn drop(&mut self) {
            STACK.with_borrow_mut(Vec::pop);
        }
    }
    push(context.clone());
    let _pop = Pop;
    body()
}

/// Whether an instrument's callback is running on this thread: meanwhile instruments are off.
pub(crate) fn in_callback() -> bool {
    CALLBACKS.get() > 0
}

/// Runs an instrument's callback.
pub(super) fn callback<T>(body: impl FnOnce() -> T) -> T {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            CALLBACKS.set(CALLBACKS.get() - 1);
        }
    }
    CALLBACKS.set(CALLBACKS.get() + 1);
    let _leave = Leave;
    body()
}
