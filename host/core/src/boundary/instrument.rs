//! Calls of plugins' instruments: creation, callbacks and reports.

use std::ffi::c_void;
use std::ptr;

use passdock_abi as abi;
use passdock_abi::{FunctionEntry, Status};
use passdock_diagnostic::Diagnostic;
use passdock_ir::Module;
use passdock_loader::{LoadedInstrument, MissingDefinition, PassInfo};

use super::session::context::CallFailure;
use super::session::frame::Frame;
use super::session::lending::{self, Loans};
use super::session::{ContextSession, ModuleSession, ending, entry, input, lends};
use crate::config::ConfigValue;
use crate::error::Provider;

/// The maximum size of an instrument's report in bytes. Longer ones are truncated.
const MAX_REPORT: usize = 1 << 20;

/// An instance of an instrument. Dropping it destroys the plugin's instance.
pub struct Instance {
    pub(crate) entry: abi::InstrumentEntry,
    host: &'static abi::Host,
    handle: *mut c_void,
    /// The values of all options.
    options: ConfigValue,
    /// Buffers that calls reuse.
    functions: Vec<FunctionEntry>,
    required: Vec<abi::Str>,
}

// SAFETY: by the plugin ABI, an instance is called on any thread, one call at a time, which `&mut self` guarantees. The
// list `required` is empty between calls.
unsafe impl Send for Instance {}

/// The pass of an instrument's callback.
#[derive(Clone, Copy)]
pub struct PassCall<'a> {
    /// The module before or after the pass.
    pub module: &'a Module,
    /// The name, level and requirements of the pass.
    pub info: &'a PassInfo,
    /// The plugin that provides the pass.
    pub provider: Option<&'a Provider>,
    /// The frame of the call: the run around it.
    pub frame: &'a dyn Frame,
}

/// The result of a callback, and its report, which is `None` if it succeeded and emitted no diagnostics.
pub type CallbackOutcome<T = ()> = (T, Option<Box<CallbackReport>>);

/// The failure and the diagnostics of a callback.
#[derive(Default)]
pub struct CallbackReport {
    /// The failure, if the callback failed.
    pub failure: Option<CallFailure>,
    /// The diagnostics that the callback emitted.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether a callback failed.
fn has_failure(report: &Option<Box<CallbackReport>>) -> bool {
    let report = report.as_ref();
    report.is_some_and(|report| report.failure.is_some())
}

impl Instance {
    /// Creates an instance of an instrument. `options` has the values of all options.
    pub fn new(
        instrument: &LoadedInstrument,
        frame: &dyn Frame,
        options: ConfigValue,
    ) -> CallbackOutcome<Instance> {
        let LoadedInstrument {
            entry,
            create,
            host,
        } = *instrument;
        let mut handle = ptr::null_mut();
        let ((), report) = call_with_context(frame, &options, |context| {
            // SAFETY: the function and its state come from the table of a plugin, which is never unloaded. The context
            // lives until the call returns.
            unsafe { create(host, entry.state, context, &mut handle) }
        });
        let mut instance = Instance {
            entry,
            host,
            handle,
            options,
            functions: Vec::new(),
            required: Vec::new(),
        };
        if has_failure(&report) {
            // The plugin created nothing that could be destroyed.
            instance.entry.destroy = None;
        }
        (instance, report)
    }

    /// Calls a callback around a context, if the instrument has it.
    pub fn watch_context(
        &mut self,
        frame: &dyn Frame,
        callback: Option<abi::WatchContext>,
    ) -> CallbackOutcome {
        let Some(callback) = callback else {
            return ((), None);
        };
        // SAFETY: the function comes from the table of a plugin, which is never unloaded. `&mut self` makes this the
        // only call on the instance, and the context lives until it returns.
        call_with_context(frame, &self.options, |context| unsafe {
            callback(self.host, self.handle, context)
        })
    }

    /// Calls `should_run`: whether the pass may run.
    pub fn should_run(&mut self, pass: PassCall<'_>) -> CallbackOutcome<bool> {
        let Some(callback) = self.entry.should_run else {
            return (true, None);
        };
        let mut runs = 1;
        let ((), report) = self.with_pass(pass, "", |(host, instance), context, module, pass| {
            // SAFETY: as in `watch_pass`. `runs` lives until the function returns.
            unsafe { callback(host, instance, context, module, pass, &mut runs) }
        });
        (runs != 0, report)
    }

    /// Calls a callback around a pass, if the instrument has it. `error` is the message of the pass's error, or empty.
    #[inline]
    pub fn watch_pass(
        &mut self,
        pass: PassCall<'_>,
        error: &str,
        callback: Option<abi::WatchPass>,
    ) -> CallbackOutcome {
        let Some(callback) = callback else {
            return ((), None);
        };
        self.with_pass(pass, error, |(host, instance), context, module, pass| {
            // SAFETY: the function comes from the table of a plugin, which is never unloaded. `&mut self` makes this
            // the only call on the instance. Handles and records live until it returns.
            unsafe { callback(host, instance, context, module, pass) }
        })
    }

