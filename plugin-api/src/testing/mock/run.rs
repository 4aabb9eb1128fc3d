//! Functions and passes in a test: run as a host does.

use passdock_abi as abi;
use passdock_abi::Status;

use super::arena::MockFunction;
use super::context::{Failure, MockContext};
use super::tables::{host, tables};
use crate::ir::Function;
use crate::pass::PassContext;
use crate::plugin::StaticPlugin;
use crate::raw::{install_hook, text};

/// Calls back with an empty graph function named `main`, and a context of level 2.
pub fn scratch<R>(then: impl FnOnce(&mut Function, &PassContext) -> R) -> R {
    install_hook();
    let mut context = MockContext::default();
    let mut body = MockFunction::new();
    let (context, handle): (*mut MockContext, *mut MockFunction) = (&mut context, &mut *body);
    // SAFETY: both live until this function returns, and only the answer uses them.
    let (mut function, cx) = unsafe {
        (*handle).refresh();
        let reference = abi::FunctionRef {
            handle: handle.cast(),
            view: (*handle).view,
        };
        (
            Function::from_raw(tables(), reference),
            PassContext::from_raw(tables(), context.cast(), None),
        )
    };
    let answer = then(&mut function, &cx);
    if function.as_raw().handle != handle.cast() {
        // Swapped with another scratch function's, which may be gone: nothing is safe any more.
        std::process::abort();
    }
    answer
}

/// Calls a plugin's pass as a host does, through its table; the failure it told, if it failed.
pub fn run_pass(
    plugin: &StaticPlugin,
    pass: &str,
    build: impl FnOnce(&mut Function),
    look: impl FnOnce(&Function),
) -> (Status, Option<Failure>) {
    let mut context = MockContext::default();
    let context: *mut MockContext = &mut context;
    let mut body = MockFunction::new();
    let handle: *mut MockFunction = &mut *body;
    // SAFETY: this is the host, and keeps the contract: the handles live until the end.
    unsafe {
        let table = (plugin.entry)(host());
        assert!(!table.is_null(), "the plugin refuses the mock host");
        let passes = std::slice::from_raw_parts((*table).passes, (*table).pass_count as usize);
        let entry = passes.iter().find(|entry| text(entry.name) == pass);
        let entry = entry.unwrap_or_else(|| panic!("the plugin has no pass `{}`", pass));
        (*handle).refresh();
        let reference = abi::FunctionRef {
            handle: handle.cast(),
            view: (*handle).view,
        };
        build(&mut Function::from_raw(tables(), reference));
        let run = entry.run_function.expect("only function passes run here");
        let status = run(entry.state, context.cast(), &reference, std::ptr::null());
        look(&Function::from_raw(tables(), reference));
        (status, (*context).failure.take())
    }
}
