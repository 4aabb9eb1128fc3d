//! Objects of the host that a pass borrows while it runs; what Python keeps of them raises an error afterwards.
//!
//! **Invariant:** no Python code runs while something is borrowed.

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::{self, ThreadId};

use passdock::ir::FunctionSnapshot;
use passdock::sdk;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::crossing::error;

/// An object of the host that is borrowed for a call.
pub(crate) struct Borrowed<T: ?Sized> {
    /// `None` after the call.
    object: Mutex<Option<NonNull<T>>>,
    thread: ThreadId,
    may_edit: bool,
    /// The word for the object in messages.
    noun: &'static str,
}

// SAFETY: only the thread that borrowed the object follows the pointer, once at a time.
unsafe impl<T: ?Sized> Send for Borrowed<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized> Sync for Borrowed<T> {}

impl<T: ?Sized> Borrowed<T> {
    fn with<R>(&self, body: impl FnOnce(NonNull<T>) -> R) -> PyResult<R> {
        let noun = self.noun;
        let refused = |message: String| Err(PyRuntimeError::new_err(message));
        if thread::current().id() != self.thread {
            return refused(format!(
                "This {noun} belongs to the thread that its pass runs on."
            ));
        }
        // Only this thread locks it: the holder is further down its stack.
        let object = match self.object.try_lock() {
            Ok(object) => object,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if noun == "context" => {
                return refused(
                    "The function is being rewritten; the code of a rule looks at it by `match.function`, and makes \
                     ops by its rewriter."
                        .to_owned(),
                );
            }
            Err(TryLockError::WouldBlock) => {
                return refused(format!(
                    "This {noun} is being rewritten; the code of a rule looks at it by `match.function`."
                ));
            }
        };
        match *object {
            Some(object) => Ok(body(object)),
            None => refused(format!(
                "The pass that this {noun} was given to has ended; look at the module that came out of it."
            )),
        }
    }

    /// Reads the object.
    pub(crate) fn read<R>(&self, body: impl FnOnce(&T) -> R) -> PyResult<R> {
        // SAFETY: the object stays until `end`, which waits for the lock.
        self.with(|object| body(unsafe { object.as_ref() }))
    }

    /// Edits the object.
    pub(crate) fn edit<R>(&self, body: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        if !self.may_edit {
            return Err(error::read_only(self.noun));
        }
        // SAFETY: as above; it was borrowed as `&mut`, and the lock makes this the only borrow.
        self.with(|mut object| body(unsafe { object.as_mut() }))
    }

    fn end(&self) {
        *self.object.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The time of a borrow, which ends when it is dropped.
pub(crate) struct BorrowScope<T: ?Sized>(Arc<Borrowed<T>>);

impl<T: ?Sized> BorrowScope<T> {
    /// Returns the loan of an object as long as nothing else looks at it.
    fn new(object: NonNull<T>, may_edit: bool, noun: &'static str) -> BorrowScope<T> {
        BorrowScope(Arc::new(Borrowed {
            object: Mutex::new(Some(object)),
            thread: thread::current().id(),
            may_edit,
            noun,
        }))
    }

    /// Returns the borrowed object.
    pub(crate) fn handle(&self) -> Arc<Borrowed<T>> {
        self.0.clone()
    }
}

impl<T: ?Sized> Drop for BorrowScope<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The function that a pass may edit.
pub(crate) type BorrowedFunction = Borrowed<sdk::Function>;
/// The module that a pass may look at, or edit.
pub(crate) type BorrowedModule = Borrowed<sdk::Module<'static>>;
/// The context of a pass's run.
pub(crate) type BorrowedContext = Borrowed<sdk::PassContext>;
/// What a rule's code makes its replacement with.
pub(crate) type BorrowedRewriter = Borrowed<sdk::Rewriter<'static>>;
/// What a rule found.
pub(crate) type BorrowedMatch = Borrowed<sdk::Match<'static>>;

/// Borrows a function as long as `body` runs.
pub(crate) fn function<R>(
    f: &mut sdk::Function,
    body: impl FnOnce(&BorrowScope<sdk::Function>) -> R,
) -> R {
    body(&BorrowScope::new(NonNull::from(f), true, "function"))
}

/// Borrows a module as long as `body` runs.
pub(crate) fn module<R>(
    m: &mut sdk::Module<'_>,
    body: impl FnOnce(&BorrowScope<sdk::Module<'static>>) -> R,
) -> R {
    body(&BorrowScope::new(NonNull::from(m).cast(), true, "module"))
}

/// Borrows a module to look at, as long as `body` runs.
pub(crate) fn module_to_read<R>(
    m: &sdk::Module<'_>,
    body: impl FnOnce(&BorrowScope<sdk::Module<'static>>) -> R,
) -> R {
    body(&BorrowScope::new(NonNull::from(m).cast(), false, "module"))
}

/// Borrows the context of a run, as long as `body` runs.
pub(crate) fn context<R>(
    cx: &sdk::PassContext,
    body: impl FnOnce(&BorrowScope<sdk::PassContext>) -> R,
) -> R {
    body(&BorrowScope::new(NonNull::from(cx), false, "context"))
}

/// Borrows what a rule's code is given, as long as `body` runs.
pub(crate) fn rewrite<R>(
    rewriter: &mut sdk::Rewriter<'_>,
    found: &sdk::Match<'_>,
    body: impl FnOnce(&BorrowScope<sdk::Rewriter<'static>>, &BorrowScope<sdk::Match<'static>>) -> R,
) -> R {
    body(
        &BorrowScope::new(NonNull::from(rewriter).cast(), true, "rewriter"),
        &BorrowScope::new(NonNull::from(found).cast(), false, "match"),
    )
}

/// A function to read, on any thread.
pub(crate) struct Snapshot(Mutex<Sent>);

struct Sent(FunctionSnapshot);

// SAFETY: what of it is shared without a count is shared by its own iterators, and none leaves `read`,
// which only one thread is in at a time.
unsafe impl Send for Sent {}

impl Snapshot {
    pub(crate) fn new(snapshot: FunctionSnapshot) -> Snapshot {
        Snapshot(Mutex::new(Sent(snapshot)))
    }

    /// Looks at it. The answer holds no iterator of it.
    pub(crate) fn read<R: Send>(&self, body: impl FnOnce(&sdk::Function) -> R) -> R {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        body(&held.0)
    }
}
