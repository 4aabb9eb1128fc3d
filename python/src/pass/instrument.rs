//! Instruments: adapters for Python instruments, and Python objects for the host's.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use passdock::{
    Frame, InstrumentRef, InstrumentResult, InstrumentSetup, PassCall, PassError, Registry,
};
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyWeakrefMethods, PyWeakrefReference};

use crate::crossing::convert;
use crate::crossing::error::{self, Result};
use crate::crossing::gil;
use crate::crossing::streams;
use crate::ir::module::Module;
use crate::pass::info;

/// An instrument implemented by a Python object.
struct PyInstrument {
    object: Py<PyAny>,
    name: String,
    /// The callbacks that its class overrides; others aren't called.
    hooks: Vec<&'static str>,
}

/// The callbacks of instruments.
const HOOKS: [&str; 6] = [
    "enter_pass_ctx",
    "exit_pass_ctx",
    "should_run",
    "run_before_pass",
    "run_after_pass",
    "pass_failed",
];

/// Returns the base class of instruments.
fn base_class<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
    py.import("passdock.instrument")?.getattr("PassInstrument")
}

impl PyInstrument {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<PyInstrument> {
        let (class, base) = (object.get_type(), base_class(object.py())?);
        let mut hooks = Vec::new();
        for hook in HOOKS {
            if !class.getattr(hook)?.is(&base.getattr(hook)?) {
                hooks.push(hook);
            }
        }
        Ok(PyInstrument {
            name: object.getattr("name")?.extract()?,
            hooks,
            object: object.clone().unbind(),
        })
    }

    fn has(&self, hook: &str) -> bool {
        self.hooks.contains(&hook)
    }

    fn watch_context(&self, hook: &str) -> InstrumentResult {
        if !self.has(hook) {
            return Ok(());
        }
        let called = gil::attach(|py| gil::call_method(self.object.bind(py), hook, ()).map(drop));
        called.map_err(error::as_cause)
    }

    fn watch_pass(&self, hook: &str, call: &PassCall<'_>) -> InstrumentResult {
        if !self.has(hook) {
            return Ok(());
        }
        let called = gil::attach(|py| self.call_hook(py, hook, call).map(drop));
        called.map_err(error::as_cause)
    }

    fn call_hook<'py>(
        &self,
        py: Python<'py>,
        hook: &str,
        call: &PassCall<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (module, info) = arguments(py, call)?;
        gil::call_method(self.object.bind(py), hook, (module, info))
    }

    /// Converts the result of `should_run`: a bool, or 0 or 1.
    fn to_bool(&self, returned: &Bound<'_, PyAny>) -> PyResult<bool> {
        let is_bit = |returned: &Bound<'_, PyAny>| matches!(returned.extract(), Ok(0 | 1));
        if returned.is_instance_of::<PyBool>()
            || (returned.is_instance_of::<PyInt>() && is_bit(returned))
        {
            return returned.is_truthy();
        }
        // NumPy's bool is accepted, too.
        let kind = returned.get_type();
        if kind.name()?.to_string().starts_with("bool") {
            return returned.is_truthy();
        }
        Err(PyTypeError::new_err(format!(
            "should_run of instrument `{}` must return a bool, not {} ({})",
            self.name,
            returned.repr()?,
            kind.name()?
        )))
    }
}

/// Returns the module and the info that callbacks of passes receive.
fn arguments<'py>(py: Python<'py>, call: &PassCall<'_>) -> PyResult<(Module, Bound<'py, PyAny>)> {
    let info = info::to_python(py, call.info)?;
    Ok((Module::read_only(call.module.clone()), info))
}

impl passdock::PassInstrument for PyInstrument {
    fn name(&self) -> &str {
        &self.name
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn enter_pass_ctx(&self, _frame: &dyn Frame) -> InstrumentResult {
        self.watch_context("enter_pass_ctx")
    }

    fn exit_pass_ctx(&self, _frame: &dyn Frame) -> InstrumentResult {
        self.watch_context("exit_pass_ctx")
    }

    fn should_run(&self, call: &PassCall<'_>) -> InstrumentResult<bool> {
        if !self.has("should_run") {
            return Ok(true);
        }
        let decision = gil::attach(|py| self.to_bool(&self.call_hook(py, "should_run", call)?));
        decision.map_err(error::as_cause)
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.watch_pass("run_before_pass", call)
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.watch_pass("run_after_pass", call)
    }

    fn pass_failed(&self, call: &PassCall<'_>, failed: &PassError) -> InstrumentResult {
        if !self.has("pass_failed") {
            return Ok(());
        }
        gil::attach(|py| {
            error::show(py, failed, |raised| {
                let called = arguments(py, call).and_then(|(module, info)| {
                    let object = self.object.bind(py);
                    gil::call_method(object, "pass_failed", (module, info, raised))
                });
                called.map(drop).map_err(error::as_cause)
            })
        })
    }
}

/// An instrument of the host or of a plugin, created by ``passdock.instrument.get_instrument``.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct NativeInstrument(InstrumentRef);

#[pymethods]
impl NativeInstrument {
    /// Creates the instrument of a name, with options.
    ///
    /// Raises UnknownNameError for an unknown name, and ConfigError for an invalid option.
    #[new]
    #[pyo3(signature = (name, **options))]
    fn new(
        py: Python<'_>,
        name: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> Result<NativeInstrument> {
        let options = convert::to_options(options)?;
        let registry = Registry::global();
        Ok(NativeInstrument(gil::detach(py, || {
            let mut setup = InstrumentSetup::new(registry);
            setup.sink = streams::sink("stdout");
            registry.get_instrument(name, &options, &setup)
        })?))
    }

    /// The instrument's name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the instrument's report so far as text; None if it has none.
    ///
    /// Raises PassError if the instrument fails.
    fn report(&self, py: Python<'_>) -> Result<Option<String>> {
        let report = gil::detach(py, || {
            // A plugin's instrument needs a context and its config.
            let mut builder = passdock::PassContext::builder().shared_instrument(self.0.clone());
            for (key, value) in &passdock::PassContext::current().settings().config {
                builder = builder.config(key, value.clone());
            }
            builder.build()?.instrument_reports().pop().transpose()
        })?;
        Ok(report.map(|report| report.text))
    }

    /// Returns the report as data; None if it has none.
    fn report_data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &self.0.report_data())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<NativeInstrument>()
            .is_ok_and(|other| Arc::ptr_eq(&other.get().0, &self.0))
    }

