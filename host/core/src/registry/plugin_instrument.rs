//! A plugin's instrument with its options.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex};

use passdock_ir::Module;

use super::{InstrumentSetup, InstrumentSpec};
use crate::boundary::{Answer, Failure, Instance, Said, Watched};
use crate::config::{ConfigValue, Schema};
use crate::context::PassContext;
use crate::error::{ErrorKind, PassError, capitalized};
use crate::instrument::{InstrumentResult, PassInstrument};
use crate::pass_info::PassInfo;
use crate::plugin::{Origin, Plugin};
use crate::util;

/// An instrument of a plugin as a pipeline names it: which one, with which options. The plugin is
/// loaded, and the instance made, when a context is about to be entered.
pub struct PluginInstrument {
    plugin: Arc<Plugin>,
    at: usize,
    /// A value for each.
    options: ConfigValue,
    instance: Mutex<Option<Instance>>,
}

/// What pipelines may name.
pub(super) fn spec(plugin: &Arc<Plugin>, at: usize) -> InstrumentSpec {
    let said = &plugin.manifest().instruments[at];
    let fields = Schema::from_specs(&said.name, &said.options).fields;
    let owner = plugin.clone();
    let make = move |options: &ConfigValue, _: &InstrumentSetup<'_>| -> Result<_, PassError> {
        let instrument: Arc<dyn PassInstrument> = Arc::new(PluginInstrument {
            plugin: owner.clone(),
            at,
            options: options.clone(),
            instance: Mutex::default(),
        });
        Ok(instrument)
    };
    InstrumentSpec::untyped(&said.name, &said.summary, fields, make)
        .of_plugin(plugin.name())
        .given_by(plugin.origin())
}

/// What a callback of it failed of.
#[derive(Debug)]
pub(crate) struct CallbackError(Box<Failure>);

impl PluginInstrument {
    /// Loads the plugin and makes the instance, if that wasn't done before.
    pub(crate) fn make(&self, cx: &PassContext) -> Result<(), PassError> {
        // Held while it is made: two threads that enter contexts make one.
        let mut instance = util::lock(&self.instance);
        if instance.is_some() {
            return Ok(());
        }
        let loaded = self.plugin.load().map_err(|error| {
            let name = self.name();
            PassError::from(error).note(format!("the instrument `{name}` needs it"))
        })?;
        let loaded = &loaded.instruments()[self.at];
        let made = match Instance::new(loaded, cx, &self.options) {
            Ok(made) => Ok(made),
            Err(said) => self.hand_out(cx, *said),
        };
        let made = made.map_err(|error| {
            let (name, origin) = (self.name(), self.plugin.origin());
            let panicked = match error.verb() {
                ("panicked", Some(at)) => format!("it panicked at {at}: "),
                ("panicked", None) => "it panicked: ".to_owned(),
                _ => String::new(),
            };
            let message = format!(
                "The instrument `{name}` of plugin {origin} can't be made: {panicked}{error}"
            );
            let message = capitalized(&message);
            PassError::new(ErrorKind::Instrument, message).caused_by(Arc::new(error))
        })?;
        *instance = Some(made);
        Ok(())
    }

    /// Where it comes from.
    pub(crate) fn origin(&self) -> &Origin {
        self.plugin.origin()
    }

    pub(crate) fn enter(&self, cx: &PassContext) -> InstrumentResult {
        self.call(cx, |instance| instance.enter_pass_ctx(cx, &self.options))
    }

    pub(crate) fn exit(&self, cx: &PassContext) -> InstrumentResult {
        self.call(cx, |instance| instance.exit_pass_ctx(cx, &self.options))
    }

    pub(crate) fn asked(&self, cx: &PassContext, pass: Watched<'_>) -> InstrumentResult<bool> {
        self.call(cx, |instance| instance.should_run(cx, &self.options, pass))
    }

    pub(crate) fn before(&self, cx: &PassContext, pass: Watched<'_>) -> InstrumentResult {
        self.call(cx, |instance| {
            instance.run_before_pass(cx, &self.options, pass)
        })
    }

    pub(crate) fn after(&self, cx: &PassContext, pass: Watched<'_>) -> InstrumentResult {
        self.call(cx, |instance| {
            instance.run_after_pass(cx, &self.options, pass)
        })
    }

    pub(crate) fn failed(
        &self,
        cx: &PassContext,
        pass: Watched<'_>,
        error: &PassError,
    ) -> InstrumentResult {
        self.call(cx, |instance| {
            instance.pass_failed(cx, &self.options, pass, || error.to_string())
        })
    }

