//! passdock, through its public API.
//!
//! A scenario runs in several ways, with the same log. Its passes are closures of the program, passes of a plugin,
//! linked in or loaded, or a mixture of both.

mod edits;
mod watches;

use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use passdock::{
    ContextBuilder, Diagnostic, ErrorKind, InstrumentRef, LoadOptions, Module, PassContext,
    PassError, PassInfo, PassRef, Registry, Sequential, Severity, create_function_pass,
    create_host_pass, create_module_pass, create_prim_func_pass,
};
use passdock_abi::OpId;
use passdock_plugin_api as sdk;
use passdock_test_plugins::conformance::{EVENT, PLUGIN};

use crate::system::{Body, Cx, Done, Info, Log, NAMESPACE, Spec, System, Tap};
use edits::{InFunction, SetIn, int_attr};
use watches::Watches;

const TEXT: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2]
    return %0
  }

  fn @other(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Neg(%x) : f32[2]
    return %0
  }

  prim @loop(%a: buffer<f32[8]>) {
    return
  }
}
"#;

/// The origin of a scenario's passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Way {
    /// Closures of the program.
    Host,
    /// A plugin that is linked in.
    Linked,
    /// The same plugin as a shared library.
    Loaded,
    /// Registered passes come from the library, the others are closures.
    HostAsksPlugin,
    /// Registered passes are closures, the others come from the library.
    PluginAsksHost,
}

impl Way {
    pub(crate) const PLUGIN: [Way; 4] = [
        Way::Linked,
        Way::Loaded,
        Way::HostAsksPlugin,
        Way::PluginAsksHost,
    ];
}

#[derive(Clone)]
pub(crate) struct Passdock {
    log: Log,
    way: Way,
    /// The registry of the scenario's passes.
    pub(crate) registry: Registry,
    /// A registry with the plugin only.
    plugin: Registry,
}

impl Passdock {
    pub(crate) fn new(log: &Log, way: Way) -> Passdock {
        let plugin = Registry::new();
        match way {
            Way::Host => {}
            Way::Linked => plugin.load_static(PLUGIN).expect("a plugin"),
            _ => plugin
                .load_plugin(&library(), &LoadOptions::default())
                .expect("cargo has built it next to this test"),
        }
        let registry = match way {
            Way::PluginAsksHost => Registry::new(),
            _ => plugin.clone(),
        };
        Passdock {
            log: log.clone(),
            way,
            registry,
            plugin,
        }
    }

    /// Returns the plugin's pass, which has to match the scenario; `None` if the plugin can't have such a pass.
    fn of_plugin(&self, spec: &Spec<Passdock>) -> Option<PassRef> {
        use Body::{Built, Each, Edits, Runs, Sequence};
        if matches!(
            spec.body,
            Runs(_) | Edits(_) | Each { .. } | Sequence { .. } | Built(_)
        ) {
            return None;
        }
        let name = &spec.info.name;
        let pass = self.plugin.get_pass(name);
        let pass = pass.unwrap_or_else(|_| panic!("the plugin of the suite lacks {name}"));
        assert_eq!(self.info(&pass), spec.info, "in the plugin of the suite");
        Some(pass)
    }

