//! The vocabulary of scenarios: a trait that is implemented with passdock's public API, and by a small reference
//! implementation of TVM's behavior.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex};

use passdock::Severity;

/// The prefix of passes' names, which scenarios and logs omit: `t.transform.Leaf` is `Leaf`.
pub(crate) const NAMESPACE: &str = "t.transform.";

/// The result of an instrument's callback.
pub(crate) type TapResult = Result<(), Box<dyn Error + Send + Sync>>;

/// A pass infrastructure.
pub(crate) trait System: Clone + Send + Sync + 'static {
    type Module: Clone + Send + Sync;
    type Pass: Clone + Send + Sync;
    type Context: Clone + Send + Sync;
    /// A context on the stack.
    type Entered;
    type Error: Error + From<String> + Clone + Send + Sync;

    fn log(&self) -> &Log;

    /// Returns a module with two graph functions, `main` and `other`, and a prim function, `loop`.
    fn module(&self) -> Self::Module;
    /// Whether two modules are the same object.
    fn same(&self, a: &Self::Module, b: &Self::Module) -> bool;
    /// Whether two modules share a function.
    fn shares(&self, a: &Self::Module, b: &Self::Module, function: &str) -> bool;
    fn functions(&self, module: &Self::Module) -> Vec<String>;
    fn attr(&self, module: &Self::Module, function: &str, attr: &str) -> Option<i64>;
    /// Sets an attribute before any pass runs.
    fn with_attr(&self, module: Self::Module, function: &str, attr: &str, v: i64) -> Self::Module;

    fn pass(&self, spec: Spec<Self>) -> Result<Self::Pass, Self::Error>;
    fn register(&self, spec: Spec<Self>) -> Result<(), Self::Error>;
    /// Adds an alias of a registered pass.
    fn alias(&self, alias: &str, name: &str) -> Result<(), Self::Error>;
    fn get_pass(&self, name: &str) -> Result<Self::Pass, Self::Error>;
    /// Returns name, level and required passes.
    fn info(&self, pass: &Self::Pass) -> Info;
    fn shown(&self, pass: &Self::Pass) -> String;
    fn shown_info(&self, pass: &Self::Pass) -> String;
    /// Whether two passes have equal infos.
    fn same_info(&self, a: &Self::Pass, b: &Self::Pass) -> bool;
    /// Calls a pass under this thread's current context.
    fn call(&self, pass: &Self::Pass, module: Self::Module) -> Result<Self::Module, Self::Error>;

    fn context(&self, cx: Cx<Self>) -> Result<Self::Context, Self::Error>;
    fn current(&self) -> Self::Context;
    fn same_context(&self, a: &Self::Context, b: &Self::Context) -> bool;
    fn enter(&self, cx: &Self::Context) -> Result<Self::Entered, Self::Error>;
    fn exit(&self, entered: Self::Entered) -> Result<(), Self::Error>;
    /// Enters a context for a body, as Python's `with`.
    fn scope<T>(
        &self,
        cx: &Self::Context,
        body: impl FnOnce(&Self) -> Result<T, Self::Error>,
    ) -> Result<T, Self::Error>;
    fn level(&self, cx: &Self::Context) -> u32;
    fn shown_context(&self, cx: &Self::Context) -> String;
    /// Returns the names of the passes that a Sequential would run under a context, in order.
    fn resolve(&self, pass: &Self::Pass, cx: &Self::Context) -> Result<Vec<String>, Self::Error>;
    /// Registers `tir.UnrollLoop`, a struct, `tir.disable_vectorize`, a bool, and `tir.limit`, an int.
    fn register_options(&self) -> Done<Self>;
    /// Formats a context's value of an option, or that it isn't set.
    fn read(&self, cx: &Self::Context, key: &str) -> Result<String, Self::Error>;
    fn list_configs(&self) -> String;
    /// Emits a warning from inside a pass that was given this context.
    fn warn(&self, cx: &Self::Context, message: &'static str);
    /// Emits an error, and returns the error with which the pass has to end.
    fn emit_fatal(&self, cx: &Self::Context, message: &'static str) -> Self::Error;
    /// Returns the number of diagnostics in the context's diagnostic context, if it has one.
    fn diagnostics(&self, cx: &Self::Context) -> Option<usize>;
    fn instruments(&self, cx: &Self::Context) -> usize;
    fn override_instruments(&self, cx: &Self::Context, taps: Vec<Tap<Self>>) -> Done<Self>;
    /// Removes all instruments in the documented way.
    fn remove_instruments(&self, cx: &Self::Context) -> Done<Self>;

    /// Builds passes and calls them as one Sequential, in a new context.
    fn run(&self, cx: Cx<Self>, passes: impl IntoIterator<Item = Spec<Self>>) -> Done<Self> {
        self.call_in(cx, seq(passes)).map(drop)
    }

    /// Builds a pass and calls it in a new context.
    fn call_in(&self, cx: Cx<Self>, pass: Spec<Self>) -> Result<Self::Module, Self::Error> {
        let (cx, pass) = (self.context(cx)?, self.pass(pass)?);
        self.scope(&cx, |s| s.call(&pass, s.module()))
    }

    fn register_all(&self, specs: impl IntoIterator<Item = Spec<Self>>) -> Done<Self> {
        specs.into_iter().try_for_each(|spec| self.register(spec))
    }

    fn note(&self, event: impl Into<String>) {
        self.log().add(event);
    }

    /// Logs an error, so that the scenario continues.
    fn log_failure<T>(&self, result: Result<T, Self::Error>) {
        if let Err(error) = result {
            self.note(error.to_string());
        }
    }

    fn fault(&self, text: &str) -> Self::Error {
        text.to_owned().into()
    }
}

pub(crate) type Done<S> = Result<(), <S as System>::Error>;

/// A user-defined error type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mine(pub(crate) u32);

impl fmt::Display for Mine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mine {}", self.0)
    }
}