    pub(crate) fn shown(&self, cx: &PassContext) -> InstrumentResult<Option<String>> {
        self.call(cx, |instance| instance.report(cx, &self.options))
    }

    #[inline]
    fn call<T>(
        &self,
        cx: &PassContext,
        callback: impl FnOnce(&mut Instance) -> Answer<T>,
    ) -> InstrumentResult<T> {
        let mut instance = util::lock(&self.instance);
        if instance.is_none() {
            // Its context was never entered.
            drop(instance);
            self.make(cx)?;
            instance = util::lock(&self.instance);
        }
        let Some(made) = instance.as_mut() else {
            return Err("another thread took it".into());
        };
        let answer = callback(made);
        drop(instance);
        Ok(self.heard(cx, answer)?)
    }

    /// Hands out what the instrument said, and doesn't let an error among it pass.
    #[inline]
    fn heard<T>(&self, cx: &PassContext, answer: Answer<T>) -> Result<T, CallbackError> {
        answer.or_else(|said| self.hand_out(cx, *said))
    }

    #[cold]
    fn hand_out<T>(
        &self,
        cx: &PassContext,
        Said {
            answer,
            diagnostics: mut said,
        }: Said<T>,
    ) -> Result<T, CallbackError> {
        let (name, origin) = (self.name(), self.plugin.origin());
        let mut failed = None;
        for diagnostic in &mut said {
            diagnostic.plugin = Some(self.plugin.name().to_owned());
            diagnostic.file = origin.path().map(|path| path.display().to_string());
            let note = format!("the instrument `{name}` of plugin {origin} says so");
            diagnostic.notes.push(note);
            if diagnostic.severity.is_failure() {
                failed.get_or_insert_with(|| diagnostic.message.clone());
            }
        }
        if !said.is_empty() {
            // At once: they are none of the pass that may be running.
            cx.renderer()(&said);
        }
        let answer = answer.map_err(CallbackError)?;
        match failed {
            None => Ok(answer),
            Some(first) => Err(CallbackError(Box::new(Failure {
                message: format!("it emitted error diagnostics; the first: {first}"),
                ..Failure::default()
            }))),
        }
    }
}

/// Outside of a run, a context is the thread's current one: within one, `callbacks` has it.
impl PassInstrument for PluginInstrument {
    fn name(&self) -> &str {
        &self.plugin.manifest().instruments[self.at].name
    }

    fn enter_pass_ctx(&self) -> InstrumentResult {
        self.enter(&PassContext::current())
    }

    fn exit_pass_ctx(&self) -> InstrumentResult {
        self.exit(&PassContext::current())
    }

    fn should_run(&self, module: &Module, info: &PassInfo) -> InstrumentResult<bool> {
        self.asked(&PassContext::current(), watched(module, info))
    }

    fn run_before_pass(&self, module: &Module, info: &PassInfo) -> InstrumentResult {
        self.before(&PassContext::current(), watched(module, info))
    }

    fn run_after_pass(&self, module: &Module, info: &PassInfo) -> InstrumentResult {
        self.after(&PassContext::current(), watched(module, info))
    }

    fn pass_failed(&self, module: &Module, info: &PassInfo, error: &PassError) {
        // Nobody is there to be told.
        let _ = self.failed(&PassContext::current(), watched(module, info), error);
    }

    fn report(&self) -> Option<String> {
        self.shown(&PassContext::current()).ok().flatten()
    }

    fn as_plugin(&self) -> Option<&PluginInstrument> {
        Some(self)
    }
}

fn watched<'a>(module: &'a Module, info: &'a PassInfo) -> Watched<'a> {
    Watched {
        module,
        info,
        provider: None,
    }
}

impl CallbackError {
    /// What it did, and where in its source.
    pub(crate) fn verb(&self) -> (&'static str, Option<&str>) {
        match self.0.panicked {
            true => ("panicked", self.0.panic_at.as_deref()),
            false => ("failed", None),
        }
    }
}

impl fmt::Display for CallbackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match (&self.0.function, &self.0.op) {
            (Some(function), Some(op)) => write!(f, " (@{function}, {op})"),
            (Some(function), None) => write!(f, " (@{function})"),
            (None, Some(op)) => write!(f, " ({op})"),
            (None, None) => Ok(()),
        }
    }
}

impl Error for CallbackError {}
