//! Converting errors of the host to Python exceptions, and passing Python exceptions through the host.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use passdock::config::ConfigError;
use passdock::ir::EditFailure;
use passdock::sdk::EditError;
use passdock::{Cause, ErrorKind, PassError, terminal};
use pyo3::exceptions::{PyBaseException, PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::crossing::gil;
use crate::crossing::terms::in_python;

/// The exception that a function of this module raises: a Python exception, or a converted error of the host.
pub(crate) struct Exception(PyErr);

/// The result of a function called by Python.
pub(crate) type Result<T = (), E = Exception> = std::result::Result<T, E>;

impl From<Exception> for PyErr {
    fn from(exception: Exception) -> PyErr {
        exception.0
    }
}

impl From<PyErr> for Exception {
    fn from(raised: PyErr) -> Exception {
        Exception(raised)
    }
}

impl From<PassError> for Exception {
    fn from(error: PassError) -> Exception {
        Exception(gil::attach(|py| to_exception(py, &error)))
    }
}

impl From<ConfigError> for Exception {
    fn from(error: ConfigError) -> Exception {
        PassError::from(error).into()
    }
}

impl From<EditError> for Exception {
    fn from(failure: EditError) -> Exception {
        Exception(edit_error(&failure.message))
    }
}

impl From<EditFailure> for Exception {
    fn from(failure: EditFailure) -> Exception {
        Exception(edit_error(&failure.message))
    }
}

impl From<serde_json::Error> for Exception {
    fn from(invalid: serde_json::Error) -> Exception {
        Exception(PyValueError::new_err(invalid.to_string()))
    }
}

/// Converts a rejected edit to an exception.
pub(crate) fn edit_error(message: &str) -> PyErr {
    gil::attach(|py| raised(py, "EditError", message))
}

/// A Python exception as the cause of an error of the host.
#[derive(Debug)]
struct Raised(PyErr);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&gil::attach(|py| describe(py, &self.0)))
    }
}

impl Error for Raised {}

thread_local! {
    /// The last exception that a pass on this thread raised, and its text as passed to the host: for the host, an
    /// error of a pass is only a message.
    static LAST: RefCell<Option<(String, PyErr)>> = const { RefCell::new(None) };
}

