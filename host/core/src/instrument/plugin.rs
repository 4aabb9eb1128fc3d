//! Plugins' instruments.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex};

use passdock_crash::{CallKind, Callee};
use passdock_loader::Plugin;

use super::{
    Frame, InstrumentResult, InstrumentSetup, InstrumentSpec, PassCall, PassInstrument, calls,
};
use crate::boundary::{CallFailure, CallbackOutcome, CallbackReport, Endings, Instance, host};
use crate::config::ConfigValue;
use crate::error::{ErrorKind, PassError, PassFault, Provider};
use crate::util;

/// A plugin's instrument with its options. The plugin is loaded and the instance is created before a context is
/// entered.
pub(super) struct PluginInstrument {
    plugin: Arc<Plugin>,
    provider: Provider,
    at: usize,
    /// The values of all options.
    options: ConfigValue,
    instance: Mutex<Option<Instance>>,
    /// The list for failures of the instance's destructor, from the context that was entered last.
    endings: Mutex<Option<Endings>>,
}

/// Returns the spec of an instrument in a plugin's manifest, by its index.
pub(crate) fn plugin_spec(plugin: &Arc<Plugin>, at: usize) -> InstrumentSpec {
    let declared = &plugin.manifest().instruments[at];
    let owner = plugin.clone();
    let make = move |options: &ConfigValue, _: &InstrumentSetup<'_>| -> Result<_, PassError> {
        let instrument: Arc<dyn PassInstrument> = Arc::new(PluginInstrument {
            plugin: owner.clone(),
            provider: Provider::new(&owner),
            at,
            options: options.clone(),
            instance: Mutex::default(),
            endings: Mutex::default(),
        });
        Ok(instrument)
    };
    let options = declared.options.clone();
    let mut spec = InstrumentSpec::untyped(&declared.name, &declared.summary, options, make);
    spec.plugin = Some(plugin.name().to_owned());
    spec.origin = Some(plugin.origin().clone());
    spec
}

/// The failure of a callback of a plugin's instrument.
#[derive(Debug)]
pub(super) struct CallbackError(Box<CallFailure>);

impl PluginInstrument {
    /// Records that the instrument is about to be called. An error if the call terminated an earlier process.
    #[inline]
    fn begins(&self) -> Result<Callee<'_>, PassError> {
        let plugin = self.provider.origin.path();
        let callee = Callee::instrument(self.name(), plugin);
        match passdock_crash::terminated(&callee) {
            None => Ok(callee),
            Some(termination) => Err(PassError::from_termination(termination)),
        }
    }

    /// Loads the plugin, and creates the instance.
    fn make(&self, frame: &dyn Frame) -> Result<Instance, PassError> {
        let name = self.name();
        let loaded = self.plugin.load(host()).map_err(|error| {
            PassError::from(error).note(format!("instrument `{name}` requires it"))
        })?;
        let loaded = &loaded.instruments()[self.at];
        let entered = self.begins()?.enter();
        let created = Instance::new(loaded, frame, self.options.clone());
        entered.leave();
        self.show_report(frame, created).map_err(|error| {
            let origin = &self.provider.origin;
            let panicked = match error.verb() {
                ("panicked", Some(at)) => format!("it panicked at {at}: "),
                ("panicked", None) => "it panicked: ".to_owned(),
                _ => String::new(),
            };
            let message =
                format!("cannot create instrument `{name}` of plugin {origin}: {panicked}{error}");
            error.into_error(message)
        })
    }

    #[inline]
    fn call<T>(
        &self,
        frame: &dyn Frame,
        callback: impl FnOnce(&mut Instance) -> CallbackOutcome<T>,
    ) -> InstrumentResult<T> {
        // The lock is held while the instance is created, so that two threads create only one.
        let mut instance = util::lock(&self.instance);
        let instance_ref = match &mut *instance {
            Some(instance) => instance,
            // The context was never entered.
            none => none.insert(self.make(frame)?),
        };
        let entered = self.begins()?.enter();
        let outcome = callback(instance_ref);
        entered.leave();
        drop(instance);
        Ok(self.show_report(frame, outcome)?)
    }

    /// Shows the diagnostics of a callback, and returns its result. A callback that emitted errors counts as failed.
    #[inline]
    fn show_report<T>(
        &self,
        frame: &dyn Frame,
        (result, report): CallbackOutcome<T>,
    ) -> Result<T, CallbackError> {
        match report {
            None => Ok(result),
            Some(report) => self.show(frame, *report).map(|()| result),
        }
    }

    #[cold]
    fn show(&self, frame: &dyn Frame, report: CallbackReport) -> Result<(), CallbackError> {
        let (name, provider) = (self.name(), &self.provider);
        let mut diagnostics = report.diagnostics;
        for diagnostic in &mut diagnostics {
            diagnostic.plugin = Some(provider.plugin.clone());
            diagnostic.file = provider.file();
            let origin = &provider.origin;
            let note = format!("emitted by instrument `{name}` of plugin {origin}");
            diagnostic.notes.push(note);
        }
        if !diagnostics.is_empty() {
            frame.show(&diagnostics);
        }
        let mut failures = diagnostics.iter().filter(|one| one.severity.is_failure());
        let emitted = || {
            let first = &failures.next()?.message;
            let message = format!("it emitted error diagnostics: {first}");
            Some(CallFailure::new(message))
        };
        let failure = report.failure.or_else(emitted);
        failure.map_or(Ok(()), |failure| Err(CallbackError(Box::new(failure))))
    }
}

