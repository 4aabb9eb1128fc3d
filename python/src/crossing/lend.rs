//! What a pass is given is there as long as the pass runs; what Python keeps of it says so afterwards.
//!
//! **Invariant:** no Python code runs while something is borrowed.

use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError, TryLockError};
use std::thread::{self, ThreadId};

use passdock::ir::FunctionSnapshot;
use passdock::sdk;

/// Something that was lent for a call.
pub(crate) struct Lent<T: ?Sized> {
    /// `None`: the call is over.
    at: Mutex<Option<NonNull<T>>>,
    thread: ThreadId,
    may_edit: bool,
}

// SAFETY: the pointer is followed on the thread that lent it alone, and one at a time.
unsafe impl<T: ?Sized> Send for Lent<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized> Sync for Lent<T> {}

/// Why something that was lent isn't there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gone {
    /// The call is over.
    Over,
    /// Another thread asks.
    Elsewhere,
    /// It is there to be read only.
    ReadOnly,
    /// It is being rewritten.
    Busy,
}

impl<T: ?Sized> Lent<T> {
    fn new(at: NonNull<T>, may_edit: bool) -> Lent<T> {
        Lent {
            at: Mutex::new(Some(at)),
            thread: thread::current().id(),
            may_edit,
        }
    }

    fn borrowed<R>(&self, body: impl FnOnce(NonNull<T>) -> R) -> Result<R, Gone> {
        if thread::current().id() != self.thread {
            return Err(Gone::Elsewhere);
        }
        // Only this thread comes here: who holds it is further down its stack.
        let at = match self.at.try_lock() {
            Ok(at) => at,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(Gone::Busy),
        };
        at.map(body).ok_or(Gone::Over)
    }

    /// Looks at it.
    pub(crate) fn read<R>(&self, body: impl FnOnce(&T) -> R) -> Result<R, Gone> {
        // SAFETY: who lent it waits until `end`, which waits for the lock.
        self.borrowed(|at| body(unsafe { at.as_ref() }))
    }

    /// Changes it.
    pub(crate) fn edit<R>(&self, body: impl FnOnce(&mut T) -> R) -> Result<R, Gone> {
        if !self.may_edit {
            return Err(Gone::ReadOnly);
        }
        // SAFETY: as above; it was lent as `&mut`, and the lock makes this the only borrow.
        self.borrowed(|mut at| body(unsafe { at.as_mut() }))
    }

    fn end(&self) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The end of what is lent, when it is dropped.
pub(crate) struct Loan<T: ?Sized>(std::sync::Arc<Lent<T>>);

impl<T: ?Sized> Loan<T> {
    /// What is lent.
    pub(crate) fn lent(&self) -> std::sync::Arc<Lent<T>> {
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

/// Lends a function as long as `body` runs.
pub(crate) fn function<R>(
    f: &mut sdk::Function,
    body: impl FnOnce(&Loan<sdk::Function>) -> R,
) -> R {
    let loan = Loan(std::sync::Arc::new(Lent::new(NonNull::from(f), true)));
    body(&loan)
}

/// Lends a module as long as `body` runs.
pub(crate) fn module<R>(
    m: &mut sdk::Module<'_>,
    body: impl FnOnce(&Loan<sdk::Module<'static>>) -> R,
) -> R {
    let at = NonNull::from(m).cast::<sdk::Module<'static>>();
    body(&Loan(std::sync::Arc::new(Lent::new(at, true))))
}

/// Lends a module to look at, as long as `body` runs.
pub(crate) fn module_to_read<R>(
    m: &sdk::Module<'_>,
    body: impl FnOnce(&Loan<sdk::Module<'static>>) -> R,
) -> R {
    let at = NonNull::from(m).cast::<sdk::Module<'static>>();
    body(&Loan(std::sync::Arc::new(Lent::new(at, false))))
}

/// Lends the context of a run, as long as `body` runs.
pub(crate) fn context<R>(
    cx: &sdk::PassContext,
    body: impl FnOnce(&Loan<sdk::PassContext>) -> R,
) -> R {
    body(&Loan(std::sync::Arc::new(Lent::new(
        NonNull::from(cx),
        false,
    ))))
}

/// What a rule's code makes its replacement with.
pub(crate) type LentRewriter = Lent<sdk::Rewriter<'static>>;
/// What a rule found.
pub(crate) type LentMatch = Lent<sdk::Match<'static>>;

/// Lends what a rule's code is given, as long as `body` runs.
pub(crate) fn rewrite<R>(
    rewriter: &mut sdk::Rewriter<'_>,
    found: &sdk::Match<'_>,
    body: impl FnOnce(&Loan<sdk::Rewriter<'static>>, &Loan<sdk::Match<'static>>) -> R,
) -> R {
    let rewriter = NonNull::from(rewriter).cast::<sdk::Rewriter<'static>>();
    let found = NonNull::from(found).cast::<sdk::Match<'static>>();
    let (rewriter, found) = (Lent::new(rewriter, true), Lent::new(found, false));
    body(
        &Loan(std::sync::Arc::new(rewriter)),
        &Loan(std::sync::Arc::new(found)),
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
