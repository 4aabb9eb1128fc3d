//! Calls of instruments: in the order of the list, one at a time, with panics caught.

use std::cell::Cell;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use passdock_crash::{CallKind, Callee};
use passdock_ir::Module;

use super::plugin::CallbackError;
use super::{Frame, InstrumentRef, InstrumentReport, InstrumentResult, PassCall, PassInstrument};
use crate::error::{Cause, ErrorKind, PassError};
use crate::util;

thread_local! {
    /// The number of nested callbacks that run on this thread.
    static CALLBACKS: Cell<u32> = const { Cell::new(0) };
}

/// Whether an instrument's callback is running on this thread. Instruments aren't called for passes that run meanwhile.
pub(crate) fn in_callback() -> bool {
    CALLBACKS.get() > 0
}

/// A guard for callbacks on this thread, until it is dropped.
struct CallbackScope {
    /// Whether calls are recorded.
    recording: bool,
}

impl CallbackScope {
    fn enter() -> CallbackScope {
        CALLBACKS.set(CALLBACKS.get() + 1);
        CallbackScope {
            recording: passdock_crash::is_recording(),
        }
    }

    /// Calls a callback of an instrument. Its error or panic becomes an error that names both.
    fn call<T>(
        &self,
        instrument: &dyn PassInstrument,
        callback: &'static str,
        body: impl FnOnce() -> InstrumentResult<T>,
    ) -> Result<T, PassError> {
        let result = match self.recording {
            true => record(instrument, body),
            false => catch_unwind(AssertUnwindSafe(body)),
        };
        let cause: Cause = match result {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => match error.downcast::<PassError>() {
                // These errors are about the pass, the model or the options instead of the instrument, or name their
                // subject themselves.
                Ok(error)
                    if matches!(
                        error.kind,
                        ErrorKind::Numerics
                            | ErrorKind::NotChecked
                            | ErrorKind::Config
                            | ErrorKind::Crashed
                    ) =>
                {
                    return Err(*error);
                }
                Ok(error) => Arc::new(*error),
                Err(error) => Arc::from(error),
            },
            Err(payload) => {
                let text = util::panic_text(&*payload);
                let message = error_message(instrument, ("panicked", None), callback, &text);
                return Err(PassError::new(ErrorKind::Instrument, message));
            }
        };
        let plugin = cause.downcast_ref::<CallbackError>();
        let did = plugin.map_or(("failed", None), CallbackError::verb);
        let inner = cause.downcast_ref::<PassError>();
        let why = inner.map_or_else(|| cause.to_string(), |inner| inner.message.clone());
        let message = error_message(instrument, did, callback, &why);
        // The locations of an inner error stay in their own fields.
        let mut error = match inner.cloned() {
            Some(mut error) => {
                (error.kind, error.message) = (ErrorKind::Instrument, message);
                error
            }
            None => PassError::new(ErrorKind::Instrument, message),
        };
        if let Some(plugin) = plugin {
            error.fault = plugin.fault();
        }
        Err(error.caused_by(cause))
    }
}

impl Drop for CallbackScope {
    fn drop(&mut self) {
        CALLBACKS.set(CALLBACKS.get() - 1);
    }
}

/// Calls a callback with a record of the call, so that a report about a hang names the instrument. A plugin's
/// instrument records its own calls, too.
#[cold]
fn record<T>(instrument: &dyn PassInstrument, body: impl FnOnce() -> T) -> thread::Result<T> {
    let recorded = Callee::new(CallKind::Instrument, instrument.name(), None).enter();
    let result = catch_unwind(AssertUnwindSafe(body));
    recorded.leave();
    result
}

/// Returns the message about a failed callback: the instrument and its plugin, the verb, the callback, the location and
/// the reason.
#[cold]
pub(super) fn error_message(
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
    format!("instrument `{name}`{of} {verb} in {callback}{at}: {why}")
}

