//! Calls of `ModuleApi`: which handles live changes with them.

use passdock_abi as abi;
use passdock_abi::{FunctionEntry, FunctionRef, Status, SymbolId};
use passdock_core::boundary::host;

use super::arguments::{Call, read};
use super::calls;
use super::script::{Odd, Step};
use super::session::{Held, Pass, State, records_of};

/// The most functions at hand.
const MOST: usize = 24;

/// No function.
pub(super) const NONE: FunctionRef = FunctionRef {
    handle: std::ptr::null_mut(),
    view: std::ptr::null(),
};

/// Calls the table on the module at hand.
pub(super) fn call(pass: &mut Pass, step: &Step) {
    let m = match step.odd() {
        Odd::NullHandle => std::ptr::null_mut(),
        _ => pass.module.handle,
    };
    // SAFETY: the handles are those that the host gave out, of this pass; its tables live for good.
    unsafe {
        let t = &*host().get().modules;
        let held = pass.pick(step);
        let mut call = pass.call(step, held);
        call.module = m;
        let mut out = NONE;
        let status = match step.what() % 64 {
            40 => {
                let status = t.snapshot.expect("is there")(m, name(pass, &call), &mut out);
                hold(pass, status, out, State::Read);
                status
            }
            41 => {
                let status = t.edit.expect("is there")(m, name(pass, &call), &mut out);
                hold(pass, status, out, State::Edit);
                status
            }
            42 => {
                let status = t.create_function.expect("is there")(m, call.described(), &mut out);
                hold(pass, status, out, State::Edit);
                status
            }
            43 if step.one_in(3) => remove(pass, &call, t),
            43 => release(pass, &call, t),
            44 => run_pass(pass, &call, t),
            _ => calls::modules(&call).unwrap_or(Status::OK),
        };
        assert!(status.0 <= Status::CONFIG.0, "{status:?}");
        call.check_rooms(status);
        if !status.is_ok() && !m.is_null() {
            let error = read(t.last_error.expect("is there")(m));
            assert!(!error.contains("mistake in passdock"), "{error}");
        }
        let listed = records_of::<FunctionEntry>((*pass.module.view).functions);
        std::hint::black_box((listed.first(), listed.last()));
    }
}

/// The name of a function of the module, mostly.
fn name(pass: &Pass, call: &Call<'_>) -> SymbolId {
    // SAFETY: the view is there while the pass runs, its columns until the next call.
    let listed = unsafe { records_of::<FunctionEntry>((*pass.module.view).functions) };
    match call.step.byte() {
        byte @ 0..224 if !listed.is_empty() => listed[usize::from(byte) % listed.len()].name,
        _ => call.get(),
    }
}

/// Takes what the host gave in hand.
pub(super) fn hold(pass: &mut Pass, status: Status, function: FunctionRef, state: State) {
    let is_none = function.handle.is_null() && function.view.is_null();
    assert!(is_none != status.is_ok(), "{status:?} wrote {function:?}");
    let is_same = |held: &Held| held.function.handle == function.handle;
    if !is_none && !pass.functions.iter().any(is_same) && pass.functions.len() < MOST {
        pass.functions.push(Held { function, state });
    }
}

unsafe fn remove(pass: &mut Pass, call: &Call<'_>, t: &abi::ModuleApi) -> Status {
    let name = name(pass, call);
    // SAFETY: the views of handles that haven't ended are there.
    let is_name =
        |held: &Held| unsafe { held.state == State::Edit && (*held.function.view).name == name };
    let gone: Vec<bool> = pass.functions.iter().map(is_name).collect();
    // SAFETY: the caller's promise.
    let status = unsafe { t.remove_function.expect("is there")(call.module, name) };
    for (held, gone) in pass.functions.iter_mut().zip(gone) {
        if status.is_ok() && gone {
            held.state = State::Ended;
        }
    }
    status
}

unsafe fn release(pass: &mut Pass, call: &Call<'_>, t: &abi::ModuleApi) -> Status {
    let last = pass.functions.len().saturating_sub(1);
    let at = last.saturating_sub(call.step.below(4));
    // A handle that was released is gone: nothing may be done with it.
    let is_snapshot = |held: &Held| held.state == State::Read;
    let released = match !call.module.is_null() && pass.functions.get(at).is_some_and(is_snapshot) {
        true => pass.functions.remove(at).function,
        false => NONE,
    };
    // SAFETY: the caller's promise; no other snapshot is released.
    unsafe { t.release.expect("is there")(call.module, released) };
    Status::OK
}

unsafe fn run_pass(pass: &mut Pass, call: &Call<'_>, t: &abi::ModuleApi) -> Status {
    pass.erase_scratch();
    // SAFETY: the caller's promise.
    let status =
        unsafe { t.run_pass.expect("is there")(call.module, call.context, call.described()) };
    for held in pass.functions.iter_mut().filter(|_| status.is_ok()) {
        if held.state == State::Edit {
            held.state = State::Ended;
        }
    }
    status
}
