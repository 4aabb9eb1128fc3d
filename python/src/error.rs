//! Errors of the host as Python's, and exceptions of Python on their way through the host.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use passdock::config::ConfigError;
use passdock::sdk::EditError;
use passdock::{Cause, PassError};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::lend::Gone;

/// An exception as the cause of an error of the host.
#[derive(Debug)]
struct Raised(PyErr);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Python::attach(|py| sentence(py, &self.0)))
    }
}

impl Error for Raised {}

thread_local! {
    /// The last exception that a pass of this thread ended with, and what the host was told of it: an error
    /// of a pass is words.
    static LAST: RefCell<Option<(String, PyErr)>> = const { RefCell::new(None) };
}

/// An exception as a sentence: `ValueError: no such axis`.
pub(crate) fn sentence(py: Python<'_>, error: &PyErr) -> String {
    let kind = error.get_type(py);
    let kind = kind
        .name()
        .map_or_else(|_| "exception".to_owned(), |name| name.to_string());
    let text = error.value(py).to_string();
    match text.is_empty() {
        true => kind,
        false => format!("{kind}: {text}"),
    }
}

/// The exception of a pass as its failure. It comes out of the host as itself.
pub(crate) fn as_failure(py: Python<'_>, error: PyErr) -> passdock::sdk::PassError {
    let text = sentence(py, &error);
    let failure = passdock::sdk::PassError::new(text.clone());
    let failure = match op_of(py, &error) {
        Some(op) => failure.at(op),
        None => failure,
    };
    LAST.set(Some((text, error)));
    failure
}

/// The exception of a rule's code as the failure of its rewrite.
pub(crate) fn as_edit_failure(py: Python<'_>, error: PyErr) -> EditError {
    let text = sentence(py, &error);
    LAST.set(Some((text.clone(), error)));
    EditError::failed(text)
}

/// The failure of rewriting as the exception that a rule's code raised, or one of the package.
pub(crate) fn rule_failed(py: Python<'_>, error: &passdock::sdk::PassError) -> PyErr {
    match LAST.take() {
        Some((text, raised)) if error.message.contains(&text) => raised,
        _ => raised(py, "PassError", &error.message),
    }
}

/// The op that an exception is about: the attribute `op` of the package's own exceptions.
fn op_of(py: Python<'_>, error: &PyErr) -> Option<passdock::sdk::OpId> {
    let op = error.value(py).getattr("op").ok()?;
    let op = op.cast::<crate::op::Op>().ok()?.get();
    Some(op.id)
}

/// The exception of an instrument as its failure. It comes out of the host as itself.
pub(crate) fn as_cause(error: PyErr) -> Box<dyn Error + Send + Sync> {
    Box::new(Raised(error))
}

/// The exception of the program's own code as an error of the host.
pub(crate) fn as_pass_error(py: Python<'_>, kind: passdock::ErrorKind, error: PyErr) -> PassError {
    let message = sentence(py, &error);
    PassError::new(kind, message).caused_by(Arc::new(Raised(error)))
}

fn exception<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("passdock.errors")?.unbind())
    })?;
    Ok(module.bind(py).getattr(name)?.cast_into::<PyType>()?)
}

/// An exception of the package.
pub(crate) fn raised(py: Python<'_>, class: &str, message: &str) -> PyErr {
    match exception(py, class) {
        Ok(class) => PyErr::from_type(class, (message.to_owned(),)),
        Err(error) => error,
    }
}

/// An error of the host as an exception: the one that a pass or an instrument raised, or one of the package.
pub(crate) fn to_exception(py: Python<'_>, error: &PassError) -> PyErr {
    let cause = error
        .source
        .as_ref()
        .and_then(|cause: &Cause| cause.downcast_ref::<Raised>());
    let last = LAST.take();
    let own = match (cause, last) {
        (Some(Raised(raised)), _) => Some(raised.clone_ref(py)),
        (None, Some((text, raised))) if error.message.contains(&text) => Some(raised),
        _ => None,
    };
    match own {
        Some(raised) => {
            remark(py, &raised, error);
            raised
        }
        None => package_error(py, error).unwrap_or_else(|failed| failed),
    }
}