/// Prepares an instrument. Its error is returned unchanged. A panic is converted to an error.
pub(crate) fn prepare(i: &dyn PassInstrument, frame: &dyn Frame) -> Result<(), PassError> {
    let _scope = CallbackScope::enter();
    catch_unwind(AssertUnwindSafe(|| i.prepare(frame))).unwrap_or_else(|payload| {
        let why = util::panic_text(&*payload);
        let message = error_message(i, ("panicked", None), "prepare", &why);
        Err(PassError::new(ErrorKind::Instrument, message))
    })
}

/// Enters all instruments, which were entered `before` times already. If one fails, the ones before it are exited in
/// reverse order. Then all are exited as often as they were entered before.
pub(crate) fn enter(
    list: &[InstrumentRef],
    before: u32,
    frame: &dyn Frame,
) -> Result<(), PassError> {
    for (at, i) in list.iter().enumerate() {
        let entered = prepare(&**i, frame).and_then(|()| {
            CallbackScope::enter().call(&**i, "enter_pass_ctx", || i.enter_pass_ctx(frame))
        });
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

/// Exits all instruments, until one fails.
pub(crate) fn exit(list: &[InstrumentRef], frame: &dyn Frame) -> Result<(), PassError> {
    list.iter().try_for_each(|i| exit_one(&**i, frame))
}

fn exit_one(i: &dyn PassInstrument, frame: &dyn Frame) -> Result<(), PassError> {
    CallbackScope::enter().call(i, "exit_pass_ctx", || i.exit_pass_ctx(frame))
}

/// Returns the names of the instruments that veto a pass. All instruments are called, even after a veto.
///
/// # Errors
/// If an instrument fails.
pub fn vetoes<'l>(
    list: &'l [InstrumentRef],
    pass: &PassCall<'_>,
) -> Result<Vec<&'l str>, PassError> {
    let (scope, mut vetoes) = (CallbackScope::enter(), Vec::new());
    for i in list {
        if !scope.call(&**i, "should_run", || i.should_run(pass))? {
            vetoes.push(i.name());
        }
    }
    Ok(vetoes)
}

/// Calls `run_before_pass` of all instruments.
///
/// # Errors
/// If an instrument fails. `pass_failed` of those before it is called.
pub fn before(list: &[InstrumentRef], pass: &PassCall<'_>) -> Result<(), PassError> {
    let scope = CallbackScope::enter();
    for (at, i) in list.iter().enumerate() {
        let result = scope.call(&**i, "run_before_pass", || i.run_before_pass(pass));
        result.map_err(|error| failed(&list[..at], pass, error))?;
    }
    Ok(())
}

/// Calls `run_after_pass` of all instruments with the module `after`.
///
/// # Errors
/// If an instrument fails. `pass_failed` of those after it is called.
pub fn after(list: &[InstrumentRef], pass: &PassCall<'_>, after: &Module) -> Result<(), PassError> {
    let after_call = PassCall {
        module: after,
        ..*pass
    };
    let scope = CallbackScope::enter();
    for (at, i) in list.iter().enumerate() {
        let result = scope.call(&**i, "run_after_pass", || i.run_after_pass(&after_call));
        result.map_err(|error| failed(&list[at + 1..], pass, error))?;
    }
    Ok(())
}

/// Returns the reports of all instruments, with an error for each failed one.
pub(crate) fn reports(
    list: &[InstrumentRef],
    frame: &dyn Frame,
) -> Vec<Result<InstrumentReport, PassError>> {
    let reports = list.iter().filter_map(|i| {
        let report = CallbackScope::enter().call(&**i, "report", || {
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

/// Calls `pass_failed` of all instruments, and returns the pass's error. Their own errors become notes of it.
#[cold]
pub(crate) fn failed(
    list: &[InstrumentRef],
    pass: &PassCall<'_>,
    mut error: PassError,
) -> PassError {
    let mut notes = Vec::new();
    for i in list {
        let result =
            CallbackScope::enter().call(&**i, "pass_failed", || i.pass_failed(pass, &error));
        notes.extend(result.err().map(|more| more.message.clone()));
    }
    // An instrument that fails for a pass may fail again for the pass around it.
    notes.retain(|note| !error.notes.contains(note));
    error.notes.extend(notes);
    error
}
