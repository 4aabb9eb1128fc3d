//! `PassContext`: the settings of passes, and the services for a running pass.

use std::cell::RefCell;
use std::sync::Arc;

use passdock::instruments::calls;
use passdock::sdk::{self, EditError, OpId};
use passdock::{Entered, InstrumentRef, PassCall, PassError};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyWeakrefMethods, PyWeakrefReference};

use crate::crossing::borrow::BorrowedContext;
use crate::crossing::code::Code;
use crate::crossing::convert::{self, Mapping};
use crate::crossing::error::{self, Exception, Result};
use crate::crossing::gil;
use crate::ir::attr;
use crate::ir::edit::{self, Operand};
use crate::ir::failure;
use crate::ir::function::{self, Function};
use crate::ir::module::Module;
use crate::ir::new_op::NewOp;
use crate::ir::op::Op;
use crate::ir::region::Region;
use crate::ir::value::Value;
use crate::pass::config;
use crate::pass::diagnostic::{self, DiagnosticFields, PassDiagnostics};
use crate::pass::info::{PassInfoFields, level, names};
use crate::pass::instrument;
use crate::pass::rules::Rules;

thread_local! {
    /// The contexts that `with` entered on this thread, and their objects.
    static ENTERED: RefCell<Vec<(Entered, Py<PassContext>)>> = const { RefCell::new(Vec::new()) };
    /// Weak references to the objects of other contexts.
    static UNENTERED: RefCell<Vec<Py<PyWeakrefReference>>> = const { RefCell::new(Vec::new()) };
}

/// The settings that passes run under: the level, names, instruments and config.
///
/// ``with PassContext(opt_level=3):`` makes the context the thread's current one. It inherits nothing from the
/// surrounding context. As in TVM, asyncio tasks on a thread share one stack of contexts, so don't enter a context
/// around an ``await``. Leaving the context raises errors of instruments, and errors that occurred while analyses of
/// plugins were freed.
///
/// Args:
///     opt_level: The level, 2 by default. Passes of a higher level don't run.
///     required_pass: Names of passes that run at any level, and that instruments can't veto.
///     disabled_pass: Names of passes that don't run.
///     instruments: Instruments that observe the passes.
///     config: Values for the keys of ``list_configs()``.
///     renderer: Renders the diagnostics of passes: a ``DiagnosticRenderer``, or a function of a ``DiagnosticContext``.
///
/// Raises ConfigError for an unknown key or field, or an invalid value.
#[pyclass(frozen, module = "passdock", weakref)]
pub(crate) struct PassContext {
    core: passdock::PassContext,
    /// The run, for the context of a running pass.
    run: Option<Arc<BorrowedContext>>,
    /// The renderer of a context that the program created.
    renderer: Option<Arc<Code>>,
    /// The level, if one was given.
    level: Option<u32>,
}

impl PassContext {
    /// Wraps a context of the host.
    pub(crate) fn from_core(core: passdock::PassContext) -> PassContext {
        PassContext {
            // A running pass has the level of its run.
            level: core.diag_ctx().map(|_| core.opt_level()),
            core,
            run: None,
            renderer: None,
        }
    }

    /// Creates the context of a running pass.
    pub(crate) fn in_run(core: passdock::PassContext, run: Arc<BorrowedContext>) -> PassContext {
        PassContext {
            run: Some(run),
            ..PassContext::from_core(core)
        }
    }

    pub(crate) fn core(&self) -> &passdock::PassContext {
        &self.core
    }

    /// Calls a method of the running pass's context.
    fn with_running<R>(
        &self,
        what: &str,
        body: impl FnOnce(&sdk::PassContext) -> R,
    ) -> PyResult<R> {
        let Some(run) = &self.run else {
            return Err(PyRuntimeError::new_err(format!(
                "`{what}` is only available on the context that a pass receives"
            )));
        };
        run.read(body)
    }

