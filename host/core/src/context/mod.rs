//! [`PassContext`]: the level, names, config, instruments and diagnostics that passes run under.
//!
//! A context is immutable once it is built, except for its instruments. [`PassContext::scope`] enters it. [`running`]
//! has the stack that [`PassContext::current`] reads.

mod builder;
mod cancellation;
mod device;
mod names;
pub(crate) mod pool;
mod record;
mod rules;
pub(crate) mod running;
mod scope;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub use builder::ContextBuilder;
pub use cancellation::CancellationToken;
pub use device::DeviceType;
use names::Met;
use passdock_diagnostic::Diagnostic;
use passdock_ir::{Function, Module};
use passdock_plugin_api::Options;
use pool::Pool;
pub(crate) use record::PassStart;
pub use record::{OnPass, PassRecord, PassRun, PassStatus, Recorder};
use rules::Rewritten;
pub(crate) use running::ContextFrame;
pub use running::{DiagnosticContext, Renderer, get_renderer, override_renderer};
pub use scope::Entered;
pub use settings::ContextSettings;

use crate::analyses::{self, FunctionAnalysis, Operators};
use crate::boundary::Endings;
use crate::config::{ConfigError, ConfigValue, GivenConfig, Schema, canonical_key, toml_text};
use crate::error::PassError;
use crate::instrument::{Frame, InstrumentRef, InstrumentReport, PassInstrument, calls};
use crate::pass::PassInfo;
use crate::registry::Registry;
use crate::verify::Verify;

/// The context that passes run under: the level, names, config, instruments and diagnostics. Clones share the context.
/// The context that a pass gets has a separate [`PassContext::diag_ctx`] for this pass.
///
/// ```
/// # extern crate passdock_core as passdock;
/// use passdock::{PassContext, Registry};
///
/// let registry = Registry::new();
/// registry.register_config_option::<i64>("demo.limit")?;
/// let cx = PassContext::builder()
///     .registry(&registry)
///     .opt_level(3)
///     .config("demo.limit", 8)
///     .build()?;
/// assert_eq!(PassContext::current().opt_level(), 2, "the thread's own");
/// let level = cx.scope(|cx| {
///     assert_eq!(cx.get_config::<i64>("demo.limit")?, Some(8));
///     Ok::<u32, passdock::PassError>(PassContext::current().opt_level())
/// })?;
/// assert_eq!(level, 3);
/// # Ok::<(), passdock::PassError>(())
/// ```
#[derive(Clone)]
pub struct PassContext(Arc<Inner>, Option<DiagnosticContext>);

/// The instruments of a context.
struct Instruments {
    list: Arc<[InstrumentRef]>,
    /// The number of times that the context was entered and not yet exited.
    entered: u32,
    /// A token that all active calls share while the context isn't entered.
    calls: Weak<()>,
}

impl Instruments {
    /// Creates the instruments of a context that isn't entered.
    fn new(list: Arc<[InstrumentRef]>) -> Instruments {
        Instruments {
            list,
            entered: 0,
            calls: Weak::new(),
        }
    }
}

struct Inner {
    settings: ContextSettings,
    /// The canonical spellings of the names in `required_pass`.
    required: BTreeSet<String>,
    disabled: BTreeSet<String>,
    met: Mutex<Met>,
    /// The rewrites since the start of the last call, if they are limited.
    rewritten: Mutex<Rewritten>,
    config: BTreeMap<String, ConfigValue>,
    /// The config, with only the fields that are set.
    given: GivenConfig,
    /// The value of `testing.immutable_module`.
    watches_input: bool,
    registry: Registry,
    instruments: Mutex<Instruments>,
    /// The `[[instruments]]` tables of the instruments that check the passes.
    checking_instruments: Vec<toml::Table>,
    /// Whether this is a thread's default context, which is entered as long as the thread lives.
    is_default: bool,
    pool: Option<Pool>,
    renderer: Option<Arc<Renderer>>,
    recorder: Option<Arc<Recorder>>,
    cancellation: CancellationToken,
    endings: Endings,
}

impl PassContext {
    /// Returns a builder of a context, with level 2 and otherwise empty settings.
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    /// Returns the innermost context that this thread entered, or the thread's default one.
    pub fn current() -> PassContext {
        running::current()
    }

