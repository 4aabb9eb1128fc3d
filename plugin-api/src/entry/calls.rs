//! What is done inside the gate: the author's passes and op definitions are called.
#![allow(unsafe_code)]

use std::ffi::c_void;

use passdock_abi as abi;
use passdock_abi::Status;

use crate::data::PassError;
use crate::ir::{Function, FunctionHandle, Module};
use crate::op::{OpCall, OpDef, OpFn};
use crate::pass::PassContext;
use crate::plugin::{FunctionPass, ModulePass};
use crate::raw::lent;
use crate::raw::{RawContext, RawOpCall, Tables};

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
    pub(super) unsafe fn of(state: *mut c_void) -> &'static Bound<T> {
        // SAFETY: the caller's promise; it is never freed.
        unsafe { &*state.cast() }
    }
}

/// Calls a function pass.
pub(super) fn function_pass<'c>(
    pass: &'static Bound<FunctionPass>,
    mut function: FunctionHandle,
    cx: &'c PassContext,
) -> impl FnOnce() -> Status + 'c {
    move || answer((pass.part)(&mut function, cx), cx.raw())
}

/// Calls a module pass.
pub(super) fn module_pass<'c>(
    pass: &'static Bound<ModulePass>,
    mut module: Module<'c>,
    cx: &'c PassContext,
) -> impl FnOnce() -> Status + 'c {
    move || answer((pass.part)(&mut module, cx), cx.raw())
}

/// Calls a part of an op's definition.
///
/// # Safety
/// The handles are as the contract says until the answer was called.
pub(super) unsafe fn op_part(
    bound: &'static Bound<&'static OpDef>,
    part: fn(&OpDef) -> Option<OpFn>,
    raw: RawOpCall,
    function: *const abi::FunctionRef,
) -> impl FnOnce() -> Status {
    move || {
        let run = match part(bound.part) {
            Some(run) => run,
            None => return Status::UNSUPPORTED,
        };
        // SAFETY: the caller's promise.
        let function = unsafe { Function::from_raw(bound.tables, *function) };
        match run(&OpCall::new(raw, function)) {
            Ok(()) => Status::OK,
            Err(refusal) => {
                raw.refuse(&refusal.reason);
                Status::REFUSED
            }
        }
    }
}

/// The status of what the author's code answered; the host is told of a failure.
#[inline]
pub(super) fn answer(result: Result<(), PassError>, context: &RawContext) -> Status {
    match result {
        Ok(()) => Status::OK,
        Err(error) => failed(error, context),
    }
}

/// By value: whoever succeeds doesn't make ready to drop an error.
#[cold]
pub(super) fn failed(error: PassError, context: &RawContext) -> Status {
    // What the pass emitted as an error is the failure itself.
    if !error.emitted {
        context.fail(&lent::failure(&error));
    }
    let config = error.status.filter(|&status| status == Status::CONFIG);
    config.unwrap_or(Status::FAILED)
}
