//! The thread-local stack of contexts: the one place that keeps state per thread.
//!
//! Only what users call reads it (`PassContext::current`, `Pass::call`), once; inside the host the
//! context is an argument.

use std::cell::{OnceCell, RefCell};
use std::marker::PhantomData;

use super::PassContext;

/// A context on the stack.
struct Place {
    context: PassContext,
    /// Whether a program entered it, and not the host, for as long as a pass runs.
    is_entered: bool,
}

thread_local! {
    static STACK: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
    static DEFAULT: OnceCell<PassContext> = const { OnceCell::new() };
}

/// The innermost context, or the thread's default one, which is always the same.
pub(super) fn current() -> PassContext {
    let top = STACK.with_borrow(|stack| stack.last().map(|top| top.context.clone()));
    top.unwrap_or_else(|| {
        DEFAULT.with(|cell| cell.get_or_init(PassContext::thread_default).clone())
    })
}

/// Pushes a context that a program enters.
pub(super) fn push(context: PassContext) {
    STACK.with_borrow_mut(|stack| {
        stack.push(Place {
            context,
            is_entered: true,
        });
    });
}

/// Pops a context if it is the innermost one, and no pass runs under it; otherwise returns the innermost one.
pub(super) fn pop(context: &PassContext) -> Result<(), Option<PassContext>> {
    STACK.with_borrow_mut(|stack| match stack.last() {
        Some(top) if top.is_entered && top.context.is(context) => {
            stack.pop();
            Ok(())
        }
        top => Err(top.map(|top| top.context.clone())),
    })
}

/// A guard that keeps a context on the stack until it is dropped, without calling instruments: for
/// the host's own workers, and as long as a pass runs.
#[must_use = "the context is taken off when this is dropped"]
pub(crate) struct Pushed {
    /// How many are below it.
    depth: usize,
    /// The stack is this thread's.
    _here: PhantomData<*const ()>,
}

/// Pushes a context until the returned guard is dropped.
pub(crate) fn pushed(context: &PassContext) -> Pushed {
    let place = Place {
        context: context.clone(),
        is_entered: false,
    };
    STACK.with_borrow_mut(|stack| {
        stack.push(place);
        Pushed {
            depth: stack.len() - 1,
            _here: PhantomData,
        }
    })
}

impl Drop for Pushed {
    fn drop(&mut self) {
        // What a pass entered and didn't leave stays entered: a program of another language may do that.
        let taken = STACK.with_borrow_mut(|stack| stack.remove(self.depth));
        drop(taken);
    }
}