impl Error for Mine {}

/// A log of events, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, event: impl Into<String>) {
        let event = event.into().replace(NAMESPACE, "");
        self.0.lock().expect("the lock is not poisoned").push(event);
    }

    pub(crate) fn text(&self) -> String {
        self.0.lock().expect("the lock is not poisoned").join("\n")
    }
}

/// The static properties of a pass.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Info {
    pub(crate) name: String,
    pub(crate) opt_level: u32,
    pub(crate) required: Vec<String>,
}

/// A pass that isn't built yet.
pub(crate) struct Spec<S: System> {
    pub(crate) info: Info,
    pub(crate) body: Body<S>,
}

pub(crate) type Runs<S> = dyn Fn(
        &S,
        &<S as System>::Context,
        <S as System>::Module,
    ) -> Result<<S as System>::Module, <S as System>::Error>
    + Send
    + Sync;
pub(crate) type Edits = dyn Fn(&mut dyn EditModule) -> Result<(), String> + Send + Sync;
pub(crate) type Each = dyn Fn(&mut dyn EditFunction) -> Result<(), String> + Send + Sync;

/// The body of a pass. The plugin also has those without parameters.
pub(crate) enum Body<S: System> {
    Says,
    Changes,
    Fails,
    Visits,
    VisitsPrim,
    Marks,
    FailsOnOther,
    Emits {
        severity: Severity,
        fails: bool,
        prim: bool,
    },
    Runs(Arc<Runs<S>>),
    Edits(Arc<Edits>),
    Each {
        prim: bool,
        body: Arc<Each>,
    },
    Sequence {
        passes: Vec<Spec<S>>,
        disabled: Vec<String>,
    },
    Built(S::Pass),
}

/// The edits of a module pass.
pub(crate) trait EditModule {
    fn set(&mut self, function: &str, attr: &str, value: i64) -> Result<(), String>;
    fn add(&mut self, function: &str) -> Result<(), String>;
    fn remove(&mut self, function: &str) -> Result<(), String>;
}

/// The edits of a function pass.
pub(crate) trait EditFunction {
    fn name(&self) -> String;
    fn set(&mut self, attr: &str, value: i64) -> Result<(), String>;
    /// Returns an attribute of a function of the module, or an error if there is no such function.
    fn peek(&self, function: &str, attr: &str) -> Result<Option<i64>, String>;
}

fn spec<S: System>(name: &str, body: Body<S>) -> Spec<S> {
    Spec {
        info: Info {
            name: full(name),
            opt_level: 0,
            required: Vec::new(),
        },
        body,
    }
}

/// Returns the full name: `t.transform.Leaf` for `Leaf`.
pub(crate) fn full(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.contains(' ');
    match is_plain && !name.contains('.') {
        true => format!("{NAMESPACE}{name}"),
        false => name.to_owned(),
    }
}

/// Returns a pass that only logs that it ran.
pub(crate) fn pass<S: System>(name: &str) -> Spec<S> {
    spec(name, Body::Says)
}

/// Returns a pass that changes the module.
pub(crate) fn changes<S: System>() -> Spec<S> {
    spec("Changes", Body::Changes)
}

/// Returns a pass that changes the module and fails.
pub(crate) fn fails<S: System>() -> Spec<S> {
    spec("Fails", Body::Fails)
}

