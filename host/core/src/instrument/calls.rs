//! Calling instruments: in the order of the list, one at a time, nothing unwinds out of them.

use std::cell::Cell;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use passdock_ir::Module;

use super::plugin::CallbackError;
use super::{Frame, InstrumentRef, InstrumentReport, InstrumentResult, PassCall, PassInstrument};
use crate::error::{Cause, ErrorKind, ErrorParts, PassError};
use crate::util;

thread_local! {
    /// How many callbacks run on this thread, one inside another.
    static CALLBACKS: Cell<u32> = const { Cell::new(0) };
}

/// Whether an instrument's callback is running on this thread: meanwhile instruments are off.
pub(crate) fn in_callback() -> bool {
    CALLBACKS.get() > 0
}

/// A callback runs on this thread until this is dropped.
struct Inside;

impl Inside {
    fn enter() -> Inside {
        CALLBACKS.set(CALLBACKS.get() + 1);
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        CALLBACKS.set(CALLBACKS.get() - 1);
    }
}

fn call<T>(
    instrument: &dyn PassInstrument,
    callback: &'static str,
    body: impl FnOnce() -> InstrumentResult<T>,
) -> Result<T, PassError> {
    let inside = Inside::enter();
    let outcome = catch_unwind(AssertUnwindSafe(body));
    drop(inside);
    let cause: Cause = match outcome {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => match error.downcast::<PassError>() {
            // What it says is about the pass, the model or its options, not about the instrument.
            Ok(error)
                if matches!(
                    error.kind,
                    ErrorKind::Numerics | ErrorKind::NotChecked | ErrorKind::Config
                ) =>
            {
                return Err(*error);
            }
            Ok(error) => Arc::new(*error),
            Err(error) => Arc::from(error),
        },
        Err(payload) => {
            let text = util::panic_text(&*payload);
            let message = sentence(instrument, ("panicked", None), callback, &text);
            return Err(PassError::new(ErrorKind::Instrument, message));
        }
    };
    let plugin = cause.downcast_ref::<CallbackError>();
    let did = plugin.map_or(("failed", None), CallbackError::verb);
    let failed = |why: &str| {
        let message = sentence(instrument, did, callback, why);
        PassError::new(ErrorKind::Instrument, message)
    };
    let mut error = match cause.downcast_ref::<PassError>() {
        None => failed(&cause.to_string()),
        // What it says of places stays in its own fields.
        Some(inner) => {
            let ErrorParts { kind, message, .. } = &*failed(&inner.message);
            let mut error = inner.clone();
            error.kind = *kind;
            error.message.clone_from(message);
            error
        }
    };
    error.source = Some(cause);
    Err(error)
}

/// Which instrument, of which plugin, did what in which callback, and why.
#[cold]
fn sentence(
    instrument: &dyn PassInstrument,
    (verb, at): (&str, Option<&str>),
    callback: &str,
    why: &str,
) -> String {
    let of = instrument
        .provider()
        .map(|of| format!(" of plugin {}", of.origin));
    let of = of.unwrap_or_default();
    let at = at.map_or(String::new(), |at| format!(" at {at}"));
    let (name, why) = (instrument.name(), why.trim_end_matches('.'));
    format!("The instrument `{name}`{of} {verb} in {callback}{at}: {why}.")
}

/// Enters all, which were entered `before` times already. If one fails, those before it are exited
/// again, in reverse, and then all as often as they were entered.
pub(crate) fn enter(
    list: &[InstrumentRef],
    before: u32,
    frame: &dyn Frame,
) -> Result<(), PassError> {
    for (at, i) in list.iter().enumerate() {
        let entered = i
            .prepare(frame)
            .and_then(|()| call(&**i, "enter_pass_ctx", || i.enter_pass_ctx(frame)));
        let Err(mut error) = entered else {
            continue;
        };
        let rounds = iter::once(&list[..at]).chain((0..before).map(|_| list));
        for earlier in rounds.flat_map(|round| round.iter().rev()) {
            if let Err(more) = exit_one(&**earlier, frame) {
                error.notes.push(more.message.clone());
            }
        }
        return Err(error);
    }
    Ok(())
}

/// Exits all; the first failure ends it.
pub(crate) fn exit(list: &[InstrumentRef], frame: &dyn Frame) -> Result<(), PassError> {
    list.iter().try_for_each(|i| exit_one(&**i, frame))
}

fn exit_one(i: &dyn PassInstrument, frame: &dyn Frame) -> Result<(), PassError> {
    call(i, "exit_pass_ctx", || i.exit_pass_ctx(frame))
}

/// Asks all, also after one said no; answers who said no.
pub(crate) fn vetoes<'l>(
    list: &'l [InstrumentRef],
    told: &PassCall<'_>,
) -> Result<Vec<&'l str>, PassError> {
    let mut vetoes = Vec::new();
    for i in list {
        if !call(&**i, "should_run", || i.should_run(told))? {
            vetoes.push(i.name());
        }
    }
    Ok(vetoes)
}

/// Tells all that the pass is about to run. If one fails, those told before hear of it.
pub(crate) fn before(list: &[InstrumentRef], told: &PassCall<'_>) -> Result<(), PassError> {
    for (at, i) in list.iter().enumerate() {
        let result = call(&**i, "run_before_pass", || i.run_before_pass(told));
        result.map_err(|error| failed(&list[..at], told, error))?;
    }
    Ok(())
}

/// Tells all that the pass ran, and made `after`. If one fails, the later ones hear of that instead.
pub(crate) fn after(
    list: &[InstrumentRef],
    told: &PassCall<'_>,
    after: &Module,
) -> Result<(), PassError> {
    let made = PassCall {
        module: after,
        ..*told
    };
    for (at, i) in list.iter().enumerate() {
        let result = call(&**i, "run_after_pass", || i.run_after_pass(&made));
        result.map_err(|error| failed(&list[at + 1..], told, error))?;
    }
    Ok(())
}

/// Asks all what they have to show; one that fails over it is answered as an error.
pub(crate) fn reports(
    list: &[InstrumentRef],
    frame: &dyn Frame,
) -> Vec<Result<InstrumentReport, PassError>> {
    let reports = list.iter().filter_map(|i| {
        let report = call(&**i, "report", || {
            Ok(i.report_in(frame)?.map(|text| InstrumentReport {
                name: i.name().to_owned(),
                text,
                data: i.report_data(),
            }))
        });
        report.transpose()
    });
    reports.collect()
}

/// Tells all that the pass failed. What goes wrong with that is noted beside the pass's own error,
/// which is given back.
#[cold]
pub(crate) fn failed(
    list: &[InstrumentRef],
    told: &PassCall<'_>,
    mut error: PassError,
) -> PassError {
    let mut notes = Vec::new();
    for i in list {
        let result = call(&**i, "pass_failed", || i.pass_failed(told, &error));
        notes.extend(result.err().map(|more| more.message.clone()));
    }
    error.notes.extend(notes);
    error
}
