//! Plugins that write to a read-only view. The run must terminate, with or without an error.

use std::sync::mpsc;
use std::time::Duration;

use passdock::{PassContext, Registry, Sequential, Verify, create_function_pass};
use passdock_abi::{
    FunctionView, Op, OpId, Range, Region, RegionId, SymbolId, TypeId, Use, UseId, Value,
};

use crate::common::{info, module};

/// Returns a mutable record of a column, which a plugin must never do.
fn record<T>(column: passdock_abi::Column, at: usize) -> &'static mut T {
    // SAFETY: `at` is in bounds, and the column lives as long as the pass. The ABI forbids writing to it, which this
    // test does on purpose.
    unsafe { &mut *column.base.cast::<T>().cast_mut().add(at) }
}

const OUTSIDE: Range = Range {
    start: 1 << 30,
    len: 5,
};

type Corruption = (&'static str, fn(&FunctionView));

/// Writes that leave a function which no edit could produce.
const CORRUPTIONS: &[Corruption] = &[
    ("next = self", |v| record::<Op>(v.ops, 0).next = OpId(0)),
    ("next outside", |v| {
        record::<Op>(v.ops, 0).next = OpId(1 << 30)
    }),
    ("prev = self", |v| record::<Op>(v.ops, 0).prev = OpId(0)),
    ("parent outside", |v| {
        record::<Op>(v.ops, 0).parent = RegionId(1 << 30)
    }),
    ("operands outside", |v| {
        record::<Op>(v.ops, 0).operands = OUTSIDE
    }),
    ("results outside", |v| {
        record::<Op>(v.ops, 0).results = OUTSIDE
    }),
    ("attributes outside", |v| {
        record::<Op>(v.ops, 0).attrs = OUTSIDE
    }),
    ("regions outside", |v| {
        record::<Op>(v.ops, 0).regions = OUTSIDE
    }),
    ("no name", |v| {
        record::<Op>(v.ops, 0).name = SymbolId(1 << 30)
    }),
    ("dead", |v| record::<Op>(v.ops, 0).flags = Op::DEAD),
    ("type outside", |v| {
        record::<Value>(v.values, 0).ty = TypeId(1 << 30)
    }),
    ("first use outside", |v| {
        record::<Value>(v.values, 0).first_use = UseId(1 << 30)
    }),
    ("cyclic use list", |v| {
        record::<Use>(v.uses, 0).next = UseId(0)
    }),
    ("user outside", |v| {
        record::<Use>(v.uses, 0).user = OpId(1 << 30)
    }),
    ("first op outside", |v| {
        record::<Region>(v.regions, 0).first = OpId(1 << 30)
    }),
    ("last op outside", |v| {
        record::<Region>(v.regions, 0).last = OpId(1 << 30)
    }),
    ("arguments outside", |v| {
        record::<Region>(v.regions, 0).args = OUTSIDE
    }),
    ("ports outside", |v| {
        record::<Region>(v.regions, 0).ports = OUTSIDE
    }),
];

/// Runs a pass that does such a write, and returns how the run ends.
fn run_result(corruption: Corruption, edits: bool, verify: Verify) -> String {
    let (send, receive) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let pass = create_function_pass(info("acme.transform.Scribble"), move |f, _| {
            if f.function_name() == "main" {
                if edits {
                    f.set_function_attr("touched", 1)?;
                }
                // SAFETY: the view lives as long as the handle.
                (corruption.1)(unsafe { &*f.as_raw().view });
            }
            Ok(())
        });
        let sequential = Sequential::new([pass]);
        let context = context(verify);
        let result = context.scope(|_| sequential.call(module()));
        _ = send.send(match result {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.to_string(),
        });
    });
    match receive.recv_timeout(Duration::from_secs(20)) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => "hangs".to_owned(),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            _ = thread.join();
            "panics".to_owned()
        }
    }
}

fn context(verify: Verify) -> PassContext {
    PassContext::builder()
        .registry(&Registry::new())
        .verify(verify)
        .build()
        .expect("a context")
}

#[test]
fn run_terminates_after_writes_to_a_view() {
    let mut failures = Vec::new();
    for &corruption in CORRUPTIONS {
        for edits in [true, false] {
            for verify in [Verify::Changed, Verify::All] {
                let result = run_result(corruption, edits, verify);
                if matches!(&*result, "hangs" | "panics")
                    || (result == "fine" && (edits || verify == Verify::All))
                {
                    failures.push(format!("{} ({edits}, {verify:?}): {result}", corruption.0));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
