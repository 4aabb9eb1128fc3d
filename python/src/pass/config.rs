//! Config: the keys that are registered, and the values of a context.

use passdock::PassContext;
use passdock::config::{FieldValue, KEYS_OF_TVM, Schema};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::crossing::convert;
use crate::crossing::error;
use crate::crossing::gil;

/// The keys that are registered, and TVM's keys for them.
pub(crate) fn list(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for config in passdock::list_configs() {
        let entry = PyDict::new(py);
        let single = match config.schema.fields.as_slice() {
            [field] if field.name.is_empty() => Some(field),
            _ => None,
        };
        entry.set_item("doc", &config.schema.doc)?;
        entry.set_item("plugin", &config.plugin)?;
        let fields = serde_json::to_value(&config.schema.fields);
        let fields = fields.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let ty = single.map_or("dict", |_| fields[0]["type"].as_str().unwrap_or("value"));
        entry.set_item("type", ty)?;
        let default = convert::from_config(py, &config.schema.defaults())?;
        entry.set_item("default", default)?;
        let fields = convert::from_json(py, &fields)?;
        for (at, field) in config.schema.fields.iter().enumerate() {
            // JSON has no infinity.
            if let FieldValue::Float(_) = field.default {
                let default = convert::from_field(py, &field.default)?;
                fields.get_item(at)?.set_item("default", default)?;
            }
        }
        entry.set_item("fields", fields)?;
        all.set_item(&config.schema.key, entry)?;
    }
    for (alias, own) in KEYS_OF_TVM {
        if let Some(entry) = all.get_item(own)? {
            let entry = entry.cast_into::<PyDict>()?.copy()?;
            entry.set_item("alias_of", own)?;
            all.set_item(alias, entry)?;
        }
    }
    Ok(all)
}

/// The values that a context was given.
pub(crate) fn given<'py>(py: Python<'py>, context: &PassContext) -> PyResult<Bound<'py, PyAny>> {
    let given = PyDict::new(py);
    for (key, value) in &context.settings().config {
        let value = convert::from_toml(py, value)?;
        match context.registry().config_schema(key) {
            Ok(schema) => given.set_item(&schema.key, with_fields(&schema, value)?)?,
            Err(_) => given.set_item(key, value)?,
        }
    }
    let config = py.import("passdock._config")?;
    gil::call(&config.getattr("Config")?, (given,))
}

/// The value of a key: what the context was given, or the default.
pub(crate) fn value<'py>(
    py: Python<'py>,
    context: &PassContext,
    key: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let schema = context.registry().config_schema(key);
    let schema = schema.map_err(|error| error::config_error(py, error))?;
    let value = context
        .config(key)
        .cloned()
        .unwrap_or_else(|| schema.defaults());
    with_fields(&schema, convert::from_config(py, &value)?)
}

/// The value of a config key, whose fields are attributes, too.
fn with_fields<'py>(schema: &Schema, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match schema.fields.as_slice() {
        [field] if field.name.is_empty() => Ok(value),
        _ => {
            let config = value.py().import("passdock._config")?;
            let fields = gil::call(&config.getattr("Fields")?, (value,))?;
            fields.setattr("_key", &schema.key)?;
            Ok(fields)
        }
    }
}
