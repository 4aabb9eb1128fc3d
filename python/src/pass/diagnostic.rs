//! Diagnostics that passes emit, and their renderers.

use std::sync::Arc;

use passdock::diagnostic::{self as core, Renderer, Severity};
use passdock::sdk;
use pyo3::prelude::*;

use crate::crossing::borrow::BorrowedContext;
use crate::crossing::code::Code;
use crate::crossing::convert;
use crate::crossing::gil;
use crate::crossing::streams;
use crate::crossing::terms::in_python;
use crate::ir::op::Op;

/// The fields of a `passdock.diagnostics.Diagnostic`.
#[derive(FromPyObject)]
pub(crate) struct DiagnosticFields {
    level: u32,
    span: Option<Py<Op>>,
    message: String,
    code: String,
    help: Option<String>,
    notes: Vec<String>,
}

impl DiagnosticFields {
    /// Returns the diagnostic for the host, outside of passes.
    pub(crate) fn to_host(&self) -> core::Diagnostic {
        use Severity::{Bug, Error, Help, Note, Warning};
        let mut all = [Bug, Error, Warning, Note, Help].into_iter();
        let severity = all.find(|severity| *severity as u32 == self.level);
        let severity = severity.unwrap_or_default();
        let mut diagnostic = core::Diagnostic::new(severity, &self.code, &self.message);
        diagnostic.help.clone_from(&self.help);
        diagnostic.notes.clone_from(&self.notes);
        diagnostic
    }

    /// Emits the diagnostic in a running pass, with the op as its location.
    pub(crate) fn emit_to(&self, run: &BorrowedContext) -> PyResult<()> {
        // Both use TVM's numbers.
        let severity = sdk::Severity(self.level);
        let mut diagnostic = sdk::Diagnostic::new(severity, &self.message).code(&self.code);
        if let Some(help) = &self.help {
            diagnostic = diagnostic.help(help);
        }
        for note in &self.notes {
            diagnostic = diagnostic.with_note(note);
        }
        if let Some(op) = &self.span {
            let span = op.get().0.read(|f, id| sdk::OpSpan::op(id).within(f))?;
            diagnostic = diagnostic.at(span);
        }
        run.read(|cx| cx.emit(&diagnostic))
    }
}

/// Renders a diagnostic of a program, as the command prints it.
#[pyfunction]
pub(crate) fn diagnostic_text(diagnostic: DiagnosticFields) -> String {
    diagnostic.to_host().render(false)
}

/// The diagnostics that a running pass has emitted.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct PassDiagnostics(pub(crate) core::DiagnosticContext);

#[pymethods]
impl PassDiagnostics {
    /// The name of the pass.
    #[getter]
    fn pass_name(&self) -> &str {
        self.0.pass()
    }

    /// Returns the fields and the text of each diagnostic.
    fn collected<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.diagnostics())
    }

    fn __eq__(&self, other: &PassDiagnostics) -> bool {
        self.0.is(&other.0)
    }
}

/// Converts diagnostics to their fields and texts, from which `passdock.diagnostics` creates objects.
fn to_python(py: Python<'_>, all: Vec<core::Diagnostic>) -> PyResult<Bound<'_, PyAny>> {
    let all = all.into_iter().map(|diagnostic| {
        let text = diagnostic.render(false);
        (diagnostic, text)
    });
    convert::to_python(py, &all.collect::<Vec<_>>())
}

/// Returns a renderer that calls a Python function with the fields and texts of diagnostics.
pub(crate) fn renderer(render: Arc<Code>) -> Arc<Renderer> {
    Arc::new(move |emitted: &[core::Diagnostic]| {
        gil::attach(|py| {
            let Ok(render) = render.get(py) else {
                return;
            };
            let shown = to_python(py, emitted.iter().map(in_python_terms).collect())
                .and_then(|emitted| gil::call(&render, (emitted,)));
            if let Err(raised) = shown {
                // Only Python can report it.
                raised.write_unraisable(py, Some(&render));
            }
        });
    })
}

/// Translates a diagnostic to Python's terms, unless a Python pass emitted it.
fn in_python_terms(diagnostic: &core::Diagnostic) -> core::Diagnostic {
    let mut diagnostic = diagnostic.clone();
    if diagnostic.pass.is_none() || diagnostic.plugin.is_some() {
        let texts = diagnostic.notes.iter_mut().chain(&mut diagnostic.help);
        for text in texts.chain([&mut diagnostic.message]) {
            *text = in_python(text);
        }
    }
    diagnostic
}

/// Returns the standard renderer, which writes to Python's standard error.
pub(crate) fn to_stderr() -> Arc<Renderer> {
    let sink = streams::sink("stderr");
    Arc::new(move |diagnostic: &[core::Diagnostic]| {
        let color = gil::attach(|py| streams::has_color(py, "stderr"));
        for one in diagnostic {
            sink(&format!("{}\n", in_python_terms(one).render(color)));
        }
    })
}

/// Sets the function that renders the diagnostics of passes that start from now on. It receives a list of fields and
/// texts. None restores the standard renderer.
#[pyfunction]
#[pyo3(signature = (render))]
pub(crate) fn override_renderer(py: Python<'_>, render: Option<Py<PyAny>>) {
    let render = render.map_or_else(to_stderr, |render| renderer(Arc::new(Code::new(render))));
    gil::detach(py, || core::override_renderer(Some(render)));
}