    fn __hash__(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    fn __repr__(&self) -> String {
        format!("<passdock instrument {}>", self.0.name())
    }
}

/// Converts the instruments argument.
pub(crate) fn list(object: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<InstrumentRef>> {
    let Some(object) = object.filter(|object| !object.is_none()) else {
        return Ok(Vec::new());
    };
    let invalid = || PyTypeError::new_err("instruments: expected a list of instruments");
    let all = object.try_iter().map_err(|_| invalid())?;
    all.map(|each| from_python(&each?)).collect()
}

fn from_python(object: &Bound<'_, PyAny>) -> PyResult<InstrumentRef> {
    if let Ok(native) = object.getattr("_native") {
        let own = from_python(&native)?;
        remember(object, &own);
        return Ok(own);
    }
    if let Ok(native) = object.cast::<NativeInstrument>() {
        return Ok(native.get().0.clone());
    }
    if !object.is_instance(&base_class(object.py())?)? {
        let kind = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "{kind} is not an instrument; decorate its class with @pass_instrument, or derive it from PassInstrument"
        )));
    }
    Ok(Arc::new(PyInstrument::new(object)?))
}

/// Reports the object of an instrument to Python's garbage collector, if nothing else holds the instrument.
pub(crate) fn traverse(own: &InstrumentRef, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
    match python_instrument(own) {
        Some(instrument) if Arc::strong_count(own) == 1 => visit.call(&instrument.object),
        _ => Ok(()),
    }
}

/// The program's objects for instruments of the host, by address, and the size at which dead entries are removed.
static OBJECTS: Mutex<(BTreeMap<usize, Py<PyWeakrefReference>>, usize)> =
    Mutex::new((BTreeMap::new(), 64));

/// Records the program's object for an instrument of the host, by a weak reference.
fn remember(object: &Bound<'_, PyAny>, own: &InstrumentRef) {
    let (py, at) = (object.py(), Arc::as_ptr(own).addr());
    // A class with slots may not support weak references.
    let Ok(known) = PyWeakrefReference::new(object) else {
        return;
    };
    let mut guard = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    let (objects, most) = &mut *guard;
    let is_collected = |known: &Py<PyWeakrefReference>| known.bind(py).upgrade().is_none();
    let mut collected = Vec::new();
    if objects.len() >= *most {
        collected.extend(objects.extract_if(.., |_, known| is_collected(known)));
        *most = 64.max(objects.len() * 2);
    }
    let before = objects.insert(at, known.unbind());
    drop(guard);
    drop((collected, before));
}

/// Returns the program's object for an instrument of the host.
fn remembered(py: Python<'_>, own: &InstrumentRef) -> Option<Py<PyAny>> {
    let objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = objects.0.get(&Arc::as_ptr(own).addr())?.clone_ref(py);
    drop(objects);
    let object = known.bind(py).upgrade()?;
    // Another instrument may have the same address as a dead one.
    let native = from_python(&object.getattr("_native").ok()?).ok()?;
    Arc::ptr_eq(&native, own).then(|| object.unbind())
}

/// Returns the object of an instrument: the program's own, or a new one for an instrument of the host.
pub(crate) fn to_python(py: Python<'_>, own: InstrumentRef) -> PyResult<Py<PyAny>> {
    if let Some(instrument) = python_instrument(&own) {
        return Ok(instrument.object.clone_ref(py));
    }
    match remembered(py, &own) {
        Some(object) => Ok(object),
        None => Ok(Py::new(py, NativeInstrument(own))?.into_any()),
    }
}

/// Returns the adapter, if the instrument is a Python object.
fn python_instrument(own: &InstrumentRef) -> Option<&PyInstrument> {
    own.as_any()?.downcast_ref()
}
