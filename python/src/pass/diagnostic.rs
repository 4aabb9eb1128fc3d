//! Diagnostics: what a pass says to the user, and what shows it.

use std::sync::{Arc, Mutex, PoisonError};

use passdock::diagnostic::{self as core, Renderer, Severity};
use passdock::sdk;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::crossing::code::Code;
use crate::crossing::error;
use crate::crossing::gil;
use crate::crossing::lend::LentContext;
use crate::crossing::streams;
use crate::crossing::words::in_python;
use crate::ir::op::Op;

/// A diagnostic: a sentence for the user, and what it is about.
///
/// level: a ``DiagnosticLevel``, or its number. span: an op, or None. code: a short stable word. help: advice what to
/// do. notes: further sentences.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Diagnostic {
    said: core::Diagnostic,
    /// The op that the program says it is about.
    op: Option<Py<Op>>,
}

fn severity(level: u32) -> PyResult<Severity> {
    Ok(match level {
        10 => Severity::Bug,
        20 => Severity::Error,
        30 => Severity::Warning,
        40 => Severity::Note,
        50 => Severity::Help,
        other => {
            return Err(PyValueError::new_err(format!(
                "{other} is no DiagnosticLevel; they are 10, 20, 30, 40, 50"
            )));
        }
    })
}

impl Diagnostic {
    /// A diagnostic of the host.
    pub(crate) fn of(said: &core::Diagnostic) -> Diagnostic {
        Diagnostic {
            said: said.clone(),
            op: None,
        }
    }

    /// The diagnostic for the host, outside of passes.
    pub(crate) fn to_core(&self) -> core::Diagnostic {
        self.said.clone()
    }

    /// Emits it in a running pass, about the op.
    pub(crate) fn emit_to(&self, run: &LentContext) -> PyResult<()> {
        // Both have TVM's numbers.
        let severity = sdk::Severity(self.said.severity as u32);
        let mut said = sdk::Diagnostic::new(severity, &self.said.message).code(&self.said.code);
        if let Some(help) = &self.said.help {
            said = said.help(help);
        }
        for note in &self.said.notes {
            said = said.with_note(note);
        }
        if let Some(op) = &self.op {
            let place = op.get().0.read(|f, id| sdk::Place::op(id).within(f))?;
            said = said.at(place);
        }
        run.read(|cx| cx.emit(&said))
    }
}

#[pymethods]
impl Diagnostic {
    #[new]
    #[pyo3(signature = (level, span, message, *, code = "", help = None, notes = Vec::new()))]
    fn new(
        level: u32,
        span: Option<Py<Op>>,
        message: String,
        code: &str,
        help: Option<String>,
        notes: Vec<String>,
    ) -> PyResult<Diagnostic> {
        let mut said = core::Diagnostic::new(severity(level)?, code, message);
        said.help = help;
        said.notes = notes;
        Ok(Diagnostic { said, op: span })
    }

    /// The ``DiagnosticLevel``, the worst first: 10 is a bug, 50 is help.
    #[getter]
    fn level<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let diagnostics = py.import("passdock.diagnostics")?;
        diagnostics.call_method1("DiagnosticLevel", (self.said.severity as u32,))
    }

    /// The sentence.
    #[getter]
    fn message(&self) -> &str {
        &self.said.message
    }

    /// The short stable word, or an empty text.
    #[getter]
    fn code(&self) -> &str {
        &self.said.code
    }

    /// The advice what to do.
    #[getter]
    fn help(&self) -> Option<&str> {
        self.said.help.as_deref()
    }

    /// Further sentences.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.said.notes.clone()
    }

    /// The op that it is about, if the program said one.
    #[getter]
    fn span(&self, py: Python<'_>) -> Option<Py<Op>> {
        self.op.as_ref().map(|op| op.clone_ref(py))
    }

    /// The name of the pass that emitted it, once it is shown.
    #[getter]
    fn pass_name(&self) -> Option<&str> {
        self.said.pass.as_deref()
    }

    /// The name of the function that it is about, if the host knows.
    #[getter]
    fn function(&self) -> Option<&str> {
        self.said.function.as_deref()
    }

    /// The op that it is about, as messages call it.
    #[getter]
    fn op_name(&self) -> Option<&str> {
        self.said.op.as_deref()
    }

    /// Where the op comes from: a line and a column, or the name of an ONNX node.
    #[getter]
    fn location(&self) -> Option<&str> {
        self.said.location.as_deref()
    }

    /// The diagnostic as the command shows it, without colours.
    fn __str__(&self) -> String {
        self.said.render(false)
    }

    fn __repr__(&self) -> String {
        let level = format!("{:?}", self.said.severity).to_lowercase();
        format!("<passdock.Diagnostic {level}: {}>", self.said.message)
    }
}

