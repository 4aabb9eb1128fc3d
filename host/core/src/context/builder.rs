//! The builder of contexts. It checks all settings, so that every context is valid.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use passdock_diagnostic::{Diagnostic, Severity};

use super::pool::Pool;
use super::{
    CancellationToken, ContextSettings, Inner, Instruments, PassContext, Recorder, Renderer,
    get_renderer,
};
use crate::boundary::Endings;
use crate::config::{ConfigError, IMMUTABLE_MODULE, IntoConfig, InvalidPart};
use crate::error::PassError;
use crate::instrument::{InstrumentRef, PassInstrument};
use crate::pass::check_name;
use crate::registry::Registry;
use crate::verify::Verify;

/// A builder of a [`PassContext`].
///
/// # Examples
/// ```
/// # extern crate passdock_core as passdock;
/// use passdock::PassContext;
///
/// let cx = PassContext::builder().opt_level(3).build()?;
/// assert_eq!(cx.opt_level(), 3);
/// assert_eq!(PassContext::current().opt_level(), 2, "the context isn't entered yet");
/// let level = cx.scope(|_| Ok::<_, passdock::PassError>(PassContext::current().opt_level()))?;
/// assert_eq!(level, 3);
/// # Ok::<(), passdock::PassError>(())
/// ```
#[derive(Default)]
pub struct ContextBuilder {
    settings: ContextSettings,
    registry: Option<Registry>,
    instruments: Vec<InstrumentRef>,
    checking_instruments: Vec<toml::Table>,
    renderer: Option<Arc<Renderer>>,
    recorder: Option<Arc<Recorder>>,
    cancellation: CancellationToken,
    /// Whether the context becomes a thread's default one.
    is_default: bool,
}

impl ContextBuilder {
    /// Sets all settings at once, replacing earlier ones.
    pub fn settings(mut self, settings: ContextSettings) -> ContextBuilder {
        self.settings = settings;
        self
    }

    /// Sets the opt level: passes of a higher level don't run. The default is 2.
    pub fn opt_level(mut self, level: u32) -> ContextBuilder {
        self.settings.opt_level = level;
        self
    }

    /// Adds passes that run at any level and that instruments can't veto.
    pub fn required_pass<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> ContextBuilder {
        let names = names.into_iter().map(Into::into);
        self.settings.required_pass.extend(names);
        self
    }

    /// Adds passes that don't run.
    pub fn disabled_pass<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> ContextBuilder {
        let names = names.into_iter().map(Into::into);
        self.settings.disabled_pass.extend(names);
        self
    }

    /// Adds rules that aren't applied, by name.
    pub fn disabled_rule<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> ContextBuilder {
        let names = names.into_iter().map(Into::into);
        self.settings.disabled_rule.extend(names);
        self
    }

    /// Disables all rules after a number of rewrites in a call of a pass or of a Sequential.
    pub fn rewrite_limit(mut self, rewrites: u64) -> ContextBuilder {
        self.settings.rewrite_limit = Some(rewrites);
        self
    }

    /// Sets a config option. A later value of the same key replaces an earlier one.
    pub fn config<K>(mut self, key: impl Into<String>, value: impl IntoConfig<K>) -> Self {
        self.settings.config.insert(key.into(), value.into_config());
        self
    }

    /// Sets the registry in which names are looked up. The default is the process-wide one.
    pub fn registry(mut self, registry: &Registry) -> ContextBuilder {
        self.registry = Some(registry.clone());
        self
    }

    /// Adds an instrument that the context owns.
    pub fn instrument(mut self, instrument: impl PassInstrument + 'static) -> ContextBuilder {
        self.instruments.push(Arc::new(instrument));
        self
    }

    /// Adds an instrument that the caller shares, for example to read its results.
    pub fn shared_instrument(mut self, instrument: InstrumentRef) -> ContextBuilder {
        self.instruments.push(instrument);
        self
    }

    /// Sets which functions are verified after each pass.
    pub fn verify(mut self, verify: Verify) -> ContextBuilder {
        self.settings.verify = verify;
        self
    }

    /// Sets the number of threads that function passes run on. The default is 0: one for each core.
    pub fn jobs(mut self, jobs: usize) -> ContextBuilder {
        self.settings.jobs = jobs;
        self
    }

    /// Sets the mildest severity of diagnostics that are shown. The default is [`Severity::Help`]: all but details for
    /// the authors of passes.
    pub fn shown(mut self, shown: Severity) -> ContextBuilder {
        self.settings.shown = shown;
        self
    }

