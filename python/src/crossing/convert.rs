//! Converting option values, config values and JSON between Python and the host.

use passdock::config::ConfigValue;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use pythonize::pythonize;
use serde::Serialize;

use crate::crossing::error;

/// A copy of a dict, or of an object with the methods of a mapping.
pub(crate) struct Mapping<'py>(pub(crate) Bound<'py, PyDict>);

impl<'py> FromPyObject<'_, 'py> for Mapping<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Mapping<'py>> {
        if let Ok(dict) = object.cast::<PyDict>() {
            return Ok(Mapping(dict.to_owned()));
        }
        let mapping = object.cast::<PyMapping>()?;
        let dict = PyDict::new(object.py());
        dict.update(&mapping)?;
        Ok(Mapping(dict))
    }
}

/// Converts a NumPy scalar to a Python number; other objects are returned unchanged.
pub(crate) fn plain<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // A fast path for the most frequent types.
    if object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyString>()
    {
        return Ok(object.clone());
    }
    match object.getattr("shape").and_then(|shape| shape.len()) {
        Ok(0) if object.hasattr("item")? => object.call_method0("item"),
        _ => Ok(object.clone()),
    }
}

/// Converts a value to TOML.
pub(crate) fn to_toml(object: &Bound<'_, PyAny>) -> PyResult<toml::Value> {
    let object = &plain(object)?;
    if let Ok(object) = object.cast::<PyBool>() {
        return Ok(toml::Value::Boolean(object.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(toml::Value::Integer(object.extract()?));
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(toml::Value::Float(object.extract()?));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(toml::Value::String(object.extract()?));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items = object.try_iter()?.map(|item| to_toml(&item?));
        return Ok(toml::Value::Array(items.collect::<PyResult<_>>()?));
    }
    // Checked last: the test for mappings needs Python's library, which is unavailable during shutdown.
    if let Ok(object) = object.extract::<Mapping<'_>>() {
        return to_table(&object.0).map(toml::Value::Table);
    }
    if let Ok(path) = object.call_method0("__fspath__") {
        return to_toml(&path);
    }
    let what = "an option must be a bool, an int, a float, a string, a list or a dict";
    Err(error::type_error(what, object))
}

/// Converts a dict to a TOML table.
pub(crate) fn to_table(object: &Bound<'_, PyDict>) -> PyResult<toml::Table> {
    let entries = object.iter();
    let entries = entries.map(|(name, value)| Ok((name.extract()?, to_toml(&value)?)));
    entries.collect()
}

/// Converts the options of a pass or an instrument to a TOML table.
pub(crate) fn to_options(given: Option<&Bound<'_, PyDict>>) -> PyResult<toml::Table> {
    given.map_or_else(|| Ok(toml::Table::new()), to_table)
}

/// Converts the value of a config key: a scalar to itself, others to a dict.
pub(crate) fn from_config<'py>(
    py: Python<'py>,
    value: &ConfigValue,
) -> PyResult<Bound<'py, PyAny>> {
    match value.get("") {
        Some(scalar) => to_python(py, scalar),
        None => to_python(py, value),
    }
}

/// Converts serializable data to Python objects.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    value: &impl Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(pythonize(py, value)?)
}

/// Converts a string to `str`, or to `bytes` if it isn't UTF-8.
pub(crate) fn string<'py>(py: Python<'py>, text: &[u8]) -> Bound<'py, PyAny> {
    match std::str::from_utf8(text) {
        Ok(text) => PyString::new(py, text).into_any(),
        Err(_) => PyBytes::new(py, text).into_any(),
    }
}