/// Diagnostics, collected until they are shown.
///
/// ``ctx.diag_ctx`` is that of a running pass, whose diagnostics are shown when it has returned. A program may have one
/// of its own.
///
/// module: what they are about; it isn't looked at. renderer: what ``render`` shows them by; ``get_renderer()`` if none
/// is given.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct DiagnosticContext(Collected);

enum Collected {
    /// Of a pass that runs.
    Run(core::DiagnosticContext, Option<Arc<LentContext>>),
    Own {
        said: Mutex<Vec<Py<Diagnostic>>>,
        module: Py<PyAny>,
        renderer: Py<PyAny>,
    },
}

impl DiagnosticContext {
    /// That of a pass that runs.
    pub(crate) fn new(
        own: core::DiagnosticContext,
        run: Option<Arc<LentContext>>,
    ) -> DiagnosticContext {
        DiagnosticContext(Collected::Run(own, run))
    }
}

/// The diagnostics that a program collects itself.
fn lock(said: &Mutex<Vec<Py<Diagnostic>>>) -> std::sync::MutexGuard<'_, Vec<Py<Diagnostic>>> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}

const EMITTED: &str =
    "One or more error diagnostics were emitted, please check diagnostic render for output.";

#[pymethods]
impl DiagnosticContext {
    #[new]
    #[pyo3(signature = (module = None, renderer = None))]
    fn create(py: Python<'_>, module: Option<Py<PyAny>>, renderer: Option<Py<PyAny>>) -> Self {
        let or_none = |given: Option<Py<PyAny>>| given.unwrap_or_else(|| py.None());
        DiagnosticContext(Collected::Own {
            said: Mutex::default(),
            module: or_none(module),
            renderer: or_none(renderer),
        })
    }

    /// Adds a diagnostic, to be shown when the pass has returned. An error or a bug makes the pass count as failed.
    fn emit(&self, diagnostic: &Bound<'_, Diagnostic>) -> PyResult<()> {
        match &self.0 {
            Collected::Run(_, Some(run)) => diagnostic.get().emit_to(run),
            Collected::Run(own, None) => {
                own.emit(diagnostic.get().to_core());
                Ok(())
            }
            Collected::Own { said, .. } => {
                lock(said).push(diagnostic.clone().unbind());
                Ok(())
            }
        }
    }

    /// Adds a diagnostic that a pass can't go on after, and raises DiagnosticError.
    fn emit_fatal(slf: &Bound<'_, Self>, diagnostic: &Bound<'_, Diagnostic>) -> PyResult<()> {
        let context = slf.get();
        context.emit(diagnostic)?;
        if let Collected::Own { .. } = context.0 {
            DiagnosticContext::render(slf)?;
        }
        Err(error::raised(slf.py(), "DiagnosticError", EMITTED))
    }

