//! Code that runs inside the gate: the calls of passes.
#![allow(unsafe_code)]

use std::ffi::c_void;

use passdock_abi::Status;

use crate::data::{PassError, PassResult};
use crate::ffi::{describe, FunctionHandle, Tables};
use crate::ir::Module;
use crate::pass::PassContext;
use crate::plugin::{FunctionPass, ModulePass};

/// The state of an entry: a part of the plugin, and the host that calls it.
pub(super) struct Bound<T> {
    pub(super) part: T,
    pub(super) tables: &'static Tables,
}

impl<T> Bound<T> {
    /// Returns the pointer that the host passes to each call.
    pub(super) fn leak(self) -> *mut c_void {
        Box::into_raw(Box::new(self)).cast()
    }

    /// # Safety
    /// `state` was returned by `leak` for a `T`.
    pub(super) unsafe fn from_state(state: *mut c_void) -> &'static Bound<T> {
        // SAFETY: the caller guarantees that it is from `leak`, and it is never freed.
        unsafe { &*state.cast() }
    }
}

/// Calls a function pass.
pub(super) fn function_pass<'c>(
    pass: &'static Bound<FunctionPass>,
    mut function: FunctionHandle,
    cx: &'c PassContext,
) -> impl FnOnce() -> Status + 'c {
    move || status((pass.part)(&mut function, cx), cx)
}

/// Calls a module pass.
pub(super) fn module_pass<'c>(
    pass: &'static Bound<ModulePass>,
    mut module: Module<'c>,
    cx: &'c PassContext,
) -> impl FnOnce() -> Status + 'c {
    move || status((pass.part)(&mut module, cx), cx)
}

/// Returns the status of a result, and reports an error to the host.
#[inline]
pub(super) fn status(result: PassResult, cx: &PassContext) -> Status {
    match result {
        Ok(()) => Status::OK,
        Err(error) => failed(error, cx),
    }
}

#[cold]
fn failed(error: PassError, cx: &PassContext) -> Status {
    if !error.emitted {
        cx.raw_fail(&describe::failure(&error));
    }
    let config = error.status.filter(|&status| status == Status::CONFIG);
    config.unwrap_or(Status::FAILED)
}
