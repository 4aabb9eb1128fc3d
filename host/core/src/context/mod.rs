//! [`PassContext`]: the level, names, config, instruments and diagnostics that passes run under.
//!
//! A context doesn't change once it is built, except for its instruments. [`PassContext::scope`]
//! enters it; the stack behind [`PassContext::current`] is in [`running`].

mod builder;
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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub use builder::ContextBuilder;
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

/// The context that passes run under: the level, names, config, instruments and diagnostics. A
/// clone is the same context. The one that a pass is given has the pass's own
/// [`PassContext::diag_ctx`].
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
    /// The number of times that the context was entered and not yet left.
    entered: u32,
    /// What each call holds that is under way while the context isn't entered.
    calls: Weak<()>,
}

impl Instruments {
    /// The instruments of a context that isn't entered.
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
    /// What rules did since the last call began, if there is a limit.
    rewritten: Mutex<Rewritten>,
    config: BTreeMap<String, ConfigValue>,
    /// The config with only the fields that were given.
    given: GivenConfig,
    /// The value of `testing.immutable_module`.
    watches_input: bool,
    registry: Registry,
    instruments: Mutex<Instruments>,
    /// The `[[instruments]]` tables of the instruments that judge the passes.
    judges: Vec<toml::Table>,
    /// Whether this is the thread's default context, which is entered as long as the thread lives.
    is_default: bool,
    pool: Option<Pool>,
    renderer: Option<Arc<Renderer>>,
    recorder: Option<Arc<Recorder>>,
    endings: Endings,
}

impl PassContext {
    /// A builder of a context, with level 2 and otherwise empty settings.
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    /// The innermost context that this thread entered, or the thread's default one.
    pub fn current() -> PassContext {
        running::current()
    }

    /// Returns the failures of freeing what plugins own under this context: instruments, when it is dropped, and
    /// cached analyses. [`PassContext::scope`] fails with those until it ends; so does the call of a pass outside
    /// of a scope, and of calls at the same time the last one to end. Later failures can be taken from the result.
    /// Those that the caller doesn't take are shown as diagnostics.
    pub fn endings(&self) -> Endings {
        self.0.endings.clone()
    }

    /// The settings that the context was built with.
    pub fn settings(&self) -> &ContextSettings {
        &self.0.settings
    }

    /// The opt level: passes of a higher one aren't run.
    pub fn opt_level(&self) -> u32 {
        self.0.settings.opt_level
    }

    /// The passes that run at any level and that instruments can't veto.
    pub fn required_pass(&self) -> &[String] {
        &self.0.settings.required_pass
    }

    /// The passes that don't run.
    pub fn disabled_pass(&self) -> &[String] {
        &self.0.settings.disabled_pass
    }

    /// The registry in which names are looked up.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// The instruments of the context, in order.
    pub fn instruments(&self) -> Vec<Arc<dyn PassInstrument>> {
        self.instrument_list().to_vec()
    }

    /// The instruments, if nothing else holds the context, and no thread changes them: for programs of a language
    /// whose collector looks for cycles of objects.
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

    /// The value of a config option, or `None` if this context doesn't set it.
    ///
    /// # Errors
    /// If the key isn't registered, or registered with another type.
    pub fn get_config<T: Options>(&self, key: &str) -> Result<Option<T>, ConfigError> {
        let schema = self.typed_schema::<T>(key)?;
        let set = self.0.config.get(&schema.key);
        set.map(|value| schema.read(value)).transpose()
    }

    /// A config value, or the default that the key is registered with if this context doesn't set it.
    ///
    /// # Errors
    /// As [`PassContext::get_config`], and if a field without a default isn't set.
    pub fn config_or_default<T: Options>(&self, key: &str) -> Result<T, ConfigError> {
        let schema = self.typed_schema::<T>(key)?;
        match self.0.config.get(&schema.key) {
            Some(value) => schema.read(value),
            None => schema.read(&schema.defaults()),
        }
    }

    /// What a config option holds, which has to be a `T`.
    fn typed_schema<T: Options>(&self, key: &str) -> Result<Schema, ConfigError> {
        let schema = self.0.registry.config_schema(key)?;
        schema.check_type::<T>()?;
        Ok(schema)
    }

