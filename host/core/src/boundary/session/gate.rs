//! The gate that all calls of plugins pass through: it checks handles, catches panics, turns errors
//! into a status and a message, and rewrites the view.

use std::panic::{AssertUnwindSafe, catch_unwind};

use passdock_abi as abi;
use passdock_abi::Status;
use passdock_ir::{Edit, EditError};

use super::function::{FunctionSession, State};

/// Runs an edit of a function.
///
/// # Safety
/// As [`FunctionSession::of`].
pub(in crate::boundary) unsafe fn edit(
    handle: *mut abi::Function,
    body: impl FnOnce(&mut State) -> Edit,
) -> Status {
    // SAFETY: the caller's promise.
    let status = unsafe { read(handle, body) };
    // SAFETY: as above.
    if let Ok(session) = unsafe { FunctionSession::of(handle) } {
        // Also after an error: a refused edit may have interned a type.
        session.refresh();
    }
    status
}

/// Runs a query about a function.
///
/// # Safety
/// As [`FunctionSession::of`].
pub(in crate::boundary) unsafe fn read(
    handle: *const abi::Function,
    body: impl FnOnce(&mut State) -> Edit,
) -> Status {
    // SAFETY: the caller's promise.
    let session = match unsafe { FunctionSession::of(handle) } {
        Ok(session) => session,
        Err(error) => return error.status,
    };
    match catch_unwind(AssertUnwindSafe(|| session.with(body))) {
        Ok(Ok(())) => Status::OK,
        Ok(Err(error)) => session.fail(error),
        Err(payload) => {
            let _ = session.with(|state| {
                state.break_off();
                Ok(())
            });
            session.fail(host_failed(payload))
        }
    }
}

/// Runs any other call, and catches panics.
pub(in crate::boundary) fn guard<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        let _ = host_failed(payload);
        otherwise
    })
}

/// The error for a panic of the host itself.
pub(in crate::boundary) fn host_failed(payload: Box<dyn std::any::Any + Send>) -> EditError {
    let text = panic_text(payload);
    EditError::refused(format!(
        "The host failed ({text}), which is a mistake in passdock."
    ))
}

/// The message of a panic. Dropping the payload can panic again, which is ignored.
pub(in crate::boundary) fn panic_text(payload: Box<dyn std::any::Any + Send>) -> String {
    let text = match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "a panic without a message".to_owned(),
    };
    if catch_unwind(AssertUnwindSafe(|| drop(payload))).is_err() {
        return text;
    }
    text
}
