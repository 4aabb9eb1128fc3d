//! Python code that the host calls: passes, code of rules, renderers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

/// Python code held by closures of the host. Python's garbage collector takes it from the object that reports it, if
/// that object is part of unreachable garbage.
pub(crate) struct Code(Mutex<Option<Py<PyAny>>>);

impl Code {
    pub(crate) fn new(code: Py<PyAny>) -> Code {
        Code(Mutex::new(Some(code)))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the code for a call.
    pub(crate) fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let code = self.lock().as_ref().map(|code| code.clone_ref(py));
        let freed = || PyRuntimeError::new_err("the code was freed by Python's garbage collector");
        Ok(code.ok_or_else(freed)?.into_bound(py))
    }

    /// Reports the code to Python's garbage collector; only one object may do so.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.0.try_lock() {
            Ok(code) => code.iter().try_for_each(|code| visit.call(code)),
            Err(_) => Ok(()),
        }
    }

    /// Drops the code.
    pub(crate) fn clear(&self) {
        let freed = self.lock().take();
        drop(freed);
    }
}