    /// Calls `call` with the instance, and with a context, the module and the pass in the form of the plugin ABI.
    #[inline]
    fn with_pass(
        &mut self,
        pass: PassCall<'_>,
        error: &str,
        call: impl FnOnce(
            (&'static abi::Host, *mut c_void),
            *mut abi::Context,
            &abi::ModuleRef,
            &abi::PassInfo,
        ) -> Status,
    ) -> CallbackOutcome {
        let _outer = lends().then(lending::put_aside);
        self.functions.clear();
        self.functions.extend(pass.module.functions().map(entry));
        let session = ModuleSession::reading(pass.module, &self.functions, 0);
        let required = pass.info.required.iter();
        self.required
            .extend(required.map(|name| abi::Str::new(name)));
        let info = abi::PassInfo {
            opt_level: pass.info.opt_level,
            name: abi::Str::new(&pass.info.name),
            plugin: pass
                .provider
                .map_or(abi::Str::EMPTY, |provider| abi::Str::new(&provider.plugin)),
            required: self.required.as_ptr(),
            required_count: self.required.len(),
            error: abi::Str::new(error),
            ..abi::PassInfo::EMPTY
        };
        let mut lent = Loans::default();
        let info = match lends() {
            false => &info,
            true => lent_info(&mut lent, &self.required, info),
        };
        let report = call_in_context(pass.frame, &self.options, &session, |context| {
            let instance = (self.host, self.handle);
            call(instance, context, &session.reference(), info)
        });
        self.required.clear();
        drop(session);
        drop(lent);
        with_violation(report)
    }

    /// Returns the instrument's report, if any.
    pub fn report(&mut self, frame: &dyn Frame) -> CallbackOutcome<Option<String>> {
        let Some(callback) = self.entry.report else {
            return (None, None);
        };
        let mut text = abi::Str::EMPTY;
        // SAFETY: as in `watch_context`. `text` lives until the function returns.
        let ((), mut report) = call_with_context(frame, &self.options, |context| unsafe {
            callback(self.host, self.handle, context, &mut text)
        });
        if has_failure(&report) {
            return (None, report);
        }
        // SAFETY: by the plugin ABI, the text lives until the next call on the instance.
        let text = unsafe { input::lossy_text(text, "report", MAX_REPORT) };
        let text = text.unwrap_or_else(|error| {
            let failure = CallFailure::new(error.message);
            report.get_or_insert_default().failure = Some(failure);
            String::new()
        });
        (Some(text).filter(|text| !text.is_empty()), report)
    }

    /// Destroys the instance. Returns the failure that it reported.
    pub fn end(mut self) -> Option<CallFailure> {
        self.free()
    }

    fn free(&mut self) -> Option<CallFailure> {
        let destroy = self.entry.destroy.take()?;
        // SAFETY: the function comes from the table of a plugin, which is never unloaded. The plugin created the
        // instance, and `take` above prevents further calls.
        ending::free(|context| unsafe { destroy(self.host, self.handle, context) })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.free();
    }
}

/// Lends the description of a pass.
#[cold]
fn lent_info<'l>(
    lent: &'l mut Loans,
    required: &[abi::Str],
    info: abi::PassInfo,
) -> &'l abi::PassInfo {
    // SAFETY: the strings live longer than the callback.
    let mut text = |text| unsafe { lent.text(text) };
    let required: Vec<abi::Str> = required.iter().map(|&name| text(name)).collect();
    let info = abi::PassInfo {
        name: text(info.name),
        plugin: text(info.plugin),
        error: text(info.error),
        required: lent.list(&required).as_ptr(),
        ..info
    };
    &lent.list(&[info])[0]
}

/// Calls an instrument with a new context.
#[inline]
fn call_with_context(
    frame: &dyn Frame,
    options: &ConfigValue,
    call: impl FnOnce(*mut abi::Context) -> Status,
) -> CallbackOutcome {
    let _outer = lends().then(lending::put_aside);
    with_violation(call_in_context(frame, options, ptr::null(), call))
}

/// Calls an instrument with a new context, whose diagnostics may refer to a module. Returns the report, without
/// violations.
#[inline]
fn call_in_context(
    frame: &dyn Frame,
    options: &ConfigValue,
    module: *const ModuleSession<'_>,
    call: impl FnOnce(*mut abi::Context) -> Status,
) -> Option<Box<CallbackReport>> {
    let context = ContextSession::new(frame, options);
    let status = {
        let _entered = context.enter(ptr::null(), module);
        call(context.handle())
    };
    let missing = context.missing_definition();
    match status == Status::OK && missing.is_none() && context.is_silent() {
        true => None,
        false => Some(report(status, missing, &context)),
    }
}

/// Adds the violation of a callback to its report. Everything that was lent to the callback must have been dropped.
fn with_violation(mut report: Option<Box<CallbackReport>>) -> CallbackOutcome {
    if let Some(violation) = CallFailure::take_violation() {
        report.get_or_insert_default().failure = Some(violation);
    }
    ((), report)
}

/// Returns the report of a callback that failed or emitted diagnostics.
#[cold]
fn report(
    status: Status,
    missing: Option<MissingDefinition>,
    context: &ContextSession<'_>,
) -> Box<CallbackReport> {
    let failure = match (context.status(status), missing) {
        (Status::OK, None) => None,
        // A result that was computed without the definition may be wrong.
        (Status::OK, Some(error)) => Some(CallFailure::new(error.to_string())),
        (Status(code), _) => Some(CallFailure {
            panicked: status == Status::PANICKED,
            ..context
                .take_failure()
                .unwrap_or_else(|| CallFailure::new(format!("status {code} without a message")))
        }),
    };
    Box::new(CallbackReport {
        failure,
        diagnostics: context.take_diagnostics(),
    })
}
