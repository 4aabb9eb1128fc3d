//! A plugin in a separate library, attached to several hosts: the gate catches panics and reports them to the calling
//! host.

use std::cell::{Cell, RefCell};
use std::ptr;

use passdock_abi as abi;
use passdock_abi::Status;
use passdock_plugin_api::prelude::*;

fn panics(_f: &mut Function, _cx: &PassContext) -> PassResult {
    panic!(
        "it has a context: {}",
        PassContext::current(|_| ()).is_some()
    );
}

plugin! {
    name: "own",
    passes: [function "own.transform.Panics" => panics],
}
export_plugin!(PLUGIN);

extern "C" {
    fn passdock_plugin_v0(host: *const abi::Host, attach: *mut abi::Attach) -> *const abi::Plugin;
}

thread_local! {
    /// The host's context of the running pass.
    static CURRENT: Cell<*mut abi::Context> = const { Cell::new(ptr::null_mut()) };
    /// The message of the last failure, and whether it has a location.
    static LAST_FAILURE: RefCell<(String, bool)> = const { RefCell::new((String::new(), false)) };
}

unsafe extern "C" fn current(_: *const abi::Host) -> *mut abi::Context {
    CURRENT.with(Cell::get)
}

unsafe extern "C" fn fail(_: *mut abi::Context, failure: *const abi::Failure) {
    // SAFETY: the SDK's failure, alive during the call.
    let (message, file, line) = unsafe { ((*failure).message, (*failure).file, (*failure).line) };
    // SAFETY: as above.
    let message = unsafe { std::slice::from_raw_parts(message.ptr, message.len) };
    let message = String::from_utf8_lossy(message).into_owned();
    LAST_FAILURE.with(|failure| *failure.borrow_mut() = (message, file.len > 0 && line > 0));
}

/// A host that only records failures. `knows`: whether it has a current context.
fn host(knows: bool) -> &'static abi::Host {
    let context = abi::ContextApi {
        fail: Some(fail),
        current: if knows { Some(current) } else { None },
        ..abi::ContextApi::EMPTY
    };
    let host = abi::Host {
        abi: abi::ABI,
        ir: abi::IR,
        context: Box::leak(Box::new(context)),
        ..abi::Host::EMPTY
    };
    Box::leak(Box::new(host))
}

/// Calls the pass as a host does, and returns the recorded failure.
fn call(host: &'static abi::Host) -> (String, bool) {
    let function = abi::FunctionRef {
        handle: ptr::null_mut(),
        view: ptr::null(),
    };
    let context = ptr::NonNull::dangling().as_ptr();
    // SAFETY: this is the host, and the pass doesn't use its arguments.
    let status = unsafe {
        let mut attach_info = abi::Attach::EMPTY;
        let pass = &*(*passdock_plugin_v0(host, &mut attach_info)).passes;
        let run = pass.run_function.unwrap();
        CURRENT.with(|current| current.set(context));
        run(pass.state, context, &function, ptr::null())
    };
    CURRENT.with(|current| current.set(ptr::null_mut()));
    assert_eq!(status, Status::PANICKED);
    LAST_FAILURE.with(|failure| failure.take())
}

#[test]
fn panics_are_reported_with_and_without_current_context() {
    let failure = |has_context: bool| (format!("it has a context: {}", has_context), true);
    let (first, second, third) = (host(true), host(false), host(true));
    for _ in 0..2 {
        assert_eq!(call(first), failure(true));
        assert_eq!(call(second), failure(false));
        assert_eq!(call(third), failure(true));
    }
    assert!(PassContext::current(|_| ()).is_none());
    let panic = std::panic::catch_unwind(|| panic!("mine")).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"mine"));
    // Outside of a pass, no failure is kept for the next one.
    assert_eq!(call(first), failure(true));
}