    /// Calls instruments around code that the program runs as a pass.
    fn around_pass<R>(
        &self,
        module: &Module,
        info: PassInfoFields,
        body: impl FnOnce(&[InstrumentRef], &PassCall<'_>) -> Result<R, PassError>,
    ) -> Result<R> {
        let frame = self.core.frame();
        let call = PassCall {
            module: &module.now()?,
            info: &info.to_host(),
            provider: None,
            frame: &frame,
        };
        Ok(body(&self.core.instruments(), &call)?)
    }

    /// Calls a method of the running pass's context on a function.
    fn on<R>(
        &self,
        what: &str,
        function: &Bound<'_, Function>,
        body: impl FnOnce(&sdk::PassContext, &mut sdk::Function) -> Result<R, EditError>,
    ) -> PyResult<R> {
        self.with_running(what, |cx| function::edit(function, |f| body(cx, f)))?
    }

    /// Calls a method of the running pass's context on an op.
    fn on_op<R>(
        &self,
        py: Python<'_>,
        what: &str,
        op: &Op,
        body: impl FnOnce(&sdk::PassContext, &mut sdk::Function, OpId) -> Result<R, EditError>,
    ) -> PyResult<R> {
        op.0.read(|_, _| ())?;
        self.on(what, op.0.function.bind(py), |cx, f| body(cx, f, op.0.id))
    }
}

/// Returns the object of the context on top of the thread's stack.
fn current(py: Python<'_>) -> PyResult<Py<PassContext>> {
    let core = passdock::PassContext::current();
    let entered = ENTERED.with_borrow(|entered| {
        let mut entered = entered.iter().rev();
        entered
            .find(|(_, context)| context.get().core.is(&core))
            .map(|(_, context)| context.clone_ref(py))
    });
    match entered {
        Some(context) if core.diag_ctx().is_none() => Ok(context),
        _ => unentered(py, core),
    }
}

/// Returns the object of a context that no `with` entered: the thread's own, or that of a running pass. It stays the
/// same object while the program holds it.
fn unentered(py: Python<'_>, core: passdock::PassContext) -> PyResult<Py<PassContext>> {
    let mut known = UNENTERED.with_borrow(|known| {
        let known = known.iter().map(|known| known.clone_ref(py));
        known.collect::<Vec<_>>()
    });
    let upgrade =
        |known: &Py<PyWeakrefReference>| known.bind(py).upgrade_as::<PassContext>().ok()?;
    let is_same = |known: &Bound<'_, PassContext>| {
        let own = &known.get().core;
        let is_same_pass = match (own.diag_ctx(), core.diag_ctx()) {
            (Some(own), Some(other)) => own.is(other),
            (own, other) => own.is_none() && other.is_none(),
        };
        own.is(&core) && is_same_pass
    };
    if let Some(found) = known.iter().filter_map(upgrade).find(is_same) {
        return Ok(found.unbind());
    }
    let created = Bound::new(py, PassContext::from_core(core))?;
    known.retain(|known| upgrade(known).is_some());
    known.push(PyWeakrefReference::new(&created)?.unbind());
    let before = UNENTERED.replace(known);
    drop(before);
    Ok(created.unbind())
}