    fn of_host(&self, spec: Spec<Passdock>) -> PassRef {
        let name = spec.info.name.clone();
        let info = PassInfo::new(spec.info.name)
            .opt_level(spec.info.opt_level)
            .required(spec.info.required);
        let log = self.log.clone();
        let short = name.replace(NAMESPACE, "");
        match spec.body {
            Body::Says => create_host_pass(info, move |module, _| {
                log.add(format!("run {short}"));
                Ok(module.clone())
            }),
            body @ (Body::Changes | Body::Fails) => create_module_pass(info, move |m, _| {
                log.add(format!("change {short}"));
                let main = m.edit("main")?;
                let count = int_attr(main, "count").unwrap_or(0);
                main.set_function_attr("count", count + 1)?;
                match body {
                    Body::Fails => Err("it is broken".into()),
                    _ => Ok(()),
                }
            }),
            Body::Visits => create_function_pass(info, move |f, _| {
                log.add(format!("visit {short} @{}", f.function_name()));
                Ok(())
            }),
            Body::VisitsPrim => create_prim_func_pass(info, move |f, _| {
                log.add(format!("visit {short} @{}", f.function_name()));
                Ok(())
            }),
            body @ (Body::Marks | Body::FailsOnOther) => create_function_pass(info, move |f, _| {
                log.add(format!("mark {short} @{}", f.function_name()));
                f.set_function_attr("mark", 1)?;
                match (&body, f.function_name()) {
                    (Body::FailsOnOther, "other") => Err("it is broken".into()),
                    _ => Ok(()),
                }
            }),
            Body::Emits {
                severity,
                fails,
                prim,
            } => {
                let emit = move |cx: &sdk::PassContext| {
                    let (severity, message, code) = match severity {
                        Severity::Bug => (sdk::Severity::BUG, "This can't be.", "bug"),
                        Severity::Error => (sdk::Severity::ERROR, "This is wrong.", "wrong"),
                        _ => (sdk::Severity::WARNING, "This is odd.", "odd"),
                    };
                    cx.emit(&sdk::Diagnostic::new(severity, message).code(code));
                    if fails {
                        return Err("it is broken".into());
                    }
                    cx.emit(&sdk::Diagnostic::note("went on").code(EVENT));
                    Ok(())
                };
                match prim {
                    true => create_prim_func_pass(info, move |_, cx| emit(cx)),
                    false => create_module_pass(info, move |_, cx| emit(cx)),
                }
            }
            Body::Runs(body) => {
                let s = self.clone();
                create_host_pass(info, move |module, cx| {
                    body(&s, cx, module.clone()).map_err(|error| error.0)
                })
            }
            Body::Edits(body) => create_module_pass(info, move |m, _| Ok(body(m)?)),
            Body::Each { prim, body } => {
                let body = move |f: &mut sdk::Function, cx: &sdk::PassContext| {
                    Ok(body(&mut InFunction(f, cx))?)
                };
                match prim {
                    true => create_prim_func_pass(info, body),
                    false => create_function_pass(info, body),
                }
            }
            Body::Sequence { .. } | Body::Built(_) => unreachable!("made elsewhere"),
        }
    }

    /// Returns a context with the scenario's registry, which logs diagnostics.
    pub(crate) fn builder(&self) -> ContextBuilder {
        let log = self.log.clone();
        PassContext::builder()
            .registry(&self.registry)
            .jobs(1)
            .on_diagnostic(move |diagnostic| Passdock::record(&log, &diagnostic))
    }

    /// Logs a diagnostic. Notes with the code of an event are logged as events.
    fn record(log: &Log, diagnostic: &Diagnostic) {
        let pass = diagnostic.pass.as_deref().unwrap_or_default();
        let function = diagnostic.function.as_ref().map(|f| format!(" @{f}"));
        let place = format!("{pass}{}", function.unwrap_or_default());
        if diagnostic.code == EVENT {
            return log.add(format!("{} {place}", diagnostic.message));
        }
        let severity = format!("{:?}", diagnostic.severity).to_lowercase();
        let place = match place.is_empty() {
            true => place,
            false => format!(" in {place}"),
        };
        log.add(format!(
            "{severity}[{}]{place}: {}",
            diagnostic.code, diagnostic.message
        ));
    }
}

passdock::sdk::options! {
    /// How loops are unrolled.
    struct UnrollLoop {
        /// Loops of up to this many steps are unrolled.
        #[range(0..=4096)]
        auto_max_step: i64 = 0,
        /// Whether loops marked `unroll` are written out.
        explicit_unroll: bool = true,
    }
}

/// Returns the path of the plugin's library.
pub(crate) fn library() -> PathBuf {
    passdock_tests::library("passdock_conformance")
}

impl System for Passdock {
    type Module = Module;
    type Pass = PassRef;
    type Context = PassContext;
    type Entered = passdock::Entered;
    type Error = Failure;

    fn log(&self) -> &Log {
        &self.log
    }

    fn module(&self) -> Module {
        passdock::model_file::parse_text("test.ir", TEXT).expect("the test's own text")
    }

    fn same(&self, a: &Module, b: &Module) -> bool {
        a.is_same(b)
    }