    /// The value of a config option as the context holds it, if the context sets it.
    pub fn config(&self, key: &str) -> Option<&ConfigValue> {
        self.0.config.get(&*canonical_key(key))
    }

    /// Runs `body` with this context as the current one, without entering it, to carry a context
    /// that is entered on another thread to a worker. Its instruments aren't called.
    pub fn carry<T>(&self, body: impl FnOnce() -> T) -> T {
        let _pushed = running::pushed(self);
        body()
    }

    /// The `[[instruments]]` tables of the instruments that judge the passes: a failure of theirs
    /// is one of the run.
    pub fn judges(&self) -> &[toml::Table] {
        &self.0.judges
    }

    /// Whether passes are watched for changes to the module that they were given.
    pub(crate) fn watches_input(&self) -> bool {
        self.0.watches_input
    }

    /// The part of the IR that is verified after each pass.
    pub fn verify(&self) -> Verify {
        self.0.settings.verify
    }

    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.0.recorder.as_deref()
    }

    /// The config options that this context sets, with only the fields that were given.
    pub fn config_given(&self) -> &GivenConfig {
        &self.0.given
    }

    /// The threads that function passes run on; `None`: the calling thread only.
    pub(crate) fn pool(&self) -> Option<&rayon::ThreadPool> {
        let pool = match self.0.settings.jobs {
            0 => Pool::shared(),
            _ => self.0.pool.as_ref(),
        };
        let threads = pool?.threads()?;
        Some(threads).filter(|threads| threads.current_num_threads() > 1)
    }

    /// The collected diagnostics of the running pass; `None` outside of passes. Each pass that
    /// isn't a Sequential has its own, and a pass that runs others gets its own back afterwards.
    pub fn diag_ctx(&self) -> Option<&DiagnosticContext> {
        self.1.as_ref()
    }

    /// Emits a diagnostic: shown when the running pass has returned, or at once outside of passes.
    /// An error makes the pass count as failed.
    pub fn emit(&self, diagnostic: Diagnostic) {
        match &self.1 {
            Some(collected) => collected.emit(diagnostic),
            None => self.renderer()(&[diagnostic]),
        }
    }

    /// Emits a diagnostic after which the pass can't go on: `return
    /// Err(cx.emit_fatal(diagnostic))`.
    #[must_use = "the pass goes on until it returns the error"]
    pub fn emit_fatal(&self, diagnostic: Diagnostic) -> PassError {
        self.emit(diagnostic);
        PassError::diagnostics()
    }

    /// The renderer of diagnostics: the context's own, or the process-wide one.
    pub fn renderer(&self) -> Arc<Renderer> {
        self.0.renderer.clone().unwrap_or_else(get_renderer)
    }

    /// The same context with an empty collection of diagnostics, for a pass that starts.
    pub(crate) fn for_pass(&self, name: &str) -> PassContext {
        let collected = DiagnosticContext::new(name, self.diag_ctx(), self.renderer());
        PassContext(self.0.clone(), Some(collected))
    }

    /// Returns the reason why a pass doesn't run: it is disabled, or its level is too high and it isn't required.
    /// `None`: it runs. `also_disabled` is a Sequential's own list.
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
                "its level {level} is above the context's opt_level {limit}"
            ))
        } else {
            None
        }
    }

    /// Whether `required_pass` names a pass.
    pub fn is_forced(&self, name: &str) -> bool {
        self.0.required.contains(name)
    }

    /// Whether `disabled_pass` names a pass.
    pub(crate) fn is_disabled(&self, name: &str) -> bool {
        self.0.disabled.contains(name)
    }

    /// The reports of the instruments, and the errors of those that fail over it. Some instruments
    /// forget their results when the context is left, so ask before.
    pub fn instrument_reports(&self) -> Vec<Result<InstrumentReport, PassError>> {
        calls::reports(&self.instrument_list(), &ContextFrame::watching(self))
    }

    /// An analysis of a function of a module, with the op definitions of this context's registry: the
    /// same result that its passes get.
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

    /// The frame of an instrument under this context, for code that calls instruments itself.
    pub fn frame(&self) -> impl Frame + '_ {
        ContextFrame::watching(self)
    }

    /// Prepares the instruments: loads their plugins.
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
        let required = self.required_pass().join(", ");
        writeln!(f, "\trequired passes: [{required}]")?;
        let disabled = self.disabled_pass().join(", ");
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