/// An error of the host as an instrument sees it: it goes on its way.
pub(crate) fn seen(py: Python<'_>, error: &PassError) -> PyErr {
    let last = LAST.with_borrow(|last| {
        last.as_ref()
            .map(|(text, raised)| (text.clone(), raised.clone_ref(py)))
    });
    let seen = to_exception(py, error);
    LAST.set(last);
    seen
}

/// Asks Python whether somebody wants the run to end: Ctrl-C.
pub(crate) fn interrupted() -> Option<PassError> {
    Python::attach(|py| {
        let raised = py.check_signals().err()?;
        Some(as_pass_error(py, passdock::ErrorKind::Failed, raised))
    })
}

/// Notes on an exception where the host was: Python shows it below the traceback.
fn remark(py: Python<'_>, raised: &PyErr, error: &PassError) {
    let Some(pass) = &error.pass else { return };
    let mut said = format!("Error in pass {pass}");
    if let Some(function) = &error.function {
        said.push_str(&format!(", function @{function}"));
    }
    if let Some(op) = &error.op {
        said.push_str(&format!(", {op}"));
    }
    let known = raised.value(py).getattr("__notes__");
    let is_known = known.is_ok_and(|notes| notes.contains(&said).unwrap_or(false));
    if !is_known {
        // An exception that takes no notes goes out without.
        let _ = raised.value(py).call_method1("add_note", (said,));
    }
    for note in &error.notes {
        let _ = raised.value(py).call_method1("add_note", (note,));
    }
}

fn package_error(py: Python<'_>, error: &PassError) -> PyResult<PyErr> {
    let class = exception(py, class_of(error))?;
    let fields = PyDict::new(py);
    let diagnostic = error.to_diagnostic();
    fields.set_item("code", error.kind.code())?;
    fields.set_item("exit_status", error.exit_status())?;
    fields.set_item("pass_name", &error.pass)?;
    fields.set_item(
        "plugin",
        error.plugin.as_ref().map(|plugin| plugin.plugin.clone()),
    )?;
    fields.set_item("function", &error.function)?;
    fields.set_item("op_name", &error.op)?;
    fields.set_item("location", &error.location)?;
    fields.set_item("help", &error.help)?;
    fields.set_item("notes", &error.notes)?;
    fields.set_item("rendered", diagnostic.render(false))?;
    Ok(PyErr::from_value(
        class.call((error.to_string(),), Some(&fields))?,
    ))
}

/// The class of an error of the host: that of `passdock.errors`.
fn class_of(error: &PassError) -> &'static str {
    use passdock::ErrorKind as Kind;
    match error.kind {
        Kind::UnknownPass | Kind::UnknownInstrument => "UnknownNameError",
        Kind::Name | Kind::Duplicate | Kind::Usage => "UsageError",
        Kind::Config => "ConfigError",
        Kind::Pipeline | Kind::Rules => "PipelineError",
        Kind::Plugin => "PluginError",
        Kind::Diagnostics => "DiagnosticError",
        Kind::Verify | Kind::Broken => "VerifyError",
        Kind::Read => "ModelError",
        Kind::Context => "ContextError",
        _ => "PassError",
    }
}

/// An error of config as an exception.
pub(crate) fn config_error(py: Python<'_>, error: ConfigError) -> PyErr {
    to_exception(py, &PassError::from(error))
}

/// A refused edit as an exception.
pub(crate) fn edit_error(py: Python<'_>, error: &EditError) -> PyErr {
    raised(py, "EditError", &passdock_sentence(&error.message))
}

fn passdock_sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Something that isn't there any more, as an exception.
pub(crate) fn gone(gone: Gone, what: &str) -> PyErr {
    match gone {
        Gone::Over => PyRuntimeError::new_err(format!(
            "The pass that this {what} was given to has ended; look at the module that came out of it."
        )),
        Gone::Elsewhere => PyRuntimeError::new_err(format!(
            "This {what} belongs to the thread that its pass runs on."
        )),
        Gone::Busy => PyRuntimeError::new_err(format!(
            "This {what} is being rewritten; the code of a rule looks at it by `match.function`."
        )),
        Gone::ReadOnly => PyValueError::new_err(format!(
            "This {what} is there to be read; passes edit the one that they are given."
        )),
    }
}
