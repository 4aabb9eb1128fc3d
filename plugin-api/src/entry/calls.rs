//! The functions of passes and op definitions in the plugin's table. Each passes through the gate.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;

use passdock_abi as abi;
use passdock_abi::{OpId, Status};

use crate::ffi::{enter, Tables};
use crate::ir::{Function, Module};
use crate::op::{OpCall, OpDef};
use crate::pass::PassContext;
use crate::plugin::{FunctionPass, ModulePass};

// SAFETY for all: by the rules of the ABI, `host` is a host that attached the plugin, `state` is the entry's state, and
// the handles live until the function returns. Only this pass has the function or module.

/// Runs a function or prim-function pass.
pub(super) unsafe extern "C" fn run_function(
    host: *const abi::Host,
    state: *mut c_void,
    context: *mut abi::Context,
    function: *const abi::FunctionRef,
    module: *const abi::ModuleRef,
) -> Status {
    // SAFETY: see above.
    let (pass, cx, mut function) = unsafe {
        let tables = Tables::of(host);
        (
            &*state.cast::<FunctionPass>(),
            PassContext::from_raw(tables, context, module),
            Function::from_raw(tables, *function),
        )
    };
    enter(cx.calling(*pass, &mut function), |panic| {
        cx.report_panic(panic)
    })
}

/// Runs a module pass.
pub(super) unsafe extern "C" fn run_module(
    host: *const abi::Host,
    state: *mut c_void,
    context: *mut abi::Context,
    module: *const abi::ModuleRef,
) -> Status {
    // SAFETY: see above.
    let (pass, cx, mut module) = unsafe {
        let tables = Tables::of(host);
        (
            &*state.cast::<ModulePass>(),
            PassContext::from_raw(tables, context, ptr::null()),
            Module::from_raw(tables, *module),
        )
    };
    enter(cx.calling(*pass, &mut module), |panic| {
        cx.report_panic(panic)
    })
}

/// Calls the function of an op's definition with the index `FUNCTION` in [`OpDef::functions`].
pub(super) unsafe extern "C" fn run_op<const FUNCTION: usize>(
    host: *const abi::Host,
    state: *mut c_void,
    call: *mut abi::OpCall,
    function: *const abi::FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: see above.
    let (def, call) = unsafe {
        let call = OpCall::from_raw(Tables::of(host), call, *function, op);
        (&*state.cast::<OpDef>(), call)
    };
    let body = || match def.functions()[FUNCTION].map(|run| run(&call)) {
        Some(Ok(())) => Status::OK,
        Some(Err(rejection)) => {
            call.raw_reject(&rejection.reason);
            Status::REJECTED
        }
        None => Status::UNSUPPORTED,
    };
    enter(body, |panic| call.raw_reject(&panic.to_message()))
}
