//! The gate that calls of the contract go through: it takes care of handles, panics and errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use passdock_abi as abi;
use passdock_abi::{Status, Str};
use passdock_ir::{Edit, EditFailure};

use super::function::{FunctionSession, FunctionState};
use super::input;
use crate::util;

/// The thread that a session was made on, and that its handle is used on.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::boundary) struct Thread(usize);

impl Thread {
    /// This thread: the address of what each has of its own.
    #[inline]
    pub(in crate::boundary) fn current() -> Thread {
        thread_local!(static OWN: u8 = const { 0 });
        OWN.with(|own| Thread(ptr::from_ref(own).addr()))
    }
}

/// The text for a handle that has no session to keep one.
const NO_SESSION: &str =
    "The handle is null, or it is used on another thread than the one that got it.";

/// The session of a handle.
///
/// # Safety
/// The handle is null or came from a session of this type, which lives.
#[inline]
pub(in crate::boundary) unsafe fn session<'s, S: Session>(handle: *const S) -> Edit<&'s S> {
    if handle.is_null() || !handle.is_aligned() {
        return Err(EditFailure::invalid(NO_SESSION));
    }
    // SAFETY: the caller's promise; on another thread than its own only this field is read, which stays.
    let session = unsafe { &*handle };
    match session.thread() == Thread::current() {
        true => Ok(session),
        false => Err(EditFailure::invalid(NO_SESSION)),
    }
}

/// The object behind a handle, which keeps the last error's message for the plugin.
pub(in crate::boundary) trait Session {
    /// The thread that it was made on.
    fn thread(&self) -> Thread;

    /// Keeps an error's message.
    fn keep_error(&self, message: String);

    /// The message of the last error; valid until the next call.
    fn last_error(&self) -> Str;

    /// Records that the host failed in the middle of a call.
    fn break_off(&self) {}

    /// Keeps an error's message, and returns the error's status.
    fn fail(&self, error: EditFailure) -> Status {
        self.keep_error(error.message);
        error.status
    }
}

/// Runs a call on a session: catches panics, and keeps the error's message.
pub(in crate::boundary) fn call<S: Session>(
    session: Edit<&S>,
    body: impl FnOnce(&S) -> Edit,
) -> Status {
    let session = match session {
        Ok(session) => session,
        Err(error) => return error.status,
    };
    match catch_unwind(AssertUnwindSafe(|| body(session))) {
        Ok(Ok(())) => Status::OK,
        Ok(Err(error)) => session.fail(error),
        Err(payload) => {
            session.break_off();
            session.fail(host_failed(payload))
        }
    }
}

/// The message of a session's last error.
pub(in crate::boundary) fn last_error<S: Session>(session: Edit<&S>) -> Str {
    guard(Str::EMPTY, || {
        session.map_or(Str::new(NO_SESSION), S::last_error)
    })
}

/// Runs a query about a function.
///
/// # Safety
/// As [`FunctionSession::of`].
pub(in crate::boundary) unsafe fn read(
    handle: *const abi::Function,
    body: impl FnOnce(&mut FunctionState) -> Edit,
) -> Status {
    // SAFETY: the caller's promise.
    call(unsafe { FunctionSession::of(handle) }, |session| {
        session.with(body)
    })
}

/// Runs an edit of a function.
///
/// # Safety
/// As [`FunctionSession::of`].
pub(in crate::boundary) unsafe fn edit(
    handle: *mut abi::Function,
    body: impl FnOnce(&mut FunctionState) -> Edit,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { change(handle, |session| session.with(body)) }
}

/// Runs a call that may change a function, and writes its view again.
///
/// # Safety
/// As [`FunctionSession::of`].
pub(in crate::boundary) unsafe fn change(
    handle: *mut abi::Function,
    body: impl FnOnce(&FunctionSession) -> Edit,
) -> Status {
    // SAFETY: the caller's promise.
    let status = call(unsafe { FunctionSession::of(handle) }, body);
    // SAFETY: as above.
    if let Ok(session) = unsafe { FunctionSession::of(handle) } {
        // Also after an error: a refused edit may have interned a type.
        session.refresh();
    }
    status
}

/// Runs a query about a function, and writes its answer.
///
/// # Safety
/// As [`FunctionSession::of`] and [`input::answer_with`].
pub(in crate::boundary) unsafe fn read_to<T>(
    out: *mut T,
    handle: *const abi::Function,
    body: impl FnOnce(&mut FunctionState) -> Edit<T>,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { read(handle, |state| input::answer_with(out, || body(state))) }
}

/// Runs any other call; `otherwise` is the answer if it panics.
pub(in crate::boundary) fn guard<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    guarded(|| Ok(body())).unwrap_or(otherwise)
}

/// Runs any other call, and turns a panic into an error.
pub(in crate::boundary) fn guarded<T>(body: impl FnOnce() -> Edit<T>) -> Edit<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(host_failed(payload)))
}

/// The error for a panic of the host itself.
fn host_failed(payload: Box<dyn Any + Send>) -> EditFailure {
    let text = util::panic_text(&*payload);
    // Dropping the payload can panic again, which is ignored.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    EditFailure::refused(format!(
        "The host failed ({text}), which is a mistake in passdock."
    ))
}