    /// Whether runs in the context are cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancellation.0.load(Ordering::Relaxed)
    }

    /// Returns the failures of destructors of plugin-owned data: of instruments and cached analyses.
    ///
    /// [`PassContext::scope`] returns an error for failures before its end. So does a call of a pass outside of a
    /// scope; if several run at the same time, it is the last one to end. Later failures can be taken from the result.
    /// Failures that the caller doesn't take are emitted as diagnostics.
    pub fn endings(&self) -> Endings {
        self.0.endings.clone()
    }

    /// Returns the settings that the context was built with.
    pub fn settings(&self) -> &ContextSettings {
        &self.0.settings
    }

    /// Returns the opt level: passes of a higher level don't run.
    pub fn opt_level(&self) -> u32 {
        self.0.settings.opt_level
    }

    /// Returns the registry in which names are looked up.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// Returns the instruments of the context, in order.
    pub fn instruments(&self) -> Vec<Arc<dyn PassInstrument>> {
        self.instrument_list().to_vec()
    }

    /// Returns the instruments if this is the only reference to the context, and no thread changes them. For garbage
    /// collectors of embedding languages, which look for reference cycles.
    #[doc(hidden)]
    pub fn sole_instruments(&self) -> Option<Arc<[Arc<dyn PassInstrument>]>> {
        let is_sole = Arc::strong_count(&self.0) == 1;
        let instruments = self.0.instruments.try_lock().ok();
        instruments
            .filter(|_| is_sole)
            .map(|instruments| instruments.list.clone())
    }

    /// Whether both are the same context, not merely equal ones.
    pub fn is(&self, other: &PassContext) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the value of a config option, or `None` if this context doesn't set it.
    ///
    /// # Errors
    /// If the key isn't registered, or is registered with another type.
    pub fn get_config<T: Options>(&self, key: &str) -> Result<Option<T>, ConfigError> {
        let schema = self.typed_schema::<T>(key)?;
        let set = self.0.config.get(&schema.key);
        set.map(|value| schema.read(value)).transpose()
    }

    /// Returns a config value, or the registered default if this context doesn't set it.
    ///
    /// # Errors
    /// See [`PassContext::get_config`]; also if a field without a default isn't set.
    pub fn config_or_default<T: Options>(&self, key: &str) -> Result<T, ConfigError> {
        let schema = self.typed_schema::<T>(key)?;
        match self.0.config.get(&schema.key) {
            Some(value) => schema.read(value),
            None => schema.read(&schema.defaults()),
        }
    }

    /// Returns the schema of a config option, after checking that its type is `T`.
    fn typed_schema<T: Options>(&self, key: &str) -> Result<Schema, ConfigError> {
        let schema = self.0.registry.config_schema(key)?;
        schema.check_type::<T>()?;
        Ok(schema)
    }

    /// Returns the value of a config option without conversion, if the context sets it.
    pub fn config(&self, key: &str) -> Option<&ConfigValue> {
        self.0.config.get(&*canonical_key(key))
    }

    /// Runs `body` with this context as the current one, without entering it. Use it in a worker thread for a context
    /// that is entered on another thread. Its instruments aren't called.
    pub fn carry<T>(&self, body: impl FnOnce() -> T) -> T {
        let _pushed = running::pushed(self);
        body()
    }

    /// Returns the `[[instruments]]` tables of the instruments that check the passes: if one fails, the run fails.
    pub fn checking_instruments(&self) -> &[toml::Table] {
        &self.0.checking_instruments
    }

    /// Whether the host checks that passes don't change their input modules.
    pub(crate) fn watches_input(&self) -> bool {
        self.0.watches_input
    }

    /// Returns which functions are verified after each pass.
    pub fn verify(&self) -> Verify {
        self.0.settings.verify
    }

    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.0.recorder.as_deref()
    }

    /// Returns the config options that this context sets, with only the fields that are set.
    pub fn config_given(&self) -> &GivenConfig {
        &self.0.given
    }

    /// Returns the threads that function passes run on, or `None` for the calling thread only.
    pub(crate) fn pool(&self) -> Option<&rayon::ThreadPool> {
        let pool = match self.0.settings.jobs {
            0 => Pool::shared(),
            _ => self.0.pool.as_ref(),
        };
        let threads = pool?.threads()?;
        Some(threads).filter(|threads| threads.current_num_threads() > 1)
    }

    /// Returns the collected diagnostics of the running pass, or `None` outside of passes. Each pass that isn't a
    /// Sequential has a separate collection.
    pub fn diag_ctx(&self) -> Option<&DiagnosticContext> {
        self.1.as_ref()
    }

    /// Emits a diagnostic. It is shown when the running pass has returned, or immediately if no pass is running. An
    /// error makes the pass fail.
    pub fn emit(&self, diagnostic: Diagnostic) {
        match &self.1 {
            Some(collected) => collected.emit(diagnostic),
            None => self.renderer()(&[diagnostic]),
        }
    }

    /// Emits a diagnostic after which the pass can't continue: `return Err(cx.emit_fatal(diagnostic))`.
    #[must_use = "the pass goes on until it returns the error"]
    pub fn emit_fatal(&self, diagnostic: Diagnostic) -> PassError {
        self.emit(diagnostic);
        PassError::diagnostics()
    }

    /// Returns the renderer of diagnostics: the context's own, or the process-wide one.
    pub fn renderer(&self) -> Arc<Renderer> {
        self.0.renderer.clone().unwrap_or_else(get_renderer)
    }

    /// Returns the same context with an empty collection of diagnostics, for a pass that starts.
    pub(crate) fn for_pass(&self, name: &str) -> PassContext {
        let collected = DiagnosticContext::new(name, self.diag_ctx(), self.renderer());
        PassContext(self.0.clone(), Some(collected))
    }

    /// Returns the reason why a pass doesn't run: it is disabled, or its level is too high and it isn't required.
    /// `None` if it runs. `also_disabled` has the names that its Sequential disables.
    pub fn skip_reason(&self, info: &PassInfo, also_disabled: &BTreeSet<String>) -> Option<String> {
        let (name, limit) = (&info.name, self.0.settings.opt_level);
        self.meet(name);
        if self.is_disabled(name) {
            Some("disabled by the context".to_owned())
        } else if also_disabled.contains(name) {
            Some("disabled by its Sequential".to_owned())
        } else if info.opt_level > limit && !self.is_forced(name) {
            let level = info.opt_level;
            Some(format!(
                "its level {level} exceeds the context's opt_level {limit}"
            ))
        } else {
            None
        }
    }

    /// Whether `required_pass` contains a pass.
    pub fn is_forced(&self, name: &str) -> bool {
        self.0.required.contains(name)
    }

    /// Whether `disabled_pass` contains a pass.
    pub(crate) fn is_disabled(&self, name: &str) -> bool {
        self.0.disabled.contains(name)
    }

    /// Returns the reports of the instruments, or the errors of failed reports. Call it before the context is exited:
    /// some instruments discard their results then.
    pub fn instrument_reports(&self) -> Vec<Result<InstrumentReport, PassError>> {
        calls::reports(&self.instrument_list(), &ContextFrame::watching(self))
    }

    /// Returns an analysis of a function of a module, with the op definitions of this context's registry. Passes under
    /// this context get the same result.
    ///
    /// # Panics
    /// Under the same condition as [`analyses::get`].
    pub fn analysis<'f, A: FunctionAnalysis>(
        &self,
        module: &Module,
        function: &'f Function,
    ) -> &'f A {
        analyses::get(
            function,
            &Operators::new(&self.registry().op_defs(), module),
        )
    }

    /// Returns the frame of an instrument under this context, for code that calls instruments itself.
    pub fn frame(&self) -> impl Frame + '_ {
        ContextFrame::watching(self)
    }

    /// Prepares the instruments, which loads their plugins.
    pub(crate) fn prepare_instruments(&self) -> Result<(), PassError> {
        let frame = ContextFrame::watching(self);
        let list = self.instrument_list();
        list.iter()
            .try_for_each(|instrument| calls::prepare(&**instrument, &frame))
    }

    pub(crate) fn instrument_list(&self) -> Arc<[InstrumentRef]> {
        self.lock_instruments().list.clone()
    }

    fn lock_instruments(&self) -> MutexGuard<'_, Instruments> {
        let instruments = self.0.instruments.lock();
        instruments.unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for PassContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Pass context information:")?;
        writeln!(f, "\topt_level: {}", self.opt_level())?;
        let required = self.settings().required_pass.join(", ");
        writeln!(f, "\trequired passes: [{required}]")?;
        let disabled = self.settings().disabled_pass.join(", ");
        writeln!(f, "\tdisabled passes: [{disabled}]")?;
        let instruments = self.instrument_list();
        let names: Vec<&str> = instruments.iter().map(|i| i.name()).collect();
        writeln!(f, "\tinstruments: [{}]", names.join(", "))?;
        let value = |(key, value): (&String, &ConfigValue)| {
            let fields: Vec<String> = value
                .iter()
                .map(|(name, value)| match name.as_str() {
                    "" => toml_text(value),
                    name => format!("{name} = {}", toml_text(value)),
                })
                .collect();
            format!("{key}: {}", fields.join(", "))
        };
        let config: Vec<String> = self.0.config.iter().map(value).collect();
        write!(f, "\tconfig: {{{}}}", config.join("; "))
    }
}

impl fmt::Debug for PassContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PassContext(opt_level={})", self.0.settings.opt_level)
    }
}