    fn shares(&self, a: &Module, b: &Module, function: &str) -> bool {
        match (a.function_named(function), b.function_named(function)) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    fn functions(&self, module: &Module) -> Vec<String> {
        let names = module.names();
        names
            .map(|name| module.symbols().text(name).to_owned())
            .collect()
    }

    fn attr(&self, module: &Module, function: &str, attr: &str) -> Option<i64> {
        let name = module.symbols().find(attr)?;
        let attr = module.function_named(function)?.attr(OpId::NONE, name)?;
        Some(attr.bits as i64)
    }

    fn with_attr(&self, module: Module, function: &str, attr: &str, value: i64) -> Module {
        let (function, attr) = (function.to_owned(), attr.to_owned());
        let set = create_module_pass(PassInfo::new("set"), move |m, _| {
            m.set_in(&function, &attr, value)
        });
        set.call(module).expect("an edit")
    }

    fn pass(&self, spec: Spec<Self>) -> Result<PassRef, Failure> {
        match (spec.body, self.way) {
            (Body::Built(pass), _) => Ok(pass),
            (Body::Sequence { passes, disabled }, _) => {
                let passes = passes.into_iter().map(|spec| self.pass(spec));
                let passes: Vec<PassRef> = passes.collect::<Result<_, _>>()?;
                let sequential = Sequential::new(passes)
                    .name(spec.info.name)
                    .opt_level(spec.info.opt_level)
                    .required(spec.info.required)
                    .disabled(disabled);
                Ok(sequential.into_pass())
            }
            (body, way) => {
                let spec = Spec { body, ..spec };
                let result = match way {
                    Way::Host | Way::HostAsksPlugin => None,
                    _ => self.of_plugin(&spec),
                };
                Ok(result.unwrap_or_else(|| self.of_host(spec)))
            }
        }
    }

    fn register(&self, spec: Spec<Self>) -> Done<Self> {
        if let Body::Sequence { .. } = spec.body {
            return Ok(self.registry.register(self.pass(spec)?)?);
        }
        let known = match self.way {
            Way::Host | Way::PluginAsksHost => None,
            _ => self.of_plugin(&spec),
        };
        match known {
            Some(_) => Ok(()),
            None => Ok(self.registry.register(self.of_host(spec))?),
        }
    }

    fn alias(&self, alias: &str, name: &str) -> Done<Self> {
        Ok(self.registry.register_alias(alias, name)?)
    }

    fn get_pass(&self, name: &str) -> Result<PassRef, Failure> {
        Ok(self.registry.get_pass(name)?)
    }

    fn info(&self, pass: &PassRef) -> Info {
        let info = pass.info();
        Info {
            name: info.name.clone(),
            opt_level: info.opt_level,
            required: info.required.clone(),
        }
    }

    fn shown(&self, pass: &PassRef) -> String {
        format!("{pass:?}")
    }

    fn shown_info(&self, pass: &PassRef) -> String {
        pass.info().to_string()
    }

    fn same_info(&self, a: &PassRef, b: &PassRef) -> bool {
        let set = HashSet::from([a.info(), b.info()]);
        (set.len() == 1) && a.info() == b.info()
    }

    fn call(&self, pass: &PassRef, module: Module) -> Result<Module, Failure> {
        Ok(pass.call(module)?)
    }

    fn context(&self, cx: Cx<Self>) -> Result<PassContext, Failure> {
        let mut builder = self.builder();
        builder = builder.required_pass(cx.required);
        builder = builder.disabled_pass(cx.disabled);
        if let Some(level) = cx.level {
            builder = builder.opt_level(level);
        }
        for tap in cx.taps {
            builder = builder.shared_instrument(self.instrument(tap));
        }
        for (key, value) in cx.config {
            builder = builder.config(key, value);
        }
        Ok(builder.build()?)
    }

    fn current(&self) -> PassContext {
        PassContext::current()
    }

    fn same_context(&self, a: &PassContext, b: &PassContext) -> bool {
        a.is(b)
    }

    fn enter(&self, cx: &PassContext) -> Result<passdock::Entered, Failure> {
        Ok(cx.enter()?)
    }

    fn exit(&self, mut entered: passdock::Entered) -> Done<Self> {
        Ok(entered.exit()?)
    }

    fn scope<T>(
        &self,
        cx: &PassContext,
        body: impl FnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        Ok(cx.scope(|_| body(self).map_err(|error| error.0))?)
    }

    fn level(&self, cx: &PassContext) -> u32 {
        cx.opt_level()
    }

    fn shown_context(&self, cx: &PassContext) -> String {
        cx.to_string()
    }

    fn resolve(&self, pass: &PassRef, cx: &PassContext) -> Result<Vec<String>, Failure> {
        let sequential = pass.as_sequential().expect("only a Sequential is asked");
        let order = sequential.resolve_dependency(cx)?;
        Ok(order.iter().map(|pass| pass.info().name.clone()).collect())
    }

    fn register_options(&self) -> Done<Self> {
        let registry = &self.registry;
        let registered = registry
            .register_config_option::<UnrollLoop>("tir.UnrollLoop")
            .and_then(|()| registry.register_config_option::<bool>("tir.disable_vectorize"))
            .and_then(|()| registry.register_config_option::<i64>("tir.limit"));
        Ok(registered.map_err(PassError::from)?)
    }

    fn read(&self, cx: &PassContext, key: &str) -> Result<String, Failure> {
        let shown = match key {
            "tir.UnrollLoop" => cx
                .get_config::<UnrollLoop>(key)
                .map(|value| value.map(|u| format!("{}, {}", u.auto_max_step, u.explicit_unroll))),
            "tir.disable_vectorize" => cx.get_config::<bool>(key).map(|v| v.map(|v| v.to_string())),
            _ => cx
                .get_config::<i64>(key)
                .map(|value| value.map(|v| v.to_string())),
        };
        let shown = shown.map_err(PassError::from)?;
        Ok(shown.unwrap_or_else(|| "not set".to_owned()))
    }

    fn list_configs(&self) -> String {
        let listed = self.registry.list_configs();
        let fields = listed.iter().flat_map(|info| {
            info.schema.fields.iter().map(|f| {
                let (key, default) = (&info.schema.key, &f.default);
                format!("{key} {:?} {:?} = {default}: {}", f.name, f.ty, f.doc)
            })
        });
        fields.collect::<Vec<_>>().join("\n")
    }

    fn warn(&self, cx: &PassContext, message: &'static str) {
        cx.emit(Diagnostic::new(Severity::Warning, "odd", message));
    }

    fn emit_fatal(&self, cx: &PassContext, message: &'static str) -> Failure {
        Failure(cx.emit_fatal(Diagnostic::new(Severity::Error, "wrong", message)))
    }

    fn diagnostics(&self, cx: &PassContext) -> Option<usize> {
        Some(cx.diag_ctx()?.diagnostics().len())
    }

    fn instruments(&self, cx: &PassContext) -> usize {
        cx.instruments().len()
    }

    fn override_instruments(&self, cx: &PassContext, taps: Vec<Tap<Self>>) -> Done<Self> {
        let taps = taps.into_iter().map(|tap| self.instrument(tap));
        Ok(cx.override_instruments(taps.collect())?)
    }

    fn remove_instruments(&self, cx: &PassContext) -> Done<Self> {
        self.override_instruments(cx, Vec::new())
    }
}

impl Passdock {
    fn instrument(&self, tap: Tap<Passdock>) -> InstrumentRef {
        let s = self.clone();
        Arc::new(Watches { s, tap })
    }
}

/// An error, printed as in a log: code, location, message, help and notes.
#[derive(Clone, Debug)]
pub(crate) struct Failure(pub(crate) PassError);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = &self.0;
        write!(f, "error[{}]", error.kind.code())?;
        if let Some(pass) = &error.pass {
            write!(f, " in {pass}")?;
        }
        if let Some(function) = &error.function {
            write!(f, " @{function}")?;
        }
        write!(f, ": {}", error.message)?;
        if let Some(help) = &error.help {
            write!(f, " {help}")?;
        }
        error
            .notes
            .iter()
            .try_for_each(|note| write!(f, " ({note})"))
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl From<PassError> for Failure {
    fn from(error: PassError) -> Failure {
        Failure(error)
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Failure {
        Failure(PassError::new(ErrorKind::Failed, text))
    }
}