thread_local! {
    /// The exception of an observer of a run on this thread: the run ends before its next pass.
    static STOP: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Ends the run on this thread with an exception before its next pass.
pub(crate) fn stop_with(raised: PyErr) {
    STOP.set(Some(raised));
}

/// Takes the exception that the run on this thread ends with.
pub(crate) fn pending_stop() -> Option<PyErr> {
    STOP.take()
}

/// Formats an exception: `ValueError: no such axis`.
pub(crate) fn describe(py: Python<'_>, error: &PyErr) -> String {
    let kind = error.get_type(py);
    let kind = kind
        .name()
        .map_or_else(|_| "exception".to_owned(), |name| name.to_string());
    // If `str` fails, only the class is shown.
    let text = error.value(py).str();
    let text = text.map_or_else(
        |_| String::new(),
        |text| text.to_string_lossy().into_owned(),
    );
    match text.is_empty() {
        true => kind,
        false => format!("{kind}: {text}"),
    }
}

/// Formats an exception for the host, with the source line of the pass, rule or instrument.
fn describe_with_line(py: Python<'_>, error: &PyErr) -> String {
    let text = describe(py, error);
    match line(py, error) {
        Some(line) => format!("{text} ({line})"),
        None => text,
    }
}

/// Returns the line of the program's code in an exception's traceback, `passes.py:24`.
fn line(py: Python<'_>, error: &PyErr) -> Option<String> {
    let raised = with_traceback(py, error);
    let line = errors(py).and_then(|errors| errors.call_method1("_line", (raised,)));
    line.ok()?.extract().ok()?
}

/// Returns an exception with its traceback, which `PyErr::value` omits before Python 3.12.
fn with_traceback(py: Python<'_>, error: &PyErr) -> Py<PyBaseException> {
    error.clone_ref(py).into_value(py)
}

/// Clears the exception of an earlier pass on this thread, before another pass begins.
pub(crate) fn forget() {
    drop(LAST.take());
}

/// Stores the exception of a pass, so that the same object is raised again after the host returns. Returns its text for
/// the host.
pub(crate) fn keep(py: Python<'_>, error: PyErr) -> String {
    let text = describe_with_line(py, &error);
    LAST.set(Some((text.clone(), error)));
    text
}

/// Converts an exception of a rule's code to the failure of its rewrite.
pub(crate) fn as_edit_failure(py: Python<'_>, error: PyErr) -> EditError {
    EditError::failed(keep(py, error))
}

/// Converts the failure of a nested pass to the exception that was raised there, or to one of the package.
pub(crate) fn inner_failed(py: Python<'_>, error: &passdock::sdk::PassError) -> PyErr {
    match LAST.take() {
        Some((text, raised)) => match error.message.split_once(&text) {
            Some((place, _)) => {
                note(py, &raised, place.trim_end_matches(": "));
                raised
            }
            None => self::raised(py, "PassError", &in_python(&error.message)),
        },
        None => raised(py, "PassError", &in_python(&error.message)),
    }
}

/// Adds a note to an exception, unless it already has the same note.
fn note(py: Python<'_>, raised: &PyErr, note: &str) {
    // If the exception doesn't support notes, it is raised without.
    let Ok(errors) = errors(py) else { return };
    let _ = errors.call_method1("_note", (raised.value(py), note));
}

/// Converts an exception of an instrument to its error. The same object is raised again after the host returns.
pub(crate) fn as_cause(error: PyErr) -> Box<dyn Error + Send + Sync> {
    // A pass that runs other passes receives only the text.
    let described = gil::attach(|py| (describe(py, &error), error.clone_ref(py)));
    LAST.set(Some(described));
    Box::new(Raised(error))
}

/// Converts an exception of the program's code to an error of the host.
pub(crate) fn as_pass_error(py: Python<'_>, kind: passdock::ErrorKind, error: PyErr) -> PassError {
    let message = describe(py, &error);
    PassError::new(kind, message).caused_by(Arc::new(Raised(error)))
}

/// Returns the module with the package's exceptions.
fn errors(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let import = || py.import("passdock.errors").map(Bound::unbind);
    Ok(MODULE.get_or_try_init(py, import)?.bind(py).clone())
}

fn exception<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(errors(py)?.getattr(name)?.cast_into::<PyType>()?)
}

/// Creates an exception of the package.
pub(crate) fn raised(py: Python<'_>, class: &str, message: &str) -> PyErr {
    match exception(py, class) {
        Ok(class) => PyErr::from_type(class, (terminal::safe(message).into_owned(),)),
        Err(error) => error,
    }
}

/// Returns the exception that caused an error of the host, raised by a pass, an instrument or the program. `last` is
/// the exception of the last pass.
fn causing_exception(
    py: Python<'_>,
    error: &PassError,
    last: Option<&(String, PyErr)>,
) -> Option<PyErr> {
    let cause = error
        .source
        .as_ref()
        .and_then(|cause: &Cause| cause.downcast_ref::<Raised>());
    let is_reported = |text: &str, raised: &PyErr| match error.kind {
        // The diagnostics have been emitted, and the error doesn't repeat them.
        ErrorKind::Diagnostics => {
            exception(py, "DiagnosticError").is_ok_and(|class| raised.is_instance(py, &class))
        }
        _ => error.message.contains(text),
    };
    match (cause, last) {
        (Some(Raised(raised)), _) => Some(raised.clone_ref(py)),
        (None, Some((text, raised))) if is_reported(text, raised) => Some(raised.clone_ref(py)),
        _ => None,
    }
}

/// Whether an error is a failure, and not a request to end the run: Ctrl-C, or the exception of an observer.
pub(crate) fn is_failure(error: &PassError) -> bool {
    gil::attach(|py| {
        let raised = LAST.with_borrow(|last| causing_exception(py, error, last.as_ref()));
        let is_request = raised.is_some_and(|raised| !raised.is_instance_of::<PyException>(py));
        !is_request && STOP.with_borrow(Option::is_none)
    })
}

/// Converts an error of the host to an exception: the one that a pass or an instrument raised, or one of the package.
pub(crate) fn to_exception(py: Python<'_>, error: &PassError) -> PyErr {
    match causing_exception(py, error, LAST.take().as_ref()) {
        Some(raised) => {
            remark(py, &raised, error);
            raised
        }
        None => package_error(py, error).unwrap_or_else(|failed| failed),
    }
}

