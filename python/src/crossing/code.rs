//! What of Python the host calls later: a pass, the code of a rule, a renderer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

/// Code of Python's that closures of the host hold. Python's collector takes it from the object that shows it, if
/// nothing but itself leads to that.
pub(crate) struct Code(Mutex<Option<Py<PyAny>>>);

impl Code {
    pub(crate) fn new(code: Py<PyAny>) -> Code {
        Code(Mutex::new(Some(code)))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The code, to be called.
    pub(crate) fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let code = self.lock().as_ref().map(|code| code.clone_ref(py));
        let taken = || PyRuntimeError::new_err("the code was taken by Python's collector");
        Ok(code.ok_or_else(taken)?.into_bound(py))
    }

    /// Shows it to Python's collector: for the one object that has it.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.0.try_lock() {
            Ok(code) => code.iter().try_for_each(|code| visit.call(code)),
            Err(_) => Ok(()),
        }
    }

    /// Takes it.
    pub(crate) fn clear(&self) {
        let taken = self.lock().take();
        drop(taken);
    }
}
