//! Host objects that a pass borrows while it runs. References that Python keeps raise an error afterwards.
//!
//! **Invariant:** no Python code runs while an object is borrowed.

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::{self, ThreadId};

use passdock::ir::FunctionSnapshot;
use passdock::sdk;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::crossing::error;

/// A host object that is borrowed for the duration of a call.
pub(crate) struct Borrowed<T: ?Sized> {
    /// `None` after the call.
    object: Mutex<Option<NonNull<T>>>,
    thread: ThreadId,
    may_edit: bool,
    /// The object's noun in messages.
    noun: &'static str,
}

// SAFETY: `with` dereferences the pointer only on the thread that borrowed the object, and under the lock.
unsafe impl<T: ?Sized> Send for Borrowed<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized> Sync for Borrowed<T> {}

impl<T: ?Sized> Borrowed<T> {
    fn with<R>(&self, body: impl FnOnce(NonNull<T>) -> R) -> PyResult<R> {
        let noun = self.noun;
        let runtime_error = |message: String| Err(PyRuntimeError::new_err(message));
        if thread::current().id() != self.thread {
            return runtime_error(format!(
                "the {noun} can only be used on the thread of its pass"
            ));
        }
        // Only this thread locks the mutex: if it is locked, a caller further up the stack holds it.
        let object = match self.object.try_lock() {
            Ok(object) => object,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if noun == "context" => {
                return runtime_error(
                    "the function is being rewritten; read it by `match.function`, and create ops with the rewriter"
                        .to_owned(),
                );
            }
            Err(TryLockError::WouldBlock) => {
                return runtime_error(format!(
                    "the {noun} is being rewritten; read it by `match.function`"
                ));
            }
        };
        match *object {
            Some(object) => Ok(body(object)),
            None => runtime_error(format!(
                "the pass of the {noun} has ended; use the module that the pass returned"
            )),
        }
    }

    /// Reads the object.
    pub(crate) fn read<R>(&self, body: impl FnOnce(&T) -> R) -> PyResult<R> {
        // SAFETY: the object is valid until `end`, which waits for the lock.
        self.with(|object| body(unsafe { object.as_ref() }))
    }

    /// Edits the object.
    pub(crate) fn edit<R>(&self, body: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        if !self.may_edit {
            return Err(error::read_only(self.noun));
        }
        // SAFETY: as above; the object was borrowed as `&mut`, and the lock makes this the only borrow.
        self.with(|mut object| body(unsafe { object.as_mut() }))
    }

    fn end(&self) {
        *self.object.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The scope of a borrow, which ends when this is dropped.
pub(crate) struct BorrowScope<T: ?Sized>(Arc<Borrowed<T>>);

impl<T: ?Sized> BorrowScope<T> {
    /// Borrows an object; nothing else may access it for the lifetime of the scope.
    fn new(object: NonNull<T>, may_edit: bool, noun: &'static str) -> BorrowScope<T> {
        BorrowScope(Arc::new(Borrowed {
            object: Mutex::new(Some(object)),
            thread: thread::current().id(),
            may_edit,
            noun,
        }))
    }

    /// Returns a handle of the borrowed object.
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
/// The module that a pass may read or edit.
pub(crate) type BorrowedModule = Borrowed<sdk::Module<'static>>;
/// The context of a pass's run.
pub(crate) type BorrowedContext = Borrowed<sdk::PassContext>;
/// The rewriter for the code of a rule.
pub(crate) type BorrowedRewriter = Borrowed<sdk::Rewriter<'static>>;
/// The match for the code of a rule.
pub(crate) type BorrowedMatch = Borrowed<sdk::Match<'static>>;

/// Borrows a function while `body` runs.
pub(crate) fn function<R>(
    f: &mut sdk::Function,
    body: impl FnOnce(&BorrowScope<sdk::Function>) -> R,
) -> R {
    body(&BorrowScope::new(NonNull::from(f), true, "function"))
}

/// Borrows a module while `body` runs.
pub(crate) fn module<R>(
    m: &mut sdk::Module<'_>,
    body: impl FnOnce(&BorrowScope<sdk::Module<'static>>) -> R,
) -> R {
    body(&BorrowScope::new(NonNull::from(m).cast(), true, "module"))
}

/// Borrows a module read-only while `body` runs.
pub(crate) fn module_to_read<R>(
    m: &sdk::Module<'_>,
    body: impl FnOnce(&BorrowScope<sdk::Module<'static>>) -> R,
) -> R {
    body(&BorrowScope::new(NonNull::from(m).cast(), false, "module"))
}

/// Borrows the context of a run while `body` runs.
pub(crate) fn context<R>(
    cx: &sdk::PassContext,
    body: impl FnOnce(&BorrowScope<sdk::PassContext>) -> R,
) -> R {
    body(&BorrowScope::new(NonNull::from(cx), false, "context"))
}

/// Borrows the rewriter and the match of a rule while `body` runs.
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

/// A read-only function, for any thread.
pub(crate) struct Snapshot(Mutex<Sent>);

struct Sent(FunctionSnapshot);

// SAFETY: a snapshot's data without an atomic reference count is shared only by its own iterators. None of them leaves
// `read`, and the lock admits one thread at a time.
unsafe impl Send for Sent {}

impl Snapshot {
    pub(crate) fn new(snapshot: FunctionSnapshot) -> Snapshot {
        Snapshot(Mutex::new(Sent(snapshot)))
    }

    /// Reads the function. The result can't hold an iterator of it.
    pub(crate) fn read<R: Send>(&self, body: impl FnOnce(&sdk::Function) -> R) -> R {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        body(&held.0)
    }
}
