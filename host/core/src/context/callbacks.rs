//! Calling instruments: in the order of the list, one at a time, nothing unwinds out of them.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use passdock_ir::Module;

use super::stack;
use crate::error::{Cause, ErrorKind, ErrorParts, PassError};
use crate::instrument::{InstrumentRef, InstrumentReport, InstrumentResult, PassInstrument};
use crate::pass_info::PassInfo;
use crate::util;

/// A context's instruments.
pub(super) struct Instruments {
    pub(super) list: Arc<[InstrumentRef]>,
    /// How many times the context was entered and not yet left.
    pub(super) entered: u32,
}

impl Instruments {
    pub(super) fn new(list: Vec<InstrumentRef>) -> Instruments {
        Instruments {
            list: list.into(),
            entered: 0,
        }
    }

    pub(super) fn take(&mut self) -> Arc<[InstrumentRef]> {
        std::mem::take(&mut self.list)
    }
}

fn call<T>(
    instrument: &dyn PassInstrument,
    callback: &'static str,
    body: impl FnOnce() -> InstrumentResult<T>,
) -> Result<T, PassError> {
    let cause: Cause = match stack::callback(|| catch_unwind(AssertUnwindSafe(body))) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => match error.downcast::<PassError>() {
            // What is wrong is the pass, not the instrument.
            Ok(error) if error.kind == ErrorKind::Numerics => return Err(*error),
            Ok(error) => Arc::new(*error),
            Err(error) => Arc::from(error),
        },
        Err(payload) => {
            let text = util::panic_text(&*payload);
            let message = format!(
                "The instrument `{}` panicked in {callback}: {text}.",
                instrument.name()
            );
            return Err(PassError::new(ErrorKind::Instrument, message));
        }
    };
    let name = instrument.name();
    let failed = |what: &str| {
        let what = what.trim_end_matches('.');
        let message = format!("The instrument `{name}` failed in {callback}: {what}.");
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

/// Enters all. If one fails, those before it are exited again, in reverse.
pub(super) fn enter(list: &[InstrumentRef]) -> Result<(), PassError> {
    for (at, instrument) in list.iter().enumerate() {
        let Err(mut error) = call(&**instrument, "enter_pass_ctx", || {
            instrument.enter_pass_ctx()
        }) else {
            continue;
        };
        for earlier in list[..at].iter().rev() {
            if let Err(more) = call(&**earlier, "exit_pass_ctx", || earlier.exit_pass_ctx()) {
                error.notes.push(more.message.clone());
            }
        }
        return Err(error);
    }
    Ok(())
}

/// Exits all; the first failure ends it.
pub(super) fn exit(list: &[InstrumentRef]) -> Result<(), PassError> {
    list.iter()
        .try_for_each(|i| call(&**i, "exit_pass_ctx", || i.exit_pass_ctx()))
}

/// Asks all, also after one said no; answers who said no.
pub(crate) fn vetoes<'l>(
    list: &'l [InstrumentRef],
    module: &Module,
    info: &PassInfo,
) -> Result<Vec<&'l str>, PassError> {
    let mut vetoes = Vec::new();
    for i in list {
        if !call(&**i, "should_run", || i.should_run(module, info))? {
            vetoes.push(i.name());
        }
    }
    Ok(vetoes)
}

/// Tells all that the pass is about to run. If one fails, those told before hear of it.
pub(crate) fn before(
    list: &[InstrumentRef],
    module: &Module,
    info: &PassInfo,
) -> Result<(), PassError> {
    for (at, i) in list.iter().enumerate() {
        if let Err(error) = call(&**i, "run_before_pass", || i.run_before_pass(module, info)) {
            failed(&list[..at], module, info, &error);
            return Err(error);
        }
    }
    Ok(())
}

/// Tells all that the pass ran. If one fails, the later ones hear of that instead.
pub(crate) fn after(
    list: &[InstrumentRef],
    before: &Module,
    after: &Module,
    info: &PassInfo,
) -> Result<(), PassError> {
    for (at, i) in list.iter().enumerate() {
        if let Err(error) = call(&**i, "run_after_pass", || i.run_after_pass(after, info)) {
            failed(&list[at + 1..], before, info, &error);
            return Err(error);
        }
    }
    Ok(())
}

/// Asks all what they have to show; one that panics over it is answered as an error.
pub(super) fn reports(
    list: &[InstrumentRef],
) -> impl Iterator<Item = Result<InstrumentReport, PassError>> {
    list.iter().filter_map(|i| {
        let report = call(&**i, "report", || {
            Ok(i.report().map(|text| InstrumentReport {
                name: i.name().to_owned(),
                text,
                data: i.report_data(),
            }))
        });
        report.transpose()
    })
}

/// Tells all that the pass failed.
pub(crate) fn failed(list: &[InstrumentRef], module: &Module, info: &PassInfo, error: &PassError) {
    for i in list {
        // It answers nothing, and what it might panic about can't outrank the pass's own error.
        let _ = call(&**i, "pass_failed", || {
            i.pass_failed(module, info, error);
            Ok(())
        });
    }
}
