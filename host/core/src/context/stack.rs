//! The thread-local stack of contexts: the one place that keeps state per thread.
//!
//! Only what users call reads it (`PassContext::current`, `Pass::call`), once; inside the host the
//! context is an argument.

use std::cell::{OnceCell, RefCell};

use super::PassContext;

thread_local! {
    static STACK: RefCell<Vec<PassContext>> = const { RefCell::new(Vec::new()) };
    static DEFAULT: OnceCell<PassContext> = const { OnceCell::new() };
}

/// The innermost context, or the thread's default one, which is always the same.
pub(super) fn current() -> PassContext {
    let top = STACK.with_borrow(|stack| stack.last().cloned());
    top.unwrap_or_else(|| {
        DEFAULT.with(|cell| cell.get_or_init(PassContext::thread_default).clone())
    })
}

/// Pushes a context.
pub(super) fn push(context: PassContext) {
    STACK.with_borrow_mut(|stack| stack.push(context));
}

/// Pops a context if it is the innermost one; otherwise returns the innermost one.
pub(super) fn pop(context: &PassContext) -> Result<(), Option<PassContext>> {
    STACK.with_borrow_mut(|stack| match stack.last() {
        Some(top) if top.is(context) => {
            stack.pop();
            Ok(())
        }
        top => Err(top.cloned()),
    })
}

/// A guard that keeps a context on the stack until it is dropped, without calling instruments: for
/// the host's own workers.
#[must_use = "the context is taken off when this is dropped"]
pub(crate) struct Pushed(());

/// Pushes a context until the returned guard is dropped.
pub(crate) fn pushed(context: &PassContext) -> Pushed {
    push(context.clone());
    Pushed(())
}

impl Drop for Pushed {
    fn drop(&mut self) {
        STACK.with_borrow_mut(Vec::pop);
    }
}
