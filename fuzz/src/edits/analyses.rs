//! Calls of `AnalysisApi`, and a count of what plugins leave with the host.

use std::cell::Cell;
use std::ffi::c_void;

use passdock_abi as abi;
use passdock_abi::{AnalysisApi, Column, Str};
use passdock_core::boundary::host;

use super::script::Step;
use super::session::{Pass, State, answered, records_of};

thread_local! {
    /// What the host has and hasn't dropped.
    static LEFT: Cell<i64> = const { Cell::new(0) };
}

/// The owner of what is kept: an address of the plugin's.
static OWNER: u64 = 0;

unsafe extern "C" fn drop_kept(data: *mut c_void) {
    LEFT.set(LEFT.get() - 1);
    // SAFETY: `put` made it a box, and the host drops it once.
    drop(unsafe { Box::from_raw(data.cast::<u64>()) });
}

/// What was left with the host was dropped, once each: nothing holds it any more.
pub(super) fn assert_dropped() {
    assert_eq!(LEFT.get(), 0, "analyses that were never dropped");
}

/// Calls the table on a function at hand.
pub(super) fn call(pass: &Pass, step: &Step) {
    let Some(held) = pass.pick(step) else {
        return;
    };
    let call = pass.call(step, Some(held));
    let f = call.function;
    let owner: *const c_void = match step.below(8) {
        0 => std::ptr::null(),
        _ => std::ptr::from_ref(&OWNER).cast(),
    };
    let key = match step.below(4) {
        0 => call.get(),
        at => Str::new(["", "a", "b", "c"][at]),
    };
    // SAFETY: the handles are those that the host gave out, of this pass; its tables live for good.
    let status = unsafe {
        let table = host().get();
        let id = Str::new(abi::ANALYSIS_EXTENSION);
        let table = table.get_extension.expect("is there")(table, id).cast::<AnalysisApi>();
        let t = &*table;
        match step.below(6) {
            0 | 1 => {
                let (name, size) = step.pick(&[
                    (abi::ANALYSIS_LIVENESS, size_of::<abi::Liveness>()),
                    (abi::ANALYSIS_ORDER, size_of::<abi::OpOrder>()),
                    (abi::ANALYSIS_EFFECTS, size_of::<abi::OpEffects>()),
                    (abi::ANALYSIS_NAMES, size_of::<abi::NameUse>()),
                    ("nothing", 0),
                ]);
                let mut column = Column::EMPTY;
                let column_of = t.column.expect("is there");
                let status = column_of(f, Str::new(name), step.out(&mut column));
                if status.is_ok() && held.state != State::Ended {
                    let bytes = Column {
                        len: column.len * size as u32,
                        ..column
                    };
                    let bytes = records_of::<u8>(bytes);
                    std::hint::black_box((bytes.first(), bytes.last()));
                }
                status
            }
            2 => {
                let mut data = std::ptr::null_mut();
                let status = t.get.expect("is there")(f, owner, key, step.out(&mut data));
                if status.is_ok() {
                    assert!(*data.cast::<u64>() < 256, "another's data");
                }
                status
            }
            3 | 4 => {
                let null = step.one_in(16);
                let data: *mut c_void = match null {
                    true => std::ptr::null_mut(),
                    false => {
                        LEFT.set(LEFT.get() + 1);
                        Box::into_raw(Box::new(u64::from(step.byte()))).cast()
                    }
                };
                let mut kept = std::ptr::null_mut();
                let put = t.put.expect("is there");
                let out = step.out(&mut kept);
                let status = put(f, owner, key, data, Some(drop_kept), out);
                if status.is_ok() {
                    assert!(!null && *kept.cast::<u64>() < 256, "another's data");
                }
                status
            }
            _ => t.preserve.expect("is there")(f, owner, key),
        }
    };
    // `get` doesn't say that a handle has ended in other words than that nothing is kept.
    answered(held, f, status);
}