    /// Sets the token that cancels runs in the context.
    pub fn cancellation(mut self, token: CancellationToken) -> ContextBuilder {
        self.cancellation = token;
        self
    }

    /// Sets the renderer that shows diagnostics. The default is the process-wide one.
    pub fn renderer(
        mut self,
        renderer: impl Fn(&[Diagnostic]) + Send + Sync + 'static,
    ) -> ContextBuilder {
        self.renderer = Some(Arc::new(renderer));
        self
    }

    /// Sets a handler for diagnostics instead of a renderer. It is called with each one, in order.
    pub fn on_diagnostic(
        self,
        handler: impl Fn(Diagnostic) + Send + Sync + 'static,
    ) -> ContextBuilder {
        self.renderer(move |diagnostics| diagnostics.iter().cloned().for_each(&handler))
    }

    /// Sets the recorder for what each pass did.
    pub fn recorder(mut self, recorder: Arc<Recorder>) -> ContextBuilder {
        self.recorder = Some(recorder);
        self
    }

    /// Sets whether calls resume a failed run. Then the passes that the first pass requires count as done.
    pub fn resumes(mut self, resumes: bool) -> ContextBuilder {
        self.settings.resumes = resumes;
        self
    }

    /// Adds the `[[instruments]]` table of an instrument that checks the passes.
    pub fn checking_instrument(mut self, table: toml::Table) -> ContextBuilder {
        self.checking_instruments.push(table);
        self
    }

    /// Builds the context.
    ///
    /// # Errors
    /// If a setting is invalid: a pass name, or a config key or value. Also if the system can't start the threads.
    pub fn build(self) -> Result<PassContext, PassError> {
        let registry = self.registry.unwrap_or_else(|| Registry::global().clone());
        let settings = self.settings;
        let ContextSettings {
            required_pass,
            disabled_pass,
            config: values,
            jobs,
            // The run reads the others from the settings.
            ..
        } = &settings;
        let names = required_pass.iter().chain(disabled_pass);
        names.into_iter().try_for_each(|name| check_name(name))?;
        let (mut config, mut given) = (BTreeMap::new(), BTreeMap::new());
        for (key, value) in values {
            let schema = registry.config_schema(key)?;
            if config.contains_key(&schema.key) {
                let message = format!("`{key}` is an alias of `{}`, which is also set", schema.key);
                return Err(ConfigError::new(InvalidPart::Key, key, None, message).into());
            }
            given.insert(schema.key.clone(), schema.accept_part(value)?);
            config.insert(schema.key.clone(), schema.accept(value)?);
        }
        let canonical = |names: &[String]| -> BTreeSet<String> {
            names.iter().map(|name| registry.canonical(name)).collect()
        };
        let (mut required, mut disabled) = (canonical(required_pass), canonical(disabled_pass));
        let both: Vec<String> = required.intersection(&disabled).cloned().collect();
        // The name of an unregistered pass may be the short name of a registered one.
        required.extend(required_pass.iter().cloned());
        disabled.extend(disabled_pass.iter().cloned());
        let pool = match *jobs {
            0 | 1 => None,
            jobs => Some(Pool::new(jobs)?),
        };
        let renderer = self.renderer.clone();
        let endings = Endings::new(move |diagnostics| {
            renderer.clone().unwrap_or_else(get_renderer)(diagnostics)
        });
        let inner = Arc::new(Inner {
            settings,
            required,
            disabled,
            met: Mutex::default(),
            rewritten: Mutex::default(),
            watches_input: config
                .get(IMMUTABLE_MODULE)
                .is_some_and(|value| value.get("") == Some(&toml::Value::Boolean(true))),
            config,
            given,
            registry,
            instruments: Mutex::new(Instruments::new(self.instruments.into())),
            checking_instruments: self.checking_instruments,
            is_default: self.is_default,
            pool,
            renderer: self.renderer,
            recorder: self.recorder,
            cancellation: self.cancellation,
            endings,
        });
        let context = PassContext(inner, None);
        for name in both {
            let message = format!("pass `{name}` is both required and disabled; disabling it");
            let code = "required-and-disabled";
            context.emit(Diagnostic::new(Severity::Warning, code, message));
        }
        Ok(context)
    }
}

impl PassContext {
    /// Creates the default context of a thread, which is current if the thread entered none.
    pub(super) fn thread_default() -> PassContext {
        let builder = ContextBuilder {
            is_default: true,
            ..ContextBuilder::default()
        };
        let built = builder.build();
        built.unwrap_or_else(|_| unreachable!("default settings are valid"))
    }
}
