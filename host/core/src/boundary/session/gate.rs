//! The gate for calls of the plugin ABI: it checks handles, catches panics and stores errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use passdock_abi as abi;
use passdock_abi::{Status, Str};
use passdock_ir::{Edit, EditFailure};

use super::lending;
use super::{FunctionSession, FunctionState, SessionBase, input, lends};
use crate::util;

/// The message for a handle without a session that could store one.
pub(in crate::boundary) const NO_SESSION: &str = "the handle is null, or belongs to another thread";

/// The object that a handle points to. It stores the message of the last error for the plugin.
pub(in crate::boundary) trait Session: Sized {
    /// The ABI type that handles point to.
    type Handle;

    /// Returns the part that is common to all sessions.
    fn base(&self) -> &SessionBase;

    /// Records that the host panicked during a call.
    fn break_off(&self) {}

    /// Returns the session of a handle.
    ///
    /// # Safety
    /// The handle is null or came from a session of this type, which lives.
    #[inline]
    unsafe fn from_handle<'s>(handle: *const Self::Handle) -> Edit<&'s Self> {
        let Some(session) = address::<Self, _>(handle) else {
            return Err(EditFailure::invalid(NO_SESSION));
        };
        // SAFETY: the caller's promise. On a foreign thread only the field `thread` is read, which never changes.
        let session = unsafe { &*session };
        match session.base().is_of_this_thread() {
            true => Ok(session),
            false => Err(EditFailure::invalid(NO_SESSION)),
        }
    }

    /// Stores an error's message, and returns its status.
    fn fail(&self, error: EditFailure) -> Status {
        self.base().last_error.replace(error.message);
        error.status
    }
}

/// Returns the address of a handle's session. `None` if the handle isn't valid.
#[inline]
pub(in crate::boundary) fn address<S, H>(handle: *const H) -> Option<*mut S> {
    let session = handle.cast_mut().cast::<S>();
    match session.is_null() || !session.is_aligned() {
        false => Some(session),
        true => lending::session_of(handle.addr()).map(<*mut ()>::cast),
    }
}

/// Runs a call on a session. Catches panics, and stores the error's message.
pub(in crate::boundary) fn call<S: Session>(
    session: Edit<&S>,
    body: impl FnOnce(&S) -> Edit,
) -> Status {
    let session = match session {
        Ok(session) => session,
        Err(error) => return error.status,
    };
    let called = lends().then(lending::called);
    let status = match catch_unwind(AssertUnwindSafe(|| body(session))) {
        Ok(Ok(())) => Status::OK,
        Ok(Err(error)) => session.fail(error),
        Err(payload) => {
            session.break_off();
            session.fail(host_failed(payload))
        }
    };
    if let Some(called) = called {
        lending::end_call(called);
    }
    status
}

/// Returns the message of a session's last error.
pub(in crate::boundary) fn last_error<S: Session>(session: Edit<&S>) -> Str {
    guard(Str::EMPTY, || {
        // The address of the text is stable until the next error.
        session.map_or(Str::new(NO_SESSION), |session| {
            lending::result_text(&session.base().last_error.borrow())
        })
    })
}

/// Runs a query about a function.
///
/// # Safety
/// See [`Session::from_handle`].
pub(in crate::boundary) unsafe fn read(
    handle: *const abi::Function,
    body: impl FnOnce(&mut FunctionState) -> Edit,
) -> Status {
    // SAFETY: the caller's promise.
    call(unsafe { FunctionSession::from_handle(handle) }, |session| {
        session.with(body)
    })
}

/// Runs an edit of a function.
///
/// # Safety
/// See [`Session::from_handle`].
pub(in crate::boundary) unsafe fn edit(
    handle: *mut abi::Function,
    body: impl FnOnce(&mut FunctionState) -> Edit,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { change(handle, |session| session.with(body)) }
}

/// Runs a call that may change a function, and updates its view.
///
/// # Safety
/// See [`Session::from_handle`].
pub(in crate::boundary) unsafe fn change(
    handle: *mut abi::Function,
    body: impl FnOnce(&FunctionSession) -> Edit,
) -> Status {
    // SAFETY: the caller's promise.
    let status = call(unsafe { FunctionSession::from_handle(handle) }, body);
    // SAFETY: as above.
    if let Ok(session) = unsafe { FunctionSession::from_handle(handle) } {
        // Also after an error: a rejected edit may have interned a type.
        session.refresh();
    }
    status
}

/// Runs a query about a function, and writes its result.
///
/// # Safety
/// See [`Session::from_handle`] and [`input::write_with`].
pub(in crate::boundary) unsafe fn read_to<T>(
    out: *mut T,
    handle: *const abi::Function,
    body: impl FnOnce(&mut FunctionState) -> Edit<T>,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { read(handle, |state| input::write_with(out, || body(state))) }
}

/// Runs a call without a session. Returns `otherwise` if it panics.
pub(in crate::boundary) fn guard<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    guarded(|| Ok(body())).unwrap_or(otherwise)
}

/// Runs a call without a session. Turns a panic into an error.
pub(in crate::boundary) fn guarded<T>(body: impl FnOnce() -> Edit<T>) -> Edit<T> {
    let result = catch_unwind(AssertUnwindSafe(body));
    if lends() {
        lending::end_call(lending::called());
    }
    result.unwrap_or_else(|payload| Err(host_failed(payload)))
}

/// Returns the error for a panic of the host.
fn host_failed(payload: Box<dyn Any + Send>) -> EditFailure {
    let text = util::panic_text(&*payload);
    // Dropping the payload may panic again. That panic is ignored.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    EditFailure::rejected(format!(
        "the host failed: {text}; this is a bug in passdock, please report it"
    ))
}
