//! A double of TVM's pass infrastructure: what the rules say that TVM does, its mistakes included.
//!
//! It is there so that a rule which TVM breaks can be seen to break: its test runs here too, and
//! has to fail. For rules that TVM keeps it has to pass. Where TVM's process dies, the double
//! answers an error of the code `crash`.

mod config;
mod timing;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use passdock::Severity;

use crate::system::{
    Body, Cx, Done, EditFunction, EditModule, Info, Log, NAMESPACE, Spec, System, Tap,
};

/// Calls within calls before the stack is full. TVM's ends at some ten thousands.
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

/// A diagnostic context: its pass, and what it was told.
type Diagnostics = Arc<Mutex<Vec<(Severity, &'static str, &'static str)>>>;

/// A module is its functions, in order.
pub(crate) type Module = Arc<Vec<Arc<Function>>>;

#[derive(Clone)]
pub(crate) struct Function {
    name: String,
    prim: bool,
    attrs: BTreeMap<String, i64>,
}

/// What TVM throws.
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
    mutex.lock().expect("nobody panicked")
}

impl Tvm {
    pub(crate) fn new(log: &Log) -> Tvm {
        Tvm(Arc::new(World {
            log: log.clone(),
            passes: Mutex::default(),
            options: Mutex::default(),
        }))
    }

    /// `Sequential([…])`, where a child may be None.
    pub(crate) fn sequential(&self, passes: Vec<Option<Pass>>) -> Pass {
        let info = Info {
            name: "sequential".to_owned(),
            opt_level: 0,
            required: Vec::new(),
        };
        let work = Work::Sequence(passes, Vec::new());
        Arc::new(Node { info, work })
    }

