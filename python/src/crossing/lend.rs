//! What a pass is given is there as long as the pass runs; what Python keeps of it says so afterwards.
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

/// Something that was lent for a call.
pub(crate) struct Lent<T: ?Sized> {
    /// `None`: the call is over.
    at: Mutex<Option<NonNull<T>>>,
    thread: ThreadId,
    may_edit: bool,
    /// The word for it in messages.
    noun: &'static str,
}

// SAFETY: the pointer is followed on the thread that lent it alone, and one at a time.
unsafe impl<T: ?Sized> Send for Lent<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized> Sync for Lent<T> {}

impl<T: ?Sized> Lent<T> {
    fn borrowed<R>(&self, body: impl FnOnce(NonNull<T>) -> R) -> PyResult<R> {
        let noun = self.noun;
        let refused = |message: String| Err(PyRuntimeError::new_err(message));
        if thread::current().id() != self.thread {
            return refused(format!(
                "This {noun} belongs to the thread that its pass runs on."
            ));
        }
        // Only this thread comes here: who holds it is further down its stack.
        let at = match self.at.try_lock() {
            Ok(at) => at,
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
        match *at {
            Some(at) => Ok(body(at)),
            None => refused(format!(
                "The pass that this {noun} was given to has ended; look at the module that came out of it."
            )),
        }
    }

    /// Looks at it.
    pub(crate) fn read<R>(&self, body: impl FnOnce(&T) -> R) -> PyResult<R> {
        // SAFETY: who lent it waits until `end`, which waits for the lock.
        self.borrowed(|at| body(unsafe { at.as_ref() }))
    }

    /// Changes it.
    pub(crate) fn edit<R>(&self, body: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        if !self.may_edit {
            return Err(error::read_only(self.noun));
        }
        // SAFETY: as above; it was lent as `&mut`, and the lock makes this the only borrow.
        self.borrowed(|mut at| body(unsafe { at.as_mut() }))
    }

    fn end(&self) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The end of what is lent, when it is dropped.
pub(crate) struct Loan<T: ?Sized>(Arc<Lent<T>>);

impl<T: ?Sized> Loan<T> {
    /// Returns the loan of an object as long as nothing else looks at it.
    fn new(at: NonNull<T>, may_edit: bool, noun: &'static str) -> Loan<T> {
        Loan(Arc::new(Lent {
            at: Mutex::new(Some(at)),
            thread: thread::current().id(),
            may_edit,
            noun,
        }))
    }

    /// What is lent.
    pub(crate) fn lent(&self) -> Arc<Lent<T>> {
        self.0.clone()
    }
}

impl<T: ?Sized> Drop for Loan<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The function that a pass may edit.
pub(crate) type LentFunction = Lent<sdk::Function>;
/// The module that a pass may look at, or edit.
pub(crate) type LentModule = Lent<sdk::Module<'static>>;
/// The context of a pass's run.
pub(crate) type LentContext = Lent<sdk::PassContext>;
/// What a rule's code makes its replacement with.
pub(crate) type LentRewriter = Lent<sdk::Rewriter<'static>>;
/// What a rule found.
pub(crate) type LentMatch = Lent<sdk::Match<'static>>;

/// Lends a function as long as `body` runs.
pub(crate) fn function<R>(
    f: &mut sdk::Function,
    body: impl FnOnce(&Loan<sdk::Function>) -> R,
) -> R {
    body(&Loan::new(NonNull::from(f), true, "function"))
}

/// Lends a module as long as `body` runs.
pub(crate) fn module<R>(
    m: &mut sdk::Module<'_>,
    body: impl FnOnce(&Loan<sdk::Module<'static>>) -> R,
) -> R {
    body(&Loan::new(NonNull::from(m).cast(), true, "module"))
}

/// Lends a module to look at, as long as `body` runs.
pub(crate) fn module_to_read<R>(
    m: &sdk::Module<'_>,
    body: impl FnOnce(&Loan<sdk::Module<'static>>) -> R,
) -> R {
    body(&Loan::new(NonNull::from(m).cast(), false, "module"))
}

/// Lends the context of a run, as long as `body` runs.
pub(crate) fn context<R>(
    cx: &sdk::PassContext,
    body: impl FnOnce(&Loan<sdk::PassContext>) -> R,
) -> R {
    body(&Loan::new(NonNull::from(cx), false, "context"))
}

/// Lends what a rule's code is given, as long as `body` runs.
pub(crate) fn rewrite<R>(
    rewriter: &mut sdk::Rewriter<'_>,
    found: &sdk::Match<'_>,
    body: impl FnOnce(&Loan<sdk::Rewriter<'static>>, &Loan<sdk::Match<'static>>) -> R,
) -> R {
    body(
        &Loan::new(NonNull::from(rewriter).cast(), true, "rewriter"),
        &Loan::new(NonNull::from(found).cast(), false, "match"),
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
