//! The state of a table's entry, and the calls of the author's code for it.
#![allow(unsafe_code)]

use std::ffi::c_void;

use passdock_abi::Status;

use crate::data::{PassError, PassResult};
use crate::ffi::{self, describe, Tables};
use crate::pass::PassContext;

/// A part of the plugin and the host that calls it: the state of an entry.
pub(super) struct Bound<T> {
    pub(super) part: T,
    pub(super) tables: &'static Tables,
}

impl<T> Bound<T> {
    /// The pointer that the host gives back at each call.
    pub(super) fn leak(self) -> *mut c_void {
        Box::into_raw(Box::new(self)).cast()
    }

    /// # Safety
    /// `state` is what `leak` gave for a `T`.
    pub(super) unsafe fn from_state(state: *mut c_void) -> &'static Bound<T> {
        // SAFETY: the caller's promise; it is never freed.
        unsafe { &*state.cast() }
    }
}

/// Runs the author's code inside the gate, and returns the status of its result. An error and a panic are reported to
/// the host as the pass's failure.
#[inline]
pub(super) fn enter(cx: &PassContext, body: impl FnOnce() -> PassResult) -> Status {
    let run = || match body() {
        Ok(()) => Status::OK,
        Err(error) => failed(error, cx),
    };
    ffi::enter(cx.tables, run, |panic| {
        cx.raw_fail(&describe::panicked(panic))
    })
}

#[cold]
fn failed(error: PassError, cx: &PassContext) -> Status {
    if !error.emitted {
        cx.raw_fail(&describe::failure(&error));
    }
    let config = error.status.filter(|&status| status == Status::CONFIG);
    config.unwrap_or(Status::FAILED)
}
