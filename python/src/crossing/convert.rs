//! Values of options and config, and JSON, in and out of Python.

use std::collections::BTreeMap;

use passdock::config::FieldValue;
use passdock::sdk::AttrValue;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::Value as Json;

/// A dict, or what is one by its methods: a copy.
pub(crate) struct Mapping<'py>(pub(crate) Bound<'py, PyDict>);

impl<'py> FromPyObject<'_, 'py> for Mapping<'py> {
    type Error = PyErr;

    fn extract(said: Borrowed<'_, 'py, PyAny>) -> PyResult<Mapping<'py>> {
        if let Ok(dict) = said.cast::<PyDict>() {
            return Ok(Mapping(dict.to_owned()));
        }
        let mapping = said.cast::<PyMapping>()?;
        let dict = PyDict::new(said.py());
        dict.update(&mapping)?;
        Ok(Mapping(dict))
    }
}

/// A scalar of NumPy's as Python's own number; anything else as it is.
pub(crate) fn plain<'py>(said: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // Most are, and needn't be asked.
    if said.is_exact_instance_of::<PyFloat>()
        || said.is_exact_instance_of::<PyInt>()
        || said.is_exact_instance_of::<PyString>()
    {
        return Ok(said.clone());
    }
    match said.getattr("shape").and_then(|shape| shape.len()) {
        Ok(0) if said.hasattr("item")? => said.call_method0("item"),
        _ => Ok(said.clone()),
    }
}

/// A value as TOML.
pub(crate) fn to_toml(said: &Bound<'_, PyAny>) -> PyResult<toml::Value> {
    let said = &plain(said)?;
    if let Ok(said) = said.cast::<PyBool>() {
        return Ok(toml::Value::Boolean(said.is_true()));
    }
    if said.is_instance_of::<PyInt>() {
        return Ok(toml::Value::Integer(said.extract()?));
    }
    if said.is_instance_of::<PyFloat>() {
        return Ok(toml::Value::Float(said.extract()?));
    }
    if said.is_instance_of::<PyString>() {
        return Ok(toml::Value::String(said.extract()?));
    }
    if said.is_instance_of::<PyList>() || said.is_instance_of::<PyTuple>() {
        let items = said.try_iter()?.map(|item| to_toml(&item?));
        return Ok(toml::Value::Array(items.collect::<PyResult<_>>()?));
    }
    // Behind the others: what a mapping is, Python's library is asked, which isn't there at the very end of a program.
    if let Ok(said) = said.extract::<Mapping<'_>>() {
        return to_table(&said.0).map(toml::Value::Table);
    }
    if let Ok(path) = said.call_method0("__fspath__") {
        return to_toml(&path);
    }
    let kind = said.get_type();
    Err(PyTypeError::new_err(format!(
        "an option is a bool, an int, a float, a text, a list or a dict, not {}",
        kind.name()?
    )))
}

/// A dict as a table of TOML.
pub(crate) fn to_table(said: &Bound<'_, PyDict>) -> PyResult<toml::Table> {
    let mut table = toml::Table::new();
    for (name, value) in said {
        let name: String = name.extract()?;
        table.insert(name, to_toml(&value)?);
    }
    Ok(table)
}

/// A value of TOML as an object.
pub(crate) fn from_toml<'py>(py: Python<'py>, value: &toml::Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        toml::Value::Boolean(value) => PyBool::new(py, *value).to_owned().into_any(),
        toml::Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        toml::Value::Float(value) => PyFloat::new(py, *value).into_any(),
        toml::Value::String(value) => PyString::new(py, value).into_any(),
        toml::Value::Datetime(value) => PyString::new(py, &value.to_string()).into_any(),
        toml::Value::Array(items) => {
            let items = items.iter().map(|item| from_toml(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        toml::Value::Table(table) => {
            let dict = PyDict::new(py);
            for (name, value) in table {
                dict.set_item(name, from_toml(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// The value of a config key: that of a scalar by itself, others as a dict.
pub(crate) fn from_config<'py>(
    py: Python<'py>,
    value: &BTreeMap<String, FieldValue>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(scalar) = value.get("") {
        return from_field(py, scalar);
    }
    let dict = PyDict::new(py);
    for (name, field) in value {
        dict.set_item(name, from_field(py, field)?)?;
    }
    Ok(dict.into_any())
}

pub(crate) fn from_field<'py>(py: Python<'py>, value: &FieldValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        FieldValue::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        FieldValue::Int(value) => value.into_pyobject(py)?.into_any(),
        FieldValue::Float(value) => PyFloat::new(py, *value).into_any(),
        FieldValue::String(value) => PyString::new(py, value).into_any(),
        FieldValue::Strings(texts) => PyList::new(py, texts)?.into_any(),
        FieldValue::Ints(ints) => ints.into_pyobject(py)?.into_any(),
        FieldValue::Values(values) => {
            let dict = PyDict::new(py);
            for (name, value) in values {
                dict.set_item(name, from_toml(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// A value of JSON as an object.
pub(crate) fn from_json<'py>(py: Python<'py>, value: &Json) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Json::Null => py.None().into_bound(py),
        Json::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => value.into_pyobject(py)?.into_any(),
            (None, Some(value)) => value.into_pyobject(py)?.into_any(),
            _ => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Json::String(value) => PyString::new(py, value).into_any(),
        Json::Array(items) => {
            let items = items.iter().map(|item| from_json(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Json::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, value) in fields {
                dict.set_item(name, from_json(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// The value of an attribute that is in no function.
pub(crate) fn from_attr<'py>(py: Python<'py>, value: &AttrValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        AttrValue::Int(value) => value.into_pyobject(py)?.into_any(),
        AttrValue::Float(value) => PyFloat::new(py, f64::from(*value)).into_any(),
        AttrValue::String(text) => match std::str::from_utf8(text) {
            Ok(text) => PyString::new(py, text).into_any(),
            Err(_) => PyBytes::new(py, text).into_any(),
        },
        AttrValue::Ints(values) => PyList::new(py, values)?.into_any(),
        AttrValue::Floats(values) => PyList::new(py, values)?.into_any(),
        AttrValue::Strings(texts) => PyList::new(
            py,
            texts
                .iter()
                .map(|text| String::from_utf8_lossy(text).into_owned()),
        )?
        .into_any(),
        _ => py.None().into_bound(py),
    })
}