/// Returns a pass that emits a diagnostic and continues.
pub(crate) fn emits<S: System>(severity: Severity) -> Spec<S> {
    let name = match severity {
        Severity::Bug => "ReportsBug",
        Severity::Error => "Complains",
        _ => "Warns",
    };
    let (fails, prim) = (false, false);
    spec(
        name,
        Body::Emits {
            severity,
            fails,
            prim,
        },
    )
}

/// Returns a pass that emits a warning and fails.
pub(crate) fn warns_then_fails<S: System>() -> Spec<S> {
    let (severity, fails, prim) = (Severity::Warning, true, false);
    spec(
        "WarnsThenFails",
        Body::Emits {
            severity,
            fails,
            prim,
        },
    )
}

/// Returns a pass that emits a warning for each prim function.
pub(crate) fn warns_of_prim<S: System>() -> Spec<S> {
    let (severity, fails, prim) = (Severity::Warning, false, true);
    spec(
        "WarnsOfPrim",
        Body::Emits {
            severity,
            fails,
            prim,
        },
    )
}

/// Returns a function pass that logs the functions that it is called with.
pub(crate) fn visits<S: System>() -> Spec<S> {
    spec("Visits", Body::Visits)
}

/// Like [`visits`], for prim functions.
pub(crate) fn visits_prim<S: System>() -> Spec<S> {
    spec("VisitsPrim", Body::VisitsPrim)
}

/// Returns a function pass that changes each function.
pub(crate) fn marks<S: System>() -> Spec<S> {
    spec("Marks", Body::Marks)
}

/// Returns a function pass that changes each function, and fails on `other`.
pub(crate) fn fails_on_other<S: System>() -> Spec<S> {
    spec("FailsOnOther", Body::FailsOnOther)
}

/// Returns a pass with code of the test.
pub(crate) fn runs<S: System>(
    name: &str,
    body: impl Fn(&S, &S::Context, S::Module) -> Result<S::Module, S::Error> + Send + Sync + 'static,
) -> Spec<S> {
    spec(name, Body::Runs(Arc::new(body)))
}

/// Returns a module pass.
pub(crate) fn edits<S: System>(
    name: &str,
    body: impl Fn(&mut dyn EditModule) -> Result<(), String> + Send + Sync + 'static,
) -> Spec<S> {
    spec(name, Body::Edits(Arc::new(body)))
}

/// Returns a function pass.
pub(crate) fn each<S: System>(
    name: &str,
    body: impl Fn(&mut dyn EditFunction) -> Result<(), String> + Send + Sync + 'static,
) -> Spec<S> {
    let body = Arc::new(body);
    spec(name, Body::Each { prim: false, body })
}

/// Returns a prim function pass.
pub(crate) fn each_prim<S: System>(
    name: &str,
    body: impl Fn(&mut dyn EditFunction) -> Result<(), String> + Send + Sync + 'static,
) -> Spec<S> {
    let body = Arc::new(body);
    spec(name, Body::Each { prim: true, body })
}

/// Returns a Sequential.
pub(crate) fn seq<S: System>(passes: impl IntoIterator<Item = Spec<S>>) -> Spec<S> {
    let (passes, disabled) = (passes.into_iter().collect(), Vec::new());
    spec("sequential", Body::Sequence { passes, disabled })
}

/// Returns a pass that is already built.
pub(crate) fn spec_of<S: System>(pass: &S::Pass) -> Spec<S> {
    spec("", Body::Built(pass.clone()))
}

impl<S: System> Spec<S> {
    pub(crate) fn name(mut self, name: &str) -> Self {
        self.info.name = full(name);
        self
    }

    pub(crate) fn opt_level(mut self, level: u32) -> Self {
        self.info.opt_level = level;
        self
    }

    pub(crate) fn required<const N: usize>(mut self, names: [&str; N]) -> Self {
        self.info.required = names.map(full).into();
        self
    }

    /// Sets the disabled passes of a Sequential.
    pub(crate) fn disabled<const N: usize>(mut self, names: [&str; N]) -> Self {
        if let Body::Sequence { disabled, .. } = &mut self.body {
            *disabled = names.map(full).into();
        }
        self
    }
}

/// A context that isn't built yet.
pub(crate) struct Cx<S: System> {
    pub(crate) level: Option<u32>,
    pub(crate) required: Vec<String>,
    pub(crate) disabled: Vec<String>,
    pub(crate) taps: Vec<Tap<S>>,
    pub(crate) config: Vec<(String, toml::Value)>,
}