impl PassInstrument for PluginInstrument {
    fn name(&self) -> &str {
        &self.plugin.manifest().instruments[self.at].name
    }

    fn provider(&self) -> Option<&Provider> {
        Some(&self.provider)
    }

    fn prepare(&self, frame: &dyn Frame) -> Result<(), PassError> {
        *util::lock(&self.endings) = frame.endings().cloned();
        let mut instance = util::lock(&self.instance);
        if instance.is_none() {
            *instance = Some(self.make(frame)?);
        }
        Ok(())
    }

    fn enter_pass_ctx(&self, frame: &dyn Frame) -> InstrumentResult {
        self.call(frame, |it| it.watch_context(frame, it.entry.enter_pass_ctx))
    }

    fn exit_pass_ctx(&self, frame: &dyn Frame) -> InstrumentResult {
        self.call(frame, |it| it.watch_context(frame, it.entry.exit_pass_ctx))
    }

    fn should_run(&self, call: &PassCall<'_>) -> InstrumentResult<bool> {
        self.call(call.frame, |it| it.should_run(*call))
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.call(call.frame, |it| {
            it.watch_pass(*call, "", it.entry.run_before_pass)
        })
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.call(call.frame, |it| {
            it.watch_pass(*call, "", it.entry.run_after_pass)
        })
    }

    fn pass_failed(&self, call: &PassCall<'_>, error: &PassError) -> InstrumentResult {
        let error = error.to_string();
        self.call(call.frame, |it| {
            it.watch_pass(*call, &error, it.entry.pass_failed)
        })
    }

    fn report_in(&self, frame: &dyn Frame) -> InstrumentResult<Option<String>> {
        self.call(frame, |it| it.report(frame))
    }
}

impl Drop for PluginInstrument {
    fn drop(&mut self) {
        let plugin = self.provider.origin.path();
        let Some(instance) = util::lock(&self.instance).take() else {
            return;
        };
        // The call isn't numbered: a rerun that skipped it wouldn't get further.
        let entered = Callee::new(CallKind::Instrument, self.name(), plugin).enter();
        let failure = instance.end();
        entered.leave();
        let endings = util::lock(&self.endings).take();
        if let (Some(failure), Some(endings)) = (failure, endings) {
            let error = CallbackError(Box::new(failure));
            let message = calls::error_message(self, error.verb(), "destroy", &error.to_string());
            endings.add(error.into_error(message));
        }
    }
}

impl CallbackError {
    /// Returns the verb for the failure, and the location of a panic in the plugin's source.
    pub(super) fn verb(&self) -> (&'static str, Option<&str>) {
        match self.0.panicked {
            true => ("panicked", self.0.panic_at.as_deref()),
            false => ("failed", None),
        }
    }

    /// Returns the fault that the failure shows, if any.
    pub(super) fn fault(&self) -> Option<PassFault> {
        self.0.fault()
    }

    /// Converts the failure to an error with this message.
    fn into_error(self, message: String) -> PassError {
        let mut error = PassError::new(ErrorKind::Instrument, message);
        error.fault = self.fault();
        error.caused_by(Arc::new(self))
    }
}

impl fmt::Display for CallbackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match (&self.0.at.function, &self.0.at.op) {
            (Some(function), Some(op)) => write!(f, " (@{function}, {op})"),
            (Some(function), None) => write!(f, " (@{function})"),
            (None, Some(op)) => write!(f, " ({op})"),
            (None, None) => Ok(()),
        }
    }
}

impl Error for CallbackError {}