    /// Shows the diagnostics of a program's own, in order, each once.
    ///
    /// Raises DiagnosticError if an error or a bug is among them.
    fn render(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let Collected::Own { said, renderer, .. } = &slf.get().0 else {
            return Err(PyRuntimeError::new_err(
                "the diagnostics of a running pass are shown when it has returned",
            ));
        };
        if lock(said).is_empty() {
            return Ok(());
        }
        let diagnostics = py.import("passdock.diagnostics")?;
        let renderer = match renderer.is_none(py) {
            true => diagnostics.call_method0("get_renderer")?,
            false => renderer.bind(py).clone(),
        };
        gil::call_method(&renderer, "render", (slf,))?;
        let shown = std::mem::take(&mut *lock(said));
        let is_failure = |said: &Py<Diagnostic>| said.get().said.severity.is_failure();
        match shown.iter().any(is_failure) {
            true => Err(error::raised(py, "DiagnosticError", EMITTED)),
            false => Ok(()),
        }
    }

    /// The diagnostics that aren't shown yet.
    #[getter]
    fn diagnostics(&self, py: Python<'_>) -> PyResult<Vec<Py<Diagnostic>>> {
        match &self.0 {
            Collected::Run(own, _) => own
                .diagnostics()
                .iter()
                .map(|said| Py::new(py, Diagnostic::of(said)))
                .collect(),
            Collected::Own { said, .. } => {
                Ok(lock(said).iter().map(|said| said.clone_ref(py)).collect())
            }
        }
    }

    /// What a program's own are about. That of a running pass is the module that the pass has.
    #[getter]
    fn module(&self, py: Python<'_>) -> Py<PyAny> {
        match &self.0 {
            Collected::Own { module, .. } => module.clone_ref(py),
            Collected::Run(..) => py.None(),
        }
    }

    /// The name of the running pass; None for diagnostics of a program's own.
    #[getter]
    fn pass_name(&self) -> Option<&str> {
        match &self.0 {
            Collected::Run(own, _) => Some(own.pass()),
            Collected::Own { .. } => None,
        }
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<DiagnosticContext>() else {
            return false;
        };
        match (&self.0, &other.get().0) {
            (Collected::Run(own, _), Collected::Run(other, _)) => own.is(other),
            _ => std::ptr::eq(self, other.get()),
        }
    }
}

/// A function of Python that gets a list of diagnostics, as the host calls it.
pub(crate) fn renderer(render: Arc<Code>) -> Arc<Renderer> {
    Arc::new(move |said: &[core::Diagnostic]| {
        gil::attach(|py| {
            let said = said.iter().map(in_words);
            let said: Vec<Diagnostic> = said.map(|said| Diagnostic::of(&said)).collect();
            let Ok(render) = render.get(py) else {
                return;
            };
            if let Err(raised) = gil::call(&render, (said,)) {
                // There is nobody to tell but Python.
                raised.write_unraisable(py, Some(&render));
            }
        });
    })
}

/// A diagnostic in Python's words; what a pass of Python says is in its own.
fn in_words(said: &core::Diagnostic) -> core::Diagnostic {
    let mut said = said.clone();
    if said.pass.is_none() || said.plugin.is_some() {
        let texts = said.notes.iter_mut().chain(&mut said.help);
        for text in texts.chain([&mut said.message]) {
            *text = in_python(text);
        }
    }
    said
}

/// The standard renderer: what the host's own writes, to Python's standard error.
pub(crate) fn to_stderr() -> Arc<Renderer> {
    let sink = streams::sink("stderr");
    Arc::new(move |said: &[core::Diagnostic]| {
        let color = gil::attach(|py| streams::has_color(py, "stderr"));
        for one in said {
            sink(&format!("{}\n", in_words(one).render(color)));
        }
    })
}

/// Sets the function that shows the diagnostics of passes that start from now on: it gets a list. None: standard
/// error again.
#[pyfunction]
#[pyo3(signature = (render))]
pub(crate) fn override_renderer(py: Python<'_>, render: Option<Py<PyAny>>) -> PyResult<()> {
    let is_callable = |render: &Py<PyAny>| render.bind(py).is_callable();
    if !render.as_ref().is_none_or(is_callable) {
        return Err(PyTypeError::new_err(
            "a renderer is a function that takes a list of diagnostics",
        ));
    }
    let render = render.map_or_else(to_stderr, |render| renderer(Arc::new(Code::new(render))));
    gil::detach(py, || core::override_renderer(Some(render)));
    Ok(())
}