/// Returns a context of level 2.
pub(crate) fn cx<S: System>() -> Cx<S> {
    Cx {
        level: None,
        required: Vec::new(),
        disabled: Vec::new(),
        taps: Vec::new(),
        config: Vec::new(),
    }
}

impl<S: System> Cx<S> {
    pub(crate) fn level(mut self, level: u32) -> Self {
        self.level = Some(level);
        self
    }

    pub(crate) fn requires<const N: usize>(mut self, names: [&str; N]) -> Self {
        self.required = names.map(full).into();
        self
    }

    pub(crate) fn disables<const N: usize>(mut self, names: [&str; N]) -> Self {
        self.disabled = names.map(full).into();
        self
    }

    pub(crate) fn watch(mut self, tap: Tap<S>) -> Self {
        self.taps.push(tap);
        self
    }

    /// Sets a config option to a value in TOML.
    pub(crate) fn config(mut self, key: &str, value: &str) -> Self {
        let value = value.parse().expect("the test's own TOML");
        self.config.push((key.to_owned(), value));
        self
    }
}

type Act<S> = dyn Fn(&S) -> Done<S> + Send + Sync;

/// An instrument that logs its callbacks, and can fail, veto, or run code.
pub(crate) struct Tap<S: System> {
    pub(crate) name: String,
    fails: Option<&'static str>,
    throws: Option<(&'static str, Mine)>,
    vetoes: Option<&'static str>,
    act: Option<(&'static str, Arc<Act<S>>)>,
    quiet: bool,
    counts: bool,
    unwinds: bool,
}

impl<S: System> Clone for Tap<S> {
    fn clone(&self) -> Self {
        Tap {
            name: self.name.clone(),
            act: self.act.clone(),
            ..*self
        }
    }
}

/// Returns an instrument with this name.
pub(crate) fn tap<S: System>(name: &str) -> Tap<S> {
    Tap {
        name: name.to_owned(),
        fails: None,
        throws: None,
        vetoes: None,
        act: None,
        quiet: false,
        counts: false,
        unwinds: false,
    }
}

impl<S: System> Tap<S> {
    /// Makes it fail in a callback: `enter`, `exit`, `should_run`, `before`, `after`.
    pub(crate) fn fails_in(mut self, callback: &'static str) -> Self {
        self.fails = Some(callback);
        self
    }

    /// Makes it fail in a callback with a user-defined error.
    pub(crate) fn throws(mut self, callback: &'static str, error: Mine) -> Self {
        self.throws = Some((callback, error));
        self
    }

    /// Makes it veto a pass.
    pub(crate) fn vetoes(mut self, pass: &'static str) -> Self {
        self.vetoes = Some(pass);
        self
    }

    /// Makes it run code in a callback.
    pub(crate) fn does(
        mut self,
        callback: &'static str,
        act: impl Fn(&S) -> Done<S> + Send + Sync + 'static,
    ) -> Self {
        self.act = Some((callback, Arc::new(act)));
        self
    }

    /// Disables its log.
    pub(crate) fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// Makes it log the attribute `count` of the module in each callback.
    pub(crate) fn counts(mut self) -> Self {
        self.counts = true;
        self
    }

    /// Makes it also log failed passes.
    pub(crate) fn unwinds(mut self) -> Self {
        self.unwinds = true;
        self
    }

    pub(crate) fn agrees(&self, pass: &str) -> bool {
        self.vetoes.map(full).as_deref() != Some(pass)
    }

    /// Handles a callback. `about` has the pass and the module, except when a context is entered or exited.
    pub(crate) fn record(
        &self,
        s: &S,
        callback: &str,
        about: Option<(&str, &S::Module)>,
    ) -> TapResult {
        let pass = about.map(|(pass, _)| format!(" {pass}"));
        let count = about
            .filter(|_| self.counts)
            .map(|(_, module)| format!(", count {:?}", s.attr(module, "main", "count")));
        let speaks = match callback {
            "failed" => self.unwinds,
            _ => !self.quiet,
        };
        if speaks {
            let (pass, count) = (pass.unwrap_or_default(), count.unwrap_or_default());
            s.note(format!("{} {callback}{pass}{count}", self.name));
        }
        if let Some((_, act)) = self.act.as_ref().filter(|(on, _)| *on == callback) {
            act(s)?;
        }
        if let Some((_, error)) = self.throws.filter(|(on, _)| *on == callback) {
            return Err(Box::new(error));
        }
        match self.fails == Some(callback) {
            true => Err(format!("{} is broken", self.name).into()),
            false => Ok(()),
        }
    }
}
