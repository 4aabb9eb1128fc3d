//! Config: the registered keys, and the values of a context.

use passdock::PassContext;
use passdock::config::{KEYS_OF_TVM, Schema};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::crossing::convert;
use crate::crossing::error::Result;
use crate::crossing::gil;

/// Lists the registered keys, and TVM's aliases for them.
pub(crate) fn list(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let config = py.import("passdock._config")?;
    let configs = passdock::list_configs().into_iter().map(|config| {
        let defaults = convert::from_config(py, &config.schema.defaults())?;
        Ok((
            convert::to_python(py, &config.schema)?,
            config.plugin,
            defaults,
        ))
    });
    let configs = configs.collect::<PyResult<Vec<_>>>()?;
    config.call_method1("listed", (configs, KEYS_OF_TVM.to_vec()))
}

/// Returns the values that a context was given.
pub(crate) fn given<'py>(py: Python<'py>, context: &PassContext) -> PyResult<Bound<'py, PyAny>> {
    let given = PyDict::new(py);
    for (key, value) in &context.settings().config {
        let value = convert::to_python(py, value)?;
        match context.registry().config_schema(key) {
            Ok(schema) => given.set_item(&schema.key, with_fields(&schema, value)?)?,
            Err(_) => given.set_item(key, value)?,
        }
    }
    let config = py.import("passdock._config")?;
    gil::call(&config.getattr("Config")?, (given,))
}

/// Returns the value of a key: the one that the context was given, or the default.
pub(crate) fn value<'py>(
    py: Python<'py>,
    context: &PassContext,
    key: &str,
) -> Result<Bound<'py, PyAny>> {
    let schema = context.registry().config_schema(key)?;
    let given = context.config(key).cloned();
    let value = given.unwrap_or_else(|| schema.defaults());
    Ok(with_fields(&schema, convert::from_config(py, &value)?)?)
}

/// Returns the value of a config key, with its fields as attributes.
fn with_fields<'py>(schema: &Schema, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if matches!(&schema.fields[..], [field] if field.name.is_empty()) {
        return Ok(value);
    }
    let config = value.py().import("passdock._config")?;
    let fields = gil::call(&config.getattr("Fields")?, (value,))?;
    fields.setattr("_key", &schema.key)?;
    Ok(fields)
}
