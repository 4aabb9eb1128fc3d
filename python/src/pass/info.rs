//! Converting `passdock.PassInfo`, the metadata of a pass.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

/// The fields of a `passdock.PassInfo`.
#[derive(FromPyObject)]
pub(crate) struct PassInfoFields {
    opt_level: u32,
    name: String,
    required: Vec<String>,
}

impl PassInfoFields {
    /// Returns the info for the host.
    pub(crate) fn to_host(&self) -> passdock::PassInfo {
        passdock::PassInfo::new(&self.name)
            .opt_level(self.opt_level)
            .required(&self.required)
    }
}

/// Creates a `passdock.PassInfo`.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    info: &passdock::PassInfo,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "passdock._info", "PassInfo")?;
    let required = PyTuple::new(py, &info.required)?;
    class.call1((info.opt_level, &info.name, required))
}

/// Checks an opt level: a nonnegative int, and not a bool.
pub(crate) fn level(level: &Bound<'_, PyAny>) -> PyResult<u32> {
    let checks = level.py().import("passdock._checks")?;
    checks.call_method1("_check_int", ("opt_level", level))?;
    level.extract()
}

/// Checks the names of passes in an option: a collection of strings, or None.
pub(crate) fn names(
    py: Python<'_>,
    option: &str,
    names: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<String>> {
    let checks = py.import("passdock._checks")?;
    checks.call_method1("_listed", (option, names))?.extract()
}
