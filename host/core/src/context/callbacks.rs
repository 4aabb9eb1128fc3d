//! Calling instruments: in the order of the list, one at a time, nothing unwinds out of them.

use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use passdock_ir::Module;

use super::{PassContext, stack};
use crate::boundary::Watched;
use crate::error::{Cause, ErrorKind, ErrorParts, PassError};
use crate::instrument::{InstrumentRef, InstrumentReport, InstrumentResult, PassInstrument};
use crate::pass::Pass;
use crate::pass_info::PassInfo;
use crate::registry::{CallbackError, PluginInstrument};
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

/// A pass that instruments are told of, and under which context.
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) cx: &'a PassContext,
    pub(crate) pass: &'a dyn Pass,
    pub(crate) module: &'a Module,
}

impl<'a> Told<'a> {
    fn info(self) -> &'a PassInfo {
        self.pass.info()
    }

    /// The same as plugins' instruments are told it.
    fn watched(self) -> Watched<'a> {
        Watched {
            module: self.module,
            info: self.pass.info(),
            provider: self.pass.provider(),
        }
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
    let origin = instrument.as_plugin().map(PluginInstrument::origin);
    let of = origin.map_or(String::new(), |origin| format!(" of plugin {origin}"));
    let at = at.map_or(String::new(), |at| format!(" at {at}"));
    let (name, why) = (instrument.name(), why.trim_end_matches('.'));
    format!("The instrument `{name}`{of} {verb} in {callback}{at}: {why}.")
}

/// Enters all, which were entered `before` times already. If one fails, those before it are exited
/// again, in reverse, and then all as often as they were entered.
pub(super) fn enter(
    list: &[InstrumentRef],
    before: u32,
    cx: &PassContext,
) -> Result<(), PassError> {
    for (at, instrument) in list.iter().enumerate() {
        let Err(mut error) = make_and_enter(&**instrument, cx) else {
            continue;
        };
        let rounds = iter::once(&list[..at]).chain((0..before).map(|_| list));
        for earlier in rounds.flat_map(|round| round.iter().rev()) {
            if let Err(more) = exit_one(&**earlier, cx) {
                error.notes.push(more.message.clone());
            }
        }
        return Err(error);
    }
    Ok(())
}

fn make_and_enter(i: &dyn PassInstrument, cx: &PassContext) -> Result<(), PassError> {
    let Some(plugin) = i.as_plugin() else {
        return call(i, "enter_pass_ctx", || i.enter_pass_ctx());
    };
    plugin.make(cx)?;
    call(i, "enter_pass_ctx", || plugin.enter(cx))
}

/// Exits all; the first failure ends it.
pub(super) fn exit(list: &[InstrumentRef], cx: &PassContext) -> Result<(), PassError> {
    list.iter().try_for_each(|i| exit_one(&**i, cx))
}

fn exit_one(i: &dyn PassInstrument, cx: &PassContext) -> Result<(), PassError> {
    call(i, "exit_pass_ctx", || match i.as_plugin() {
        Some(plugin) => plugin.exit(cx),
        None => i.exit_pass_ctx(),
    })
}

/// Loads the plugins of those that come from some, and makes them.
pub(crate) fn make(list: &[InstrumentRef], cx: &PassContext) -> Result<(), PassError> {
    let mut plugins = list.iter().filter_map(|i| i.as_plugin());
    plugins.try_for_each(|plugin| plugin.make(cx))
}

/// Asks all, also after one said no; answers who said no.
pub(crate) fn vetoes<'l>(
    list: &'l [InstrumentRef],
    told: Told<'_>,
) -> Result<Vec<&'l str>, PassError> {
    let mut vetoes = Vec::new();
    for i in list {
        let runs = call(&**i, "should_run", || match i.as_plugin() {
            Some(plugin) => plugin.asked(told.cx, told.watched()),
            None => i.should_run(told.module, told.info()),
        })?;
        if !runs {
            vetoes.push(i.name());
        }
    }
    Ok(vetoes)
}

/// Tells all that the pass is about to run. If one fails, those told before hear of it.
pub(crate) fn before(list: &[InstrumentRef], told: Told<'_>) -> Result<(), PassError> {
    for (at, i) in list.iter().enumerate() {
        let result = call(&**i, "run_before_pass", || match i.as_plugin() {
            Some(plugin) => plugin.before(told.cx, told.watched()),
            None => i.run_before_pass(told.module, told.info()),
        });
        result.map_err(|error| failed(&list[..at], told, error))?;
    }
    Ok(())
}

/// Tells all that the pass ran, and made `after`. If one fails, the later ones hear of that instead.
pub(crate) fn after(
    list: &[InstrumentRef],
    told: Told<'_>,
    after: &Module,
) -> Result<(), PassError> {
    let made = Told {
        module: after,
        ..told
    };
    for (at, i) in list.iter().enumerate() {
        let result = call(&**i, "run_after_pass", || match i.as_plugin() {
            Some(plugin) => plugin.after(told.cx, made.watched()),
            None => i.run_after_pass(after, told.info()),
        });
        result.map_err(|error| failed(&list[at + 1..], told, error))?;
    }
    Ok(())
}

/// Asks all what they have to show; one that fails over it is answered as an error.
pub(super) fn reports(
    list: &[InstrumentRef],
    cx: &PassContext,
) -> impl Iterator<Item = Result<InstrumentReport, PassError>> {
    list.iter().filter_map(|i| {
        let report = call(&**i, "report", || {
            let text = match i.as_plugin() {
                Some(plugin) => plugin.shown(cx)?,
                None => i.report(),
            };
            Ok(text.map(|text| InstrumentReport {
                name: i.name().to_owned(),
                text,
                data: i.report_data(),
            }))
        });
        report.transpose()
    })
}

/// Tells all that the pass failed. What goes wrong with that is noted beside the pass's own error,
/// which is given back.
#[cold]
pub(crate) fn failed(list: &[InstrumentRef], told: Told<'_>, mut error: PassError) -> PassError {
    let mut notes = Vec::new();
    for i in list {
        let result = call(&**i, "pass_failed", || match i.as_plugin() {
            Some(plugin) => plugin.failed(told.cx, told.watched(), &error),
            None => {
                i.pass_failed(told.module, told.info(), &error);
                Ok(())
            }
        });
        notes.extend(result.err().map(|more| more.message.clone()));
    }
    error.notes.extend(notes);
    error
}
