//! A plugin in a separate library, attached to several hosts: the gate catches panics and reports them to the calling
//! host.

use std::cell::Cell;
use std::ptr;

use passdock_abi as abi;
use passdock_abi::Status;
use passdock_plugin_api::prelude::*;

fn panics(_f: &mut Function, _cx: &PassContext) -> PassResult {
    panic!("theirs");
}

plugin! {
    name: "own",
    passes: [function "own.transform.Panics" => panics],
}
export_plugin!(PLUGIN);

extern "C" {
    fn passdock_plugin_v1(host: *const abi::Host, attach: *mut abi::Attach) -> *const abi::Plugin;
}

thread_local! {
    /// The context and the message of the last failure, and whether it has a location.
    static LAST_FAILURE: Cell<Option<(usize, String, bool)>> = const { Cell::new(None) };
}

unsafe extern "C" fn emit(context: *mut abi::Context, failure: *const abi::Diagnostic) -> Status {
    // SAFETY: the SDK's failure, alive during the call.
    let (message, file, line) = unsafe { ((*failure).message, (*failure).file, (*failure).line) };
    // SAFETY: as above.
    let message = unsafe { std::slice::from_raw_parts(message.ptr, message.len) };
    let message = String::from_utf8_lossy(message).into_owned();
    LAST_FAILURE.with(|last| last.set(Some((context as usize, message, file.len > 0 && line > 0))));
    Status::OK
}

/// A host that only records failures.
fn host() -> &'static abi::Host {
    let context = abi::ContextApi {
        emit: Some(emit),
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

/// Calls the pass with a context as a host does, and returns the recorded failure.
fn call(host: &'static abi::Host, context: usize) -> Option<(usize, String, bool)> {
    let function = abi::FunctionRef {
        handle: ptr::null_mut(),
        view: ptr::null(),
    };
    // SAFETY: this is the host, and the pass doesn't use its arguments.
    let status = unsafe {
        let mut attach_info = abi::Attach::EMPTY;
        let pass = &*(*passdock_plugin_v1(host, &mut attach_info)).passes;
        let run = pass.run_function.unwrap();
        run(
            host,
            pass.state,
            context as *mut abi::Context,
            &function,
            ptr::null(),
        )
    };
    assert_eq!(status, Status::PANICKED);
    LAST_FAILURE.with(Cell::take)
}

#[test]
fn panics_are_reported_to_the_calling_host() {
    let hosts = [host(), host(), host()];
    for at in (1..=6).rev() {
        let expected = (at, "theirs".to_owned(), true);
        assert_eq!(call(hosts[at % 3], at), Some(expected));
    }
    let panic = std::panic::catch_unwind(|| panic!("mine")).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"mine"));
    // Outside of a pass, no failure is kept for the next one.
    assert_eq!(call(hosts[0], 7), Some((7, "theirs".to_owned(), true)));
}
