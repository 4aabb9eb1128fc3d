//! `PassInfo`: what a pass says about itself.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyString, PyTuple};

use crate::crossing::convert;
use crate::crossing::error;

/// What a pass says about itself: its level, its name, and the passes that must have run before it.
///
/// opt_level: the lowest ``PassContext.opt_level`` at which a Sequential runs it, 0 or more. required: names of
/// passes. Two are equal if their fields are.
#[pyclass(frozen, module = "passdock", eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PassInfo {
    /// The pass's name.
    #[pyo3(get)]
    name: String,
    /// The lowest ``PassContext.opt_level`` at which a Sequential runs the pass.
    #[pyo3(get)]
    opt_level: u32,
    required: Vec<String>,
}

impl PassInfo {
    /// The info of a pass of the host.
    pub(crate) fn of(info: &passdock::PassInfo) -> PassInfo {
        PassInfo {
            name: info.name.clone(),
            opt_level: info.opt_level,
            required: info.required.clone(),
        }
    }

    /// The info as the host has it.
    pub(crate) fn to_host(&self) -> passdock::PassInfo {
        passdock::PassInfo::new(&self.name)
            .opt_level(self.opt_level)
            .required(&self.required)
    }
}

/// An opt level: an int, 0 or more, and no bool.
pub(crate) fn level(said: &Bound<'_, PyAny>) -> PyResult<u32> {
    let said = &convert::plain(said)?;
    if said.is_instance_of::<PyBool>() || !said.is_instance_of::<PyInt>() {
        return Err(error::wrong_type("opt_level is an int", said));
    }
    said.extract()
        .map_err(|_| PyValueError::new_err(format!("opt_level is an int from 0 on, not {said}")))
}

/// Names of passes: a list, a tuple or a set of texts, or None.
pub(crate) fn names(what: &str, said: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(said) = said.filter(|said| !said.is_none()) else {
        return Ok(Vec::new());
    };
    if let Ok(text) = said.cast::<PyString>() {
        return Err(PyTypeError::new_err(format!(
            "{what}: expected a list of names, got a string; did you mean [{}]?",
            text.repr()?
        )));
    }
    let wrong = |said: &Bound<'_, PyAny>| {
        let kind = said.get_type().name().map(|name| name.to_string());
        let kind = kind.unwrap_or_else(|_| "that".to_owned());
        PyTypeError::new_err(format!("{what}: expected a list of names, got {kind}"))
    };
    let names = said.try_iter().map_err(|_| wrong(said))?;
    let names = names.map(|name| {
        let name = name?;
        name.extract::<String>().map_err(|_| wrong(&name))
    });
    names.collect()
}

/// What an info is made of anew.
type Parts = (u32, String, Vec<String>);

#[pymethods]
impl PassInfo {
    #[new]
    #[pyo3(signature = (opt_level, name, required = None))]
    fn new(
        opt_level: &Bound<'_, PyAny>,
        name: String,
        required: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PassInfo> {
        if name.trim() != name || name.is_empty() {
            return Err(PyValueError::new_err(format!(
                "a pass can't be called {name:?}: a name isn't empty, and has no blanks at its ends"
            )));
        }
        let is_list = |said: &Bound<'_, PyAny>| {
            said.is_none() || said.is_instance_of::<PyList>() || said.is_instance_of::<PyTuple>()
        };
        if required.is_some_and(|said| !is_list(said) && !said.is_instance_of::<PyString>()) {
            return Err(PyTypeError::new_err(
                "Required is expected to be the type of list/tuple: its order is that in which they run.",
            ));
        }
        Ok(PassInfo {
            name,
            opt_level: level(opt_level)?,
            required: names("required", required)?,
        })
    }

    /// The names of the passes that must have run before it.
    #[getter]
    fn required<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.required)
    }

    fn __str__(&self) -> String {
        self.to_host().to_string()
    }

    /// As TVM prints it.
    fn __repr__(&self) -> String {
        let (opt_level, name) = (self.opt_level, &self.name);
        let required = format!("{:?}", self.required);
        let comma = if self.required.len() == 1 { "," } else { "" };
        let required = required.trim_start_matches('[').trim_end_matches(']');
        format!(
            "transform.PassInfo(opt_level={opt_level}, name={name:?}, required=({required}{comma}))"
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Parts)> {
        let own = slf.get();
        let parts = (own.opt_level, own.name.clone(), own.required.clone());
        Ok((slf.get_type().into_any(), parts))
    }
}