    /// `SequentialNode::ResolveDependency`.
    pub(crate) fn resolve_dependency(&self, _: &Pass) -> Result<Vec<String>, Thrown> {
        Err(thrown("not-implemented", "not resolved yet"))
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
                self.tell(&tap, "should_run", Some((name, &module)))?;
                should_run &= tap.agrees(name);
            }
        }
        if !should_run {
            return Ok(module);
        }
        for tap in cx.taps() {
            self.tell(&tap, "before", Some((name, &module)))?;
        }
        let after = match &pass.work {
            Work::Sequence(passes, disabled) => self.sequence(passes, disabled, module, cx)?,
            Work::Leaf(body) => self.leaf(name, body, module, cx)?,
        };
        for tap in cx.taps() {
            self.tell(&tap, "after", Some((name, &after)))?;
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
        // Without an outer one, "the one before" is the pass's own.
        let own = Diagnostics::default();
        let before = lock(&cx.diagnostics).replace(own.clone());
        let after = self.body(name, body, module, cx)?;
        for (severity, code, message) in lock(&own).iter() {
            let severity_name = format!("{severity:?}").to_lowercase();
            match *code {
                "event" => self.say(format!("{message} {name}")),
                _ => self.say(format!("{severity_name}[{code}] in {name}: {message}")),
            }
        }
        if lock(&own).iter().any(|said| said.0 == Severity::Error) {
            let message = "one or more error diagnostics were emitted, please check diagnostic \
                           render for output.";
            return Err(thrown("error-diagnostics", message));
        }
        *lock(&cx.diagnostics) = before.or(Some(own));
        Ok(after)
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
            Body::Says => self.say(format!("run {short}")),
            Body::Changes | Body::Fails => {
                self.say(format!("change {short}"));
                let count = self.attr(&module, "main", "count").unwrap_or(0);
                module = self.with_attr(module, "main", "count", count + 1);
                if let Body::Fails = body {
                    return Err(self.fault("it is broken"));
                }
            }
            Body::Visits | Body::VisitsPrim => {
                let prim = matches!(body, Body::VisitsPrim);
                return self.each(module, cx, prim, &|f| {
                    self.say(format!("visit {short} @{}", f.name()));
                    Ok(())
                });
            }
            Body::Marks | Body::FailsOnOther => {
                return self.each(module, cx, false, &|f| {
                    self.say(format!("mark {short} @{}", f.name()));
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
            Body::Sequence { .. } | Body::Made(_) => unreachable!("made elsewhere"),
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
        let mut made = Vec::new();
        for (at, function) in module.iter().enumerate() {
            let external = ["Compiler", "Extern"].iter();
            let is_external = external
                .clone()
                .any(|attr| function.attrs.contains_key(*attr));
            if function.prim != prim || is_external {
                made.push(function.clone());
                continue;
            }
            // A prim function is moved out of its module meanwhile.
            let mut seen = module.as_ref().clone();
            if prim {
                seen.remove(at);
            }
            let mut own = function.as_ref().clone();
            body(&mut One(&mut own, &seen))?;
            made.push(Arc::new(own));
        }
        let made = Arc::new(made);
        match prim {
            true => Ok(made),
            false => self.run(&self.infer_type(), made, cx),
        }
    }

    /// The pass that runs after each function pass, without being asked.
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

    fn tell(
        &self,
        tap: &Tap<Tvm>,
        callback: &str,
        about: Option<(&str, &Module)>,
    ) -> Result<(), Thrown> {
        let heard = tap.hear(self, callback, about);
        heard.map_err(|error| match error.downcast::<Thrown>() {
            Ok(thrown) => *thrown,
            Err(error) => thrown("instrument", error.to_string()),
        })
    }

    /// `InstrumentEnterPassContext`.
    fn tell_enter(&self, cx: &Context) -> Result<(), Thrown> {
        let taps = cx.taps();
        for (at, tap) in taps.iter().enumerate() {
            let Err(error) = self.tell(tap, "enter", None) else {
                continue;
            };
            for earlier in taps[..at].iter().rev() {
                if self.tell(earlier, "exit", None).is_err() {
                    return Err(thrown("crash", "aborted: an exception in a destructor"));
                }
            }
            lock(&cx.taps).clear();
            return Err(error);
        }
        Ok(())
    }

    /// `InstrumentExitPassContext`.
    fn tell_exit(&self, cx: &Context) -> Result<(), Thrown> {
        cx.exiting.store(true, Ordering::Relaxed);
        let told = cx
            .taps()
            .iter()
            .try_for_each(|tap| self.tell(tap, "exit", None));
        cx.exiting.store(false, Ordering::Relaxed);
        if told.is_err() {
            lock(&cx.taps).clear();
        }
        told
    }
}

impl Tvm {
    fn say_disabled(&self) {
        self.say("warning[instrument]: Disable pass instrumentation.");
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

impl System for Tvm {
    type Module = Module;
    type Pass = Pass;
    type Context = Context;
    type Entered = Context;
    type Error = Thrown;

    fn log(&self) -> &Log {
        &self.0.log
    }

    fn module(&self) -> Module {
        let functions = [("main", false), ("other", false), ("loop", true)];
        let made = functions.map(|(name, prim)| {
            Arc::new(Function {
                name: name.to_owned(),
                prim,
                attrs: BTreeMap::new(),
            })
        });
        Arc::new(made.into())
    }

    fn same(&self, a: &Module, b: &Module) -> bool {
        Arc::ptr_eq(a, b)
    }

    fn shares(&self, a: &Module, b: &Module, function: &str) -> bool {
        let find = |module: &Module| module.iter().find(|f| f.name == function).cloned();
        matches!((find(a), find(b)), (Some(a), Some(b)) if Arc::ptr_eq(&a, &b))
    }

    fn functions(&self, module: &Module) -> Vec<String> {
        module.iter().map(|f| f.name.clone()).collect()
    }

    fn attr(&self, module: &Module, function: &str, attr: &str) -> Option<i64> {
        let function = module.iter().find(|f| f.name == function)?;
        function.attrs.get(attr).copied()
    }

    fn with_attr(&self, mut module: Module, function: &str, attr: &str, value: i64) -> Module {
        let set = Whole(&mut module).set(function, attr, value);
        set.expect("the test's own function");
        module
    }

    fn pass(&self, spec: Spec<Self>) -> Result<Pass, Thrown> {
        let work = match spec.body {
            Body::Made(pass) => return Ok(pass),
            Body::Sequence { passes, disabled } => {
                let passes = passes.into_iter().map(|spec| self.pass(spec).map(Some));
                Work::Sequence(passes.collect::<Result<_, _>>()?, disabled)
            }
            body => Work::Leaf(body),
        };
        let info = spec.info;
        Ok(Arc::new(Node { info, work }))
    }

    fn register(&self, spec: Spec<Self>) -> Done<Self> {
        let pass = self.pass(spec)?;
        let name = pass.info.name.clone();
        let mut passes = lock(&self.0.passes);
        if passes.contains_key(&name) {
            let message = format!("Global PackedFunc {name} is already registered");
            return Err(thrown("duplicate-pass", message));
        }
        passes.insert(name, pass);
        Ok(())
    }

    /// There are only the spellings of `get_pass`.
    fn alias(&self, _: &str, _: &str) -> Done<Self> {
        Ok(())
    }

    /// `GetPass`.
    fn get_pass(&self, name: &str) -> Result<Pass, Thrown> {
        let passes = lock(&self.0.passes);
        let found = match name.contains("transform.") {
            true => passes.get(name),
            false => {
                let spelled = |prefix: &str| passes.get(&format!("{prefix}{name}"));
                spelled("transform.").or_else(|| spelled("relay._transform."))
            }
        };
        let message = || {
            thrown(
                "unknown-pass",
                format!("Cannot use {name} to create the pass"),
            )
        };
        found.cloned().ok_or_else(message)
    }

    fn info(&self, pass: &Pass) -> Info {
        pass.info.clone()
    }

    fn shown(&self, pass: &Pass) -> String {
        let Info {
            name, opt_level, ..
        } = &pass.info;
        match &pass.work {
            Work::Leaf(_) => {
                format!("Run Module pass: {name} at the optimization level {opt_level}")
            }
            Work::Sequence(passes, _) => {
                let names = passes
                    .iter()
                    .flatten()
                    .map(|pass| format!("{} ", pass.info.name));
                let names: String = names.collect();
                format!(
                    "Run Sequential pass: {name} at the optimization level {opt_level}. The passes \
                     will be executed are: [{names}]"
                )
            }
        }
    }

    fn shown_info(&self, pass: &Pass) -> String {
        let Info {
            name,
            opt_level,
            required,
        } = &pass.info;
        let required: String = required.iter().map(|name| format!("{name}, ")).collect();
        format!(
            "The meta data of the pass - pass name: {name}, opt_level: {opt_level}, required \
             passes: [{}]",
            required.trim_end_matches(", ")
        )
    }

    /// Infos are compared by identity.
    fn same_info(&self, a: &Pass, b: &Pass) -> bool {
        Arc::ptr_eq(a, b)
    }

    fn call(&self, pass: &Pass, module: Module) -> Result<Module, Thrown> {
        self.run(pass, module, &self.current())
    }

    fn context(&self, cx: Cx<Self>) -> Result<Context, Thrown> {
        let config = config::legalize(&lock(&self.0.options), cx.config)?;
        Ok(Arc::new(ContextNode {
            config,
            opt_level: cx.level.unwrap_or(2),
            required: cx.required,
            disabled: cx.disabled,
            taps: Mutex::new(cx.taps),
            ..ContextNode::default()
        }))
    }

    fn current(&self) -> Context {
        let top = CONTEXTS.with_borrow(|stack| stack.last().cloned());
        let level_2 = || {
            Arc::new(ContextNode {
                opt_level: 2,
                ..ContextNode::default()
            })
        };
        top.unwrap_or_else(|| DEFAULT.with(|cell| cell.get_or_init(level_2).clone()))
    }

    fn same_context(&self, a: &Context, b: &Context) -> bool {
        Arc::ptr_eq(a, b)
    }

    fn enter(&self, cx: &Context) -> Result<Context, Thrown> {
        self.tell_enter(cx).inspect_err(|_| self.say_disabled())?;
        CONTEXTS.with_borrow_mut(|stack| stack.push(cx.clone()));
        Ok(cx.clone())
    }

    fn exit(&self, entered: Context) -> Done<Self> {
        CONTEXTS.with_borrow_mut(|stack| match stack.last() {
            Some(top) if Arc::ptr_eq(top, &entered) => {
                stack.pop();
                Ok(())
            }
            _ => Err(thrown(
                "context",
                "Check failed: (entry->context_stack.top() == *this)",
            )),
        })?;
        self.tell_exit(&entered)
            .inspect_err(|_| self.say_disabled())
    }

    fn scope<T>(
        &self,
        cx: &Context,
        body: impl FnOnce(&Self) -> Result<T, Thrown>,
    ) -> Result<T, Thrown> {
        let entered = self.enter(cx)?;
        let result = body(self);
        // An error of the exit takes the place of the body's.
        self.exit(entered)?;
        result
    }

    fn level(&self, cx: &Context) -> u32 {
        cx.opt_level
    }

    fn shown_context(&self, cx: &Context) -> String {
        let taps: Vec<String> = cx.taps().into_iter().map(|tap| tap.name).collect();
        format!(
            "Pass context information:\n\topt_level: {}\n\trequired passes: [{}]\n\tdisabled \
             passes: [{}]\n\tinstruments: [{}]\n\tconfig: {{}}",
            cx.opt_level,
            cx.required.join(", "),
            cx.disabled.join(", "),
            taps.join(", ")
        )
    }

    fn register_options(&self) -> Done<Self> {
        let mut options = lock(&self.0.options);
        if options.contains_key("tir.limit") {
            return Err(thrown(
                "config",
                "PassConfig tir.UnrollLoop is already registered",
            ));
        }
        *options = config::options();
        Ok(())
    }

    fn read(&self, cx: &Context, key: &str) -> Result<String, Thrown> {
        config::read(&cx.config, key)
    }

    fn list_configs(&self) -> String {
        config::list(&lock(&self.0.options))
    }

    fn instruments(&self, cx: &Context) -> usize {
        cx.taps().len()
    }

    fn override_instruments(&self, cx: &Context, taps: Vec<Tap<Self>>) -> Done<Self> {
        if cx.exiting.load(Ordering::Relaxed) {
            return Err(thrown(
                "crash",
                "the list is freed while it is gone through",
            ));
        }
        self.tell_exit(cx)?;
        *lock(&cx.taps) = taps;
        self.tell_enter(cx)
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

/// A module that a module pass has.
struct Whole<'m>(&'m mut Module);

impl EditModule for Whole<'_> {
    fn set(&mut self, function: &str, attr: &str, value: i64) -> Result<(), String> {
        let mut functions = Arc::make_mut(self.0).iter_mut();
        let function = functions
            .find(|f| f.name == function)
            .ok_or("no such function")?;
        Arc::make_mut(function).attrs.insert(attr.to_owned(), value);
        Ok(())
    }

    fn add(&mut self, function: &str) -> Result<(), String> {
        Arc::make_mut(self.0).push(Arc::new(Function {
            name: function.to_owned(),
            prim: false,
            attrs: BTreeMap::new(),
        }));
        Ok(())
    }

    fn remove(&mut self, function: &str) -> Result<(), String> {
        Arc::make_mut(self.0).retain(|f| f.name != function);
        Ok(())
    }
}

/// A function that a function pass has, and what it sees of the module.
struct One<'f>(&'f mut Function, &'f [Arc<Function>]);

impl EditFunction for One<'_> {
    fn name(&self) -> String {
        self.0.name.clone()
    }

    fn set(&mut self, attr: &str, value: i64) -> Result<(), String> {
        self.0.attrs.insert(attr.to_owned(), value);
        Ok(())
    }

    fn peek(&self, function: &str, attr: &str) -> Result<Option<i64>, String> {
        let known = self.1.iter().find(|f| f.name == function);
        let known = known.ok_or_else(|| format!("there is no function {function}"))?;
        Ok(known.attrs.get(attr).copied())
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

/// The same with a level of any type.
pub(crate) fn pass_info_of_level(level: &toml::Value) -> Result<String, Thrown> {
    let level = level.as_integer().or(level.as_bool().map(i64::from));
    let level = level.ok_or_else(|| thrown("TypeError", "Expect opt_level to be int"))?;
    pass_info("x", level, Some(toml::Value::Array(Vec::new())))
}
