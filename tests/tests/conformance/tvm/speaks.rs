//! The reference implementation in the suite's vocabulary.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use passdock::Severity;

use super::module::Whole;
use super::{
    CONTEXTS, Context, ContextNode, DEFAULT, Function, Module, Node, Pass, Thrown, Tvm, Work,
    config, lock, thrown,
};
use crate::system::{Body, Cx, Done, EditModule, Info, Log, Spec, System, Tap};

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
        let created = functions.map(|(name, prim)| {
            Arc::new(Function {
                name: name.to_owned(),
                prim,
                attrs: BTreeMap::new(),
            })
        });
        Arc::new(created.into())
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
            Body::Built(pass) => return Ok(pass),
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

    /// TVM has no aliases except the spellings of `get_pass`.
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
        self.call_enter(cx).inspect_err(|_| self.log_disabled())?;
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
        self.call_exit(&entered)
            .inspect_err(|_| self.log_disabled())
    }

    fn scope<T>(
        &self,
        cx: &Context,
        body: impl FnOnce(&Self) -> Result<T, Thrown>,
    ) -> Result<T, Thrown> {
        let entered = self.enter(cx)?;
        let result = body(self);
        // An error of the exit callback replaces the body's error.
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

    fn resolve(&self, _: &Pass, _: &Context) -> Result<Vec<String>, Thrown> {
        Err(thrown("not-implemented", "not resolved yet"))
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

    fn warn(&self, cx: &Context, message: &'static str) {
        if let Some(diagnostics) = lock(&cx.diagnostics).as_ref() {
            lock(diagnostics).push((Severity::Warning, "odd", message));
        }
    }

    fn emit_fatal(&self, cx: &Context, message: &'static str) -> Thrown {
        let diagnostics = lock(&cx.diagnostics).clone().unwrap_or_default();
        lock(&diagnostics).push((Severity::Error, "wrong", message));
        self.render(&diagnostics, "Fatal")
            .expect_err("there is an error")
    }

    fn diagnostics(&self, cx: &Context) -> Option<usize> {
        let diagnostics = lock(&cx.diagnostics).clone()?;
        let count = lock(&diagnostics).len();
        Some(count)
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
        self.call_exit(cx)?;
        *lock(&cx.taps) = taps;
        self.call_enter(cx)
    }

    /// `override_instruments(None)`.
    fn remove_instruments(&self, _: &Context) -> Done<Self> {
        let message = "Expect instruments to be Array but got None";
        Err(thrown("TypeError", message))
    }
}