/// Shows an error of the host to an instrument, and restores the last exception afterwards, since the instrument may
/// run passes.
pub(crate) fn show<R>(py: Python<'_>, error: &PassError, body: impl FnOnce(PyErr) -> R) -> R {
    let last = LAST.take();
    let shown = last.as_ref();
    LAST.set(shown.map(|(text, raised)| (text.clone(), raised.clone_ref(py))));
    let output = body(to_exception(py, error));
    LAST.set(last);
    output
}

/// Returns an error if the run has to end: after Ctrl-C, or an exception of an observer.
pub(crate) fn interrupted() -> Option<PassError> {
    gil::attach(|py| {
        let stop = STOP.with_borrow(|stop| stop.as_ref().map(|raised| raised.clone_ref(py)));
        let raised = match stop {
            Some(raised) => raised,
            None => py.check_signals().err()?,
        };
        Some(as_pass_error(py, passdock::ErrorKind::Failed, raised))
    })
}

/// Adds the location in the host and the host's notes to an exception. Python prints them below the traceback.
fn remark(py: Python<'_>, raised: &PyErr, error: &PassError) {
    let location = (&error.pass, &error.function, &error.op, &error.location);
    let Ok(errors) = errors(py) else { return };
    let raised = with_traceback(py, raised);
    // If the exception doesn't support notes, it is raised without.
    let _ = errors.call_method1("_remark", (raised, location, &error.notes));
}

fn package_error(py: Python<'_>, error: &PassError) -> PyResult<PyErr> {
    let class = exception(py, class_of(error))?;
    let fields = PyDict::new(py);
    let diagnostic = error.to_diagnostic();
    fields.set_item("code", error.kind.code())?;
    fields.set_item("exit_status", error.exit_status())?;
    fields.set_item("pass_name", &error.pass)?;
    fields.set_item("plugin", &error.plugin)?;
    fields.set_item("function", &error.function)?;
    fields.set_item("op_name", &error.op)?;
    fields.set_item("location", &error.location)?;
    let notes: Vec<String> = error.notes.iter().map(|note| in_python(note)).collect();
    fields.set_item("help", error.help.as_deref().map(in_python))?;
    fields.set_item("notes", notes)?;
    fields.set_item("rendered", in_python(&diagnostic.render(false)))?;
    let message = in_python(&error.to_string());
    Ok(PyErr::from_value(class.call((message,), Some(&fields))?))
}

/// Returns the class in `passdock.errors` for an error of the host.
fn class_of(error: &PassError) -> &'static str {
    use passdock::ErrorKind as Kind;
    match error.kind {
        Kind::UnknownPass | Kind::UnknownInstrument => "UnknownNameError",
        Kind::Name | Kind::Duplicate | Kind::Usage => "UsageError",
        Kind::Config => "ConfigError",
        Kind::Pipeline | Kind::Rules => "PipelineError",
        Kind::Plugin | Kind::Lock | Kind::Signature => "PluginError",
        Kind::Diagnostics => "DiagnosticError",
        Kind::Verify | Kind::Broken => "VerifyError",
        Kind::Read => "ModelError",
        Kind::Context => "ContextError",
        _ => "PassError",
    }
}

/// Creates the error for an argument of the wrong type; `what` describes the expected type.
pub(crate) fn type_error(what: &str, given: &Bound<'_, PyAny>) -> PyErr {
    match given.get_type().name() {
        Ok(kind) => PyTypeError::new_err(format!("{what}, not {kind}")),
        Err(error) => error,
    }
}

/// Returns the escaped result of `repr`, or a placeholder for an erased entity.
pub(crate) fn shown(read: PyResult<String>, what: &str) -> String {
    let text = read.map(|text| terminal::safe_line(&text).into_owned());
    text.unwrap_or_else(|_| format!("<passdock.{what} (no longer valid)>"))
}

/// Creates the error for an edit of a read-only object.
pub(crate) fn read_only(noun: &str) -> PyErr {
    let message = format!("the {noun} is read-only; edit the one that the pass received");
    gil::attach(|py| raised(py, "EditError", &message))
}
