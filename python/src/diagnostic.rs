//! Diagnostics: what a pass says to the user, and what shows it.

use std::sync::Arc;

use passdock::diagnostic::{self as core, Severity};
use passdock::sdk;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error;
use crate::lend::LentContext;
use crate::op::Op;

/// A diagnostic: a sentence for the user, and what it is about.
///
/// level: a ``DiagnosticLevel``, or its number. span: an op, or None. code: a short stable word. help: advice what to do.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Diagnostic {
    severity: Severity,
    message: String,
    code: String,
    help: Option<String>,
    notes: Vec<String>,
    op: Option<Py<Op>>,
    rendered: Option<String>,
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
            severity: said.severity,
            message: said.message.clone(),
            code: said.code.clone(),
            help: said.help.clone(),
            notes: said.notes.clone(),
            op: None,
            rendered: Some(said.render(false)),
        }
    }

    /// The diagnostic for the host, outside of passes.
    pub(crate) fn to_core(&self) -> core::Diagnostic {
        let mut said = core::Diagnostic::new(self.severity, &self.code, &self.message);
        said.help.clone_from(&self.help);
        said.notes.clone_from(&self.notes);
        said
    }

    /// Emits it in a running pass, about the op.
    pub(crate) fn emit_to(&self, run: &LentContext) -> PyResult<()> {
        let severity = match self.severity {
            Severity::Bug => sdk::Severity::BUG,
            Severity::Error => sdk::Severity::ERROR,
            Severity::Warning => sdk::Severity::WARNING,
            Severity::Note => sdk::Severity::NOTE,
            Severity::Help => sdk::Severity::HELP,
        };
        let mut said = sdk::Diagnostic::new(severity, &self.message).code(&self.code);
        if let Some(help) = &self.help {
            said = said.help(help);
        }
        for note in &self.notes {
            said = said.with_note(note);
        }
        if let Some(op) = &self.op {
            let op = op.get();
            let place = op.read(|f, id| sdk::Place::op(id).within(f))?;
            said = said.at(place);
        }
        run.read(|cx| cx.emit(&said))
            .map_err(|gone| error::gone(gone, "context"))
    }
}

#[pymethods]
impl Diagnostic {
    #[new]
    #[pyo3(signature = (level, message, span = None, *, code = "", help = None, notes = Vec::new()))]
    fn new(
        level: u32,
        message: String,
        span: Option<Py<Op>>,
        code: &str,
        help: Option<String>,
        notes: Vec<String>,
    ) -> PyResult<Diagnostic> {
        Ok(Diagnostic {
            severity: severity(level)?,
            message,
            code: code.to_owned(),
            help,
            notes,
            op: span,
            rendered: None,
        })
    }

    /// The number of the level, the worst first: 10 is a bug, 50 is help.
    #[getter]
    fn level(&self) -> u32 {
        self.severity as u32
    }

    /// The sentence.
    #[getter]
    fn message(&self) -> &str {
        &self.message
    }

    /// The short stable word, or an empty text.
    #[getter]
    fn code(&self) -> &str {
        &self.code
    }

    /// The advice what to do.
    #[getter]
    fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Further sentences.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The op that it is about, if the program said one.
    #[getter]
    fn span(&self, py: Python<'_>) -> Option<Py<Op>> {
        self.op.as_ref().map(|op| op.clone_ref(py))
    }

    fn __str__(&self) -> String {
        self.rendered
            .clone()
            .unwrap_or_else(|| self.to_core().render(false))
    }

    fn __repr__(&self) -> String {
        format!(
            "<passdock.Diagnostic {}: {}>",
            self.severity as u32, self.message
        )
    }
}

/// The diagnostics of a running pass, collected until it has returned.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct DiagnosticContext {
    own: passdock::diagnostic::DiagnosticContext,
    run: Option<Arc<LentContext>>,
}

impl DiagnosticContext {
    pub(crate) fn new(
        own: passdock::diagnostic::DiagnosticContext,
        run: Option<Arc<LentContext>>,
    ) -> DiagnosticContext {
        DiagnosticContext { own, run }
    }
}

#[pymethods]
impl DiagnosticContext {
    /// Adds a diagnostic, to be shown when the pass has returned. An error makes the pass count as failed.
    fn emit(&self, diagnostic: &Diagnostic) -> PyResult<()> {
        match &self.run {
            Some(run) => diagnostic.emit_to(run),
            None => {
                self.own.emit(diagnostic.to_core());
                Ok(())
            }
        }
    }

    /// The diagnostics that aren't shown yet.
    #[getter]
    fn diagnostics(&self) -> Vec<Diagnostic> {
        self.own.diagnostics().iter().map(Diagnostic::of).collect()
    }

    /// The name of the pass.
    #[getter(r#pass)]
    fn pass_name(&self) -> &str {
        self.own.pass()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<DiagnosticContext>()
            .is_ok_and(|other| other.get().own.is(&self.own))
    }
}

/// Sets the function that shows the diagnostics of passes that start from now on: it gets a list. None: standard
/// error again.
#[pyfunction]
#[pyo3(signature = (render))]
pub(crate) fn override_renderer(py: Python<'_>, render: Option<Py<PyAny>>) -> PyResult<()> {
    let Some(render) = render else {
        py.detach(|| core::override_renderer(None));
        return Ok(());
    };
    if !render.bind(py).is_callable() {
        return Err(PyTypeError::new_err(
            "a renderer is a function that takes a list of diagnostics",
        ));
    }
    let shown = move |said: &[core::Diagnostic]| {
        Python::attach(|py| {
            let said: Vec<Diagnostic> = said.iter().map(Diagnostic::of).collect();
            if let Err(raised) = render.call1(py, (said,)) {
                // There is nobody to tell but Python.
                raised.write_unraisable(py, Some(render.bind(py)));
            }
        });
    };
    py.detach(|| core::override_renderer(Some(Arc::new(shown))));
    Ok(())
}