#[pymethods]
impl PassContext {
    #[new]
    #[pyo3(signature = (
        opt_level = None, required_pass = None, disabled_pass = None, instruments = None, config = None, *,
        renderer = None
    ))]
    fn new(
        py: Python<'_>,
        opt_level: Option<&Bound<'_, PyAny>>,
        required_pass: Option<&Bound<'_, PyAny>>,
        disabled_pass: Option<&Bound<'_, PyAny>>,
        instruments: Option<&Bound<'_, PyAny>>,
        config: Option<Mapping<'_>>,
        renderer: Option<&Bound<'_, PyAny>>,
    ) -> Result<PassContext> {
        let mut builder = passdock::PassContext::builder()
            .required_pass(names(py, "required_pass", required_pass)?)
            .disabled_pass(names(py, "disabled_pass", disabled_pass)?);
        let level = opt_level.map(level).transpose()?;
        if let Some(level) = level {
            builder = builder.opt_level(level);
        }
        let mut code = None;
        if let Some(renderer) = renderer {
            let diagnostics = py.import("passdock.diagnostics")?;
            let showing = diagnostics.call_method1("_showing", (renderer,))?;
            let showing = code.insert(Arc::new(Code::new(showing.unbind())));
            let shown = diagnostic::renderer(showing.clone());
            builder = builder.renderer(move |said| shown(said));
        }
        for instrument in instrument::list(instruments)? {
            builder = builder.shared_instrument(instrument);
        }
        for (key, value) in config.iter().flat_map(|config| config.0.iter()) {
            let key: String = key.extract()?;
            if value.is_none() {
                let message = format!("config option `{key}` is None");
                return Err(error::raised(py, "ConfigError", &message))?;
            }
            builder = builder.config(key, convert::to_toml(&value)?);
        }
        let core = gil::detach(py, || builder.build())?;
        Ok(PassContext {
            renderer: code,
            level,
            ..PassContext::from_core(core)
        })
    }

    /// Returns the current context: the innermost one that this thread entered, or the thread's own.
    #[staticmethod]
    #[pyo3(name = "current")]
    fn current_one(py: Python<'_>) -> PyResult<Py<PassContext>> {
        current(py)
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PassContext>> {
        let entered = slf.get().core.enter()?;
        let own = slf.clone().unbind();
        ENTERED.with_borrow_mut(|all| all.push((entered, own)));
        Ok(slf.clone())
    }

    #[pyo3(signature = (kind = None, value = None, traceback = None))]
    fn __exit__(
        slf: &Bound<'_, Self>,
        kind: Option<&Bound<'_, PyAny>>,
        value: Option<&Bound<'_, PyAny>>,
        traceback: Option<&Bound<'_, PyAny>>,
    ) -> Result<bool> {
        let (py, core) = (slf.py(), &slf.get().core);
        let _ = (kind, traceback);
        let found = ENTERED.with_borrow_mut(|all| {
            let mut entered = all.iter();
            let at = entered.rposition(|(entered, _)| entered.context().is(core))?;
            Some((at, all.remove(at)))
        });
        let Some((at, (mut entered, object))) = found else {
            let message = "the pass context is not entered on this thread";
            return Err(error::raised(py, "ContextError", message))?;
        };
        let in_flight = value.filter(|value| !value.is_none());
        // No borrow is active: instruments may enter and leave contexts.
        let exited = match in_flight {
            None => entered.exit(),
            Some(_) => entered.exit_failed(),
        };
        if !entered.is_exited() {
            ENTERED.with_borrow_mut(|all| all.insert(at.min(all.len()), (entered, object)));
        }
        match (exited, in_flight) {
            (Ok(()), _) => Ok(false),
            (Err(failed), None) => Err(failed.into()),
            (Err(failed), Some(value)) => {
                // The error of the body is raised, with the other one as a note.
                let description = error::describe(py, &Exception::from(failed).into());
                let note = format!("could not leave the pass context: {description}");
                let _ = value.call_method1("add_note", (note,));
                Ok(false)
            }
        }
    }

    /// Replaces the context's instruments, even if it is entered: the old ones are exited, the new ones entered. None
    /// removes all.
    ///
    /// Raises the exception of an instrument; the context then has none.
    #[pyo3(signature = (instruments))]
    fn override_instruments(&self, instruments: Option<&Bound<'_, PyAny>>) -> Result {
        let new = instrument::list(instruments)?;
        Ok(self.core.override_instruments(new)?)
    }

    /// Calls ``enter_pass_ctx`` of the instruments, like ``with``.
    fn instrument_enter_pass_ctx(&self) -> Result {
        Ok(self.core.instrument_enter_pass_ctx()?)
    }

    /// Calls ``exit_pass_ctx`` of the instruments, like the end of ``with``.
    fn instrument_exit_pass_ctx(&self) -> Result {
        Ok(self.core.instrument_exit_pass_ctx()?)
    }

    /// Returns whether the instruments let a pass run. If so, calls their ``run_before_pass``, like the run of a pass.
    #[pyo3(signature = (module, info))]
    fn instrument_before_pass(&self, module: &Module, info: PassInfoFields) -> Result<bool> {
        self.around_pass(module, info, |list, call| {
            let is_required = self.core.is_forced(&call.info.name);
            if !is_required && !calls::vetoes(list, call)?.is_empty() {
                return Ok(false);
            }
            calls::before(list, call).map(|()| true)
        })
    }

    /// Calls ``run_after_pass`` of the instruments with the module that a pass returned.
    #[pyo3(signature = (module, info))]
    fn instrument_after_pass(&self, module: &Module, info: PassInfoFields) -> Result {
        self.around_pass(module, info, |list, call| {
            calls::after(list, call, call.module)
        })
    }

    /// Returns the registered config keys. Each has its type (``"dict"`` for one with fields), default, documentation,
    /// plugin and fields. TVM's aliases are included, with the key that they refer to.
    #[staticmethod]
    fn list_configs(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        config::list(py)
    }

    /// The level; passes of a higher one don't run.
    #[getter]
    fn opt_level(&self) -> u32 {
        self.core.opt_level()
    }

    /// The level, if one was given; None for the default.
    #[getter]
    fn given_opt_level(&self) -> Option<u32> {
        self.level
    }

    /// The passes that run at any level.
    #[getter]
    fn required_pass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.core.settings().required_pass)
    }

    /// The passes that don't run.
    #[getter]
    fn disabled_pass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.core.settings().disabled_pass)
    }

    /// The instruments, in order.
    #[getter]
    fn instruments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let all: Vec<InstrumentRef> = self.core.instruments();
        let all = all.into_iter().map(|own| instrument::to_python(py, own));
        PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    /// The given config values, by the keys' full names. ``config[key]`` returns the default for other keys, accepts
    /// aliases, and has fields as attributes: ``ctx.config["tir.UnrollLoop"].auto_max_step``.
    #[getter(config)]
    fn given_config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        config::given(py, &self.core)
    }

    /// Returns the value of a config key: the given one, or the registered default. Fields are attributes, too.
    ///
    /// Raises ConfigError if there is no such key.
    fn get_config<'py>(&self, py: Python<'py>, key: &str) -> Result<Bound<'py, PyAny>> {
        config::value(py, &self.core, key)
    }

    /// The diagnostics of the running pass; None outside of passes.
    #[getter]
    fn diag_ctx<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(own) = slf.get().core.diag_ctx().cloned() else {
            return Ok(None);
        };
        let diagnostics = slf.py().import("passdock.diagnostics")?;
        let context = diagnostics.call_method1("_RunningPass", (slf, PassDiagnostics(own)))?;
        Ok(Some(context))
    }

    /// Emits a diagnostic. It is rendered after the running pass returns, or immediately outside of passes. An error
    /// makes the pass fail.
    fn emit(&self, py: Python<'_>, diagnostic: DiagnosticFields) -> PyResult<()> {
        match &self.run {
            Some(run) => diagnostic.emit_to(run),
            None => {
                let diagnostic = diagnostic.to_host();
                gil::detach(py, || self.core.emit(diagnostic));
                Ok(())
            }
        }
    }

    /// Infers the types of an op's results according to its definition, in a pass. Parts that can't be inferred
    /// don't change.
    ///
    /// Raises EditError with the definition's message if the op is invalid.
    fn infer(&self, py: Python<'_>, op: &Op) -> PyResult<()> {
        self.on_op(py, "infer", op, |cx, f, op| cx.infer(f, op))
    }

    /// Creates an op, infers the types of its results, and returns the first one. The arguments are those of
    /// ``Function.create_op``.
    ///
    /// Raises EditError if the edit would make the IR invalid, or the definition rejects the op.
    #[pyo3(signature = (
        function, name, operands, *, attrs = None, results = None, before = None, after = None, end_of = None,
        custom = false
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords, in Python")]
    fn create_value(
        &self,
        function: &Bound<'_, Function>,
        name: &str,
        operands: Vec<Operand>,
        attrs: Option<Mapping<'_>>,
        results: Option<&Bound<'_, PyAny>>,
        before: Option<&Op>,
        after: Option<&Op>,
        end_of: Option<&Region>,
        custom: bool,
    ) -> PyResult<Option<Value>> {
        let attrs = attrs.as_ref();
        let op = NewOp::new(function, name, &operands, attrs, results, custom, None)?;
        if op.has_no_results() {
            return Err(PyValueError::new_err(
                "cannot create a value from an op without results; use `Function.create_op`",
            ));
        }
        let at = edit::position(function, before, after, end_of)?;
        let id = self.on("create_value", function, |cx, f| {
            let types = op.types(f)?;
            cx.create_value(f, op.builder(types), at)
        })?;
        Ok(function::value(function, id))
    }

    /// Evaluates an op with constant operands and returns its results as constants. None if that isn't possible, or the
    /// results need more than ``max_bytes`` bytes.
    #[pyo3(signature = (op, max_bytes = 1 << 20))]
    fn evaluate(
        &self,
        py: Python<'_>,
        op: &Op,
        max_bytes: u64,
    ) -> PyResult<Option<Vec<Option<Value>>>> {
        let created = self.on_op(py, "evaluate", op, |cx, f, op| {
            cx.evaluate(f, op, max_bytes)
        })?;
        Ok(created.map(|ids| function::values(op.0.function.bind(py), &ids)))
    }

    /// Copies the body of an op's definition before the op. Returns the values that replace its results, or None if the
    /// definition has no body.
    fn decompose(&self, py: Python<'_>, op: &Op) -> PyResult<Option<Vec<Option<Value>>>> {
        let created = self.on_op(py, "decompose", op, |cx, f, op| cx.decompose(f, op))?;
        Ok(created.map(|ids| function::values(op.0.function.bind(py), &ids)))
    }

    /// Returns the default of an attribute according to the op's definition; None if it has none.
    fn attr_default<'py>(
        &self,
        py: Python<'py>,
        op: &Op,
        name: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = |cx: &sdk::PassContext, f: &mut sdk::Function, op| cx.attr_default(f, op, name);
        match self.on_op(py, "attr_default", op, found)? {
            None => Ok(py.None().into_bound(py)),
            Some(value) => attr::to_python(op.0.function.bind(py), &value),
        }
    }

    /// Runs a registered pass on the module of a module pass, with instruments.
    ///
    /// Raises UnknownNameError if there is no pass of that name, and the exception of the pass if it fails.
    fn run_pass(&self, py: Python<'_>, module: &Module, name: &str) -> Result {
        let Err(failed) = self.with_running("run_pass", |cx| module.run_pass(cx, name))?? else {
            return Ok(());
        };
        let registry = self.core.registry();
        if !registry.contains(name) {
            registry.get_pass(name)?;
        }
        Err(error::inner_failed(py, &failed).into())
    }

    /// Rewrites a function by rules until a fixed point, in a pass. The report counts the rewrites of each rule.
    ///
    /// Raises the exception of a rule's code, and PassError if rules keep undoing each other.
    fn rewrite(&self, function: &Bound<'_, Function>, rules: &Rules) -> PyResult<()> {
        let rules: Vec<&sdk::Rules> = rules.sets.iter().map(|set| &set.get().rules).collect();
        let done = self.on("rewrite", function, |cx, f| Ok(cx.rewrite(f, &rules)))?;
        done.map_err(|failed| {
            let raised = error::inner_failed(function.py(), &failed);
            failure::about(function, raised, failed.op)
        })
    }

    /// Returns whether a rule of this name may rewrite again. Call it right before a change, and ``rewrote``
    /// afterwards.
    fn may_rewrite(&self, rule: &str) -> PyResult<bool> {
        self.with_running("may_rewrite", |cx| cx.may_rewrite(rule))
    }

    /// Counts a rewrite of the rule of this name, for the report.
    fn rewrote(&self, rule: &str) -> PyResult<()> {
        self.with_running("rewrote", |cx| cx.rewrote(rule))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<PassContext>();
        other.is_ok_and(|other| other.get().core.is(&self.core))
    }

    fn __hash__(&self) -> usize {
        std::ptr::from_ref(self.core.settings()).addr()
    }

    fn __str__(&self) -> String {
        self.core.to_string()
    }

    /// An instrument or the renderer may reference the context that holds it.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Some(instruments) = self.core.sole_instruments() else {
            return Ok(());
        };
        let mut renderer = self.renderer.iter();
        renderer.try_for_each(|code| code.traverse(&visit))?;
        let mut instruments = instruments.iter();
        instruments.try_for_each(|own| instrument::traverse(own, &visit))
    }

    fn __clear__(&self) {
        // The context isn't entered: otherwise something else would hold it.
        let _ = self.core.override_instruments(Vec::new());
        if let Some(renderer) = &self.renderer {
            renderer.clear();
        }
    }

    /// Recreates the context with the same settings. A copy includes the instruments, if they can be copied.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, own) = (slf.py(), slf.get());
        let instruments = own.instruments(py)?.to_list();
        let parts = (
            own.level,
            own.core.settings().required_pass.clone(),
            own.core.settings().disabled_pass.clone(),
            instruments,
            own.given_config(py)?,
        );
        Ok((slf.get_type().into_any(), parts.into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        format!("<passdock.PassContext opt_level={}>", self.core.opt_level())
    }
}
