//! A reference implementation of TVM's pass infrastructure, including its bugs as far as rules describe them.
//!
//! With it, the tests check that TVM breaks a rule: the test of such a rule also runs here, and its log has to differ.
//! For rules that TVM keeps, the logs have to be equal. Where TVM's process crashes, the reference implementation
//! returns an error with the code `crash`.

mod config;
mod module;
mod speaks;
mod timing;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use passdock::Severity;

use crate::system::{Body, EditFunction, Info, Log, NAMESPACE, System, Tap};
use module::{One, Whole};

/// The depth of nested calls at which the stack overflows. TVM's overflows at some ten thousand.
const STACK: u32 = 1000;

pub(crate) use timing::Profile;

thread_local! {
    static CONTEXTS: RefCell<Vec<Context>> = const { RefCell::new(Vec::new()) };
    static DEFAULT: OnceCell<Context> = const { OnceCell::new() };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

#[derive(Clone)]
pub(crate) struct Tvm(Arc<World>);

struct World {
    log: Log,
    passes: Mutex<BTreeMap<String, Pass>>,
    options: Mutex<config::Options>,
}

pub(crate) type Pass = Arc<Node>;

pub(crate) struct Node {
    info: Info,
    work: Work,
}

enum Work {
    Leaf(Body<Tvm>),
    /// A child may be `None`.
    Sequence(Vec<Option<Pass>>, Vec<String>),
}

pub(crate) type Context = Arc<ContextNode>;

#[derive(Default)]
pub(crate) struct ContextNode {
    opt_level: u32,
    required: Vec<String>,
    disabled: Vec<String>,
    taps: Mutex<Vec<Tap<Tvm>>>,
    config: config::Values,
    exiting: AtomicBool,
    diagnostics: Mutex<Option<Diagnostics>>,
}

/// A diagnostic context: a pass and its diagnostics.
type Diagnostics = Arc<Mutex<Vec<(Severity, &'static str, &'static str)>>>;

/// A module: functions, in order.
pub(crate) type Module = Arc<Vec<Arc<Function>>>;

#[derive(Clone)]
pub(crate) struct Function {
    name: String,
    prim: bool,
    attrs: BTreeMap<String, i64>,
}

/// An error that TVM throws.
#[derive(Clone, Debug)]
pub(crate) struct Thrown {
    code: &'static str,
    message: String,
}

pub(crate) fn thrown(code: &'static str, message: impl Into<String>) -> Thrown {
    let message = message.into();
    Thrown { code, message }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("the lock is not poisoned")
}

impl Tvm {
    pub(crate) fn new(log: &Log) -> Tvm {
        Tvm(Arc::new(World {
            log: log.clone(),
            passes: Mutex::default(),
            options: Mutex::default(),
        }))
    }

    /// `Sequential([…])`, where a child may be `None`.
    pub(crate) fn sequential(&self, passes: Vec<Option<Pass>>) -> Pass {
        let info = Info {
            name: "sequential".to_owned(),
            opt_level: 0,
            required: Vec::new(),
        };
        let work = Work::Sequence(passes, Vec::new());
        Arc::new(Node { info, work })
    }

    /// `Pass::operator()`.
    fn run(&self, pass: &Pass, module: Module, cx: &Context) -> Result<Module, Thrown> {
        let depth = DEPTH.get();
        if depth >= STACK {
            return Err(thrown("crash", "the stack overflows"));
        }
        DEPTH.set(depth + 1);
        let after = self.run_watched(pass, module, cx);
        DEPTH.set(depth);
        after
    }

    fn run_watched(&self, pass: &Pass, module: Module, cx: &Context) -> Result<Module, Thrown> {
        let name = pass.info.name.as_str();
        let is_required = cx.required.iter().any(|required| required == name);
        let mut should_run = true;
        if !is_required {
            for tap in cx.taps() {
                self.call_tap(&tap, "should_run", Some((name, &module)))?;
                should_run &= tap.agrees(name);
            }
        }
        if !should_run {
            return Ok(module);
        }
        for tap in cx.taps() {
            self.call_tap(&tap, "before", Some((name, &module)))?;
        }
        let after = match &pass.work {
            Work::Sequence(passes, disabled) => self.sequence(passes, disabled, module, cx)?,
            Work::Leaf(body) => self.leaf(name, body, module, cx)?,
        };
        for tap in cx.taps() {
            self.call_tap(&tap, "after", Some((name, &after)))?;
        }
        Ok(after)
    }

    /// `SequentialNode::operator()`.
    fn sequence(
        &self,
        passes: &[Option<Pass>],
        disabled: &[String],
        mut module: Module,
        cx: &Context,
    ) -> Result<Module, Thrown> {
        for pass in passes {
            let Some(pass) = pass else {
                let message = "Found undefined pass for optimization.";
                return Err(thrown("undefined-pass", message));
            };
            if !cx.enables(&pass.info) || disabled.contains(&pass.info.name) {
                continue;
            }
            for name in &pass.info.required {
                module = self.run(&self.get_pass(name)?, module, cx)?;
            }
            module = self.run(pass, module, cx)?;
        }
        Ok(module)
    }

    fn leaf(
        &self,
        name: &str,
        body: &Body<Tvm>,
        module: Module,
        cx: &Context,
    ) -> Result<Module, Thrown> {
        use Body::{Each, Emits, VisitsPrim};
        let prim = matches!(
            body,
            VisitsPrim | Each { prim: true, .. } | Emits { prim: true, .. }
        );
        if prim {
            return self.body(name, body, module, cx);
        }
        // Without an outer context, the previous one is the pass's own.
        let own = Diagnostics::default();
        let before = lock(&cx.diagnostics).replace(own.clone());
        let after = self.body(name, body, module, cx)?;
        self.render(&own, name)?;
        *lock(&cx.diagnostics) = before.or(Some(own));
        Ok(after)
    }

    /// `DiagnosticContext::Render`.
    fn render(&self, diagnostics: &Diagnostics, name: &str) -> Result<(), Thrown> {
        for (severity, code, message) in lock(diagnostics).iter() {
            let severity_name = format!("{severity:?}").to_lowercase();
            match *code {
                "event" => self.note(format!("{message} {name}")),
                _ => self.note(format!("{severity_name}[{code}] in {name}: {message}")),
            }
        }
        if lock(diagnostics)
            .iter()
            .any(|diagnostic| diagnostic.0 == Severity::Error)
        {
            let message = "one or more error diagnostics were emitted, please check diagnostic \
                           render for output.";
            return Err(thrown("error-diagnostics", message));
        }
        Ok(())
    }

    fn body(
        &self,
        name: &str,
        body: &Body<Tvm>,
        mut module: Module,
        cx: &Context,
    ) -> Result<Module, Thrown> {
        let short = name.replace(NAMESPACE, "");
        match body {
            Body::Says => self.note(format!("run {short}")),
            Body::Changes | Body::Fails => {
                self.note(format!("change {short}"));
                let count = self.attr(&module, "main", "count").unwrap_or(0);
                module = self.with_attr(module, "main", "count", count + 1);
                if let Body::Fails = body {
                    return Err(self.fault("it is broken"));
                }
            }
            Body::Visits | Body::VisitsPrim => {
                let prim = matches!(body, Body::VisitsPrim);
                return self.each(module, cx, prim, &|f| {
                    self.note(format!("visit {short} @{}", f.name()));
                    Ok(())
                });
            }
            Body::Marks | Body::FailsOnOther => {
                return self.each(module, cx, false, &|f| {
                    self.note(format!("mark {short} @{}", f.name()));
                    f.set("mark", 1)?;
                    match (body, f.name().as_str()) {
                        (Body::FailsOnOther, "other") => Err("it is broken".to_owned()),
                        _ => Ok(()),
                    }
                });
            }
            Body::Emits { severity, .. } => {
                let (code, message) = match severity {
                    Severity::Bug => ("bug", "This can't be."),
                    Severity::Error => ("wrong", "This is wrong."),
                    _ => ("odd", "This is odd."),
                };
                let none = || thrown("pass-failed", "'NoneType' object has no attribute 'emit'");
                let diagnostics = lock(&cx.diagnostics).clone().ok_or_else(none)?;
                lock(&diagnostics).push((*severity, code, message));
                match body {
                    Body::Emits { fails: true, .. } => return Err(self.fault("it is broken")),
                    _ => lock(&diagnostics).push((Severity::Note, "event", "went on")),
                }
            }
            Body::Runs(body) => return body(self, cx, module),
            Body::Edits(body) => body(&mut Whole(&mut module))?,
            Body::Each { prim, body } => return self.each(module, cx, *prim, &**body),
            Body::Sequence { .. } | Body::Built(_) => unreachable!("made elsewhere"),
        }
        Ok(module)
    }

    /// A function pass.
    fn each(
        &self,
        module: Module,
        cx: &Context,
        prim: bool,
        body: &dyn Fn(&mut dyn EditFunction) -> Result<(), String>,
    ) -> Result<Module, Thrown> {
        let mut created = Vec::new();
        for (at, function) in module.iter().enumerate() {
            let external = ["Compiler", "Extern"].iter();
            let is_external = external
                .clone()
                .any(|attr| function.attrs.contains_key(*attr));
            if function.prim != prim || is_external {
                created.push(function.clone());
                continue;
            }
            // Meanwhile, a prim function is moved out of its module.
            let mut seen = module.as_ref().clone();
            if prim {
                seen.remove(at);
            }
            let mut own = function.as_ref().clone();
            body(&mut One(&mut own, &seen))?;
            created.push(Arc::new(own));
        }
        let created = Arc::new(created);
        match prim {
            true => Ok(created),
            false => self.run(&self.infer_type(), created, cx),
        }
    }

    /// The pass that runs implicitly after each function pass.
    fn infer_type(&self) -> Pass {
        let same = |_: &Tvm, _: &Context, module: Module| Ok(module);
        let info = Info {
            name: "InferType".to_owned(),
            opt_level: 0,
            required: Vec::new(),
        };
        let work = Work::Leaf(Body::Runs(Arc::new(same)));
        Arc::new(Node { info, work })
    }

    fn call_tap(
        &self,
        tap: &Tap<Tvm>,
        callback: &str,
        about: Option<(&str, &Module)>,
    ) -> Result<(), Thrown> {
        let recorded = tap.record(self, callback, about);
        recorded.map_err(|error| match error.downcast::<Thrown>() {
            Ok(thrown) => *thrown,
            Err(error) => thrown("instrument", error.to_string()),
        })
    }

    /// `InstrumentEnterPassContext`.
    fn call_enter(&self, cx: &Context) -> Result<(), Thrown> {
        let taps = cx.taps();
        for (at, tap) in taps.iter().enumerate() {
            let Err(error) = self.call_tap(tap, "enter", None) else {
                continue;
            };
            for earlier in taps[..at].iter().rev() {
                if self.call_tap(earlier, "exit", None).is_err() {
                    return Err(thrown("crash", "aborted: an exception in a destructor"));
                }
            }
            lock(&cx.taps).clear();
            return Err(error);
        }
        Ok(())
    }

    /// `InstrumentExitPassContext`.
    fn call_exit(&self, cx: &Context) -> Result<(), Thrown> {
        cx.exiting.store(true, Ordering::Relaxed);
        let result = cx
            .taps()
            .iter()
            .try_for_each(|tap| self.call_tap(tap, "exit", None));
        cx.exiting.store(false, Ordering::Relaxed);
        if result.is_err() {
            lock(&cx.taps).clear();
        }
        result
    }
}

impl Tvm {
    fn log_disabled(&self) {
        self.note("warning[instrument]: Disable pass instrumentation.");
    }
}

impl ContextNode {
    fn taps(&self) -> Vec<Tap<Tvm>> {
        lock(&self.taps).clone()
    }

    /// `PassContext::PassEnabled`.
    fn enables(&self, info: &Info) -> bool {
        let names = |list: &[String]| list.contains(&info.name);
        !names(&self.disabled) && (names(&self.required) || self.opt_level >= info.opt_level)
    }
}

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.code, self.message)
    }
}

impl Error for Thrown {}

impl From<String> for Thrown {
    fn from(message: String) -> Thrown {
        thrown("pass-failed", message)
    }
}

/// `PassInfo(opt_level, name, required)`.
pub(crate) fn pass_info(
    name: &str,
    opt_level: i64,
    required: Option<toml::Value>,
) -> Result<String, Thrown> {
    match required {
        Some(toml::Value::Array(_)) => Ok(format!("PassInfo({opt_level}, {name})")),
        Some(toml::Value::String(_)) => {
            let message = "Required is expected to be the type of list/tuple.";
            Err(thrown("TypeError", message))
        }
        _ => Err(thrown(
            "TypeError",
            "Expect required to be Array but got None",
        )),
    }
}

/// `PassInfo` with a level of any type.
pub(crate) fn pass_info_of_level(level: &toml::Value) -> Result<String, Thrown> {
    let level = level.as_integer().or(level.as_bool().map(i64::from));
    let level = level.ok_or_else(|| thrown("TypeError", "Expect opt_level to be int"))?;
    pass_info("x", level, Some(toml::Value::Array(Vec::new())))
}
