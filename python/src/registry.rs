//! The registry: the plugins and passes of the program.

use std::ffi::OsString;
use std::path::PathBuf;

use passdock::config::{Field, FieldType, Schema};
use passdock::plugin::{SearchDir, discover};
use passdock::{LoadOptions, PassError, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::crossing::convert;
use crate::crossing::error::{self, Result};
use crate::crossing::gil;
use crate::pass::handle::PassHandle;

/// Adds a plugin file to the registry. The plugin is loaded when one of its passes is needed.
///
/// Raises PluginError if the file isn't a plugin or can't be used, and UsageError if one of its names is taken.
#[pyfunction]
pub(crate) fn load_plugin(py: Python<'_>, path: PathBuf) -> Result {
    let options = LoadOptions::default();
    Ok(gil::detach(py, || {
        Registry::global().load_plugin(&path, &options)
    })?)
}

/// Adds the plugins of a directory to the registry.
///
/// Raises PluginError if the directory doesn't exist or one of its plugins can't be used.
#[pyfunction]
pub(crate) fn load_dir(py: Python<'_>, path: PathBuf) -> Result {
    let options = LoadOptions::default();
    Ok(gil::detach(py, || {
        Registry::global().load_dir(&path, &options)
    })?)
}

/// Returns the plugin directories that are searched by default, in search order.
#[pyfunction]
pub(crate) fn default_dirs(prefixes: Vec<PathBuf>) -> Vec<OsString> {
    let of_prefixes = prefixes
        .iter()
        .map(|prefix| discover::dir_in_prefix(prefix));
    let dirs = discover::default_dirs(of_prefixes).into_iter();
    dirs.map(PathBuf::into_os_string).collect()
}

/// Adds the plugins of default directories to the registry. Returns the errors of plugins that conflict with others.
#[pyfunction]
pub(crate) fn load_dirs(py: Python<'_>, paths: Vec<PathBuf>) -> Result<Vec<String>> {
    let dirs = paths.into_iter().map(|path| SearchDir {
        path,
        required: false,
        mixed: false,
    });
    let dirs: Vec<SearchDir> = dirs.collect();
    let mut conflicts = Vec::new();
    gil::detach(py, || {
        let on_error = &mut |error: PassError| {
            conflicts.push(error.to_string());
            Ok(())
        };
        Registry::global().load_dirs_with(&dirs, &Default::default(), on_error)
    })?;
    Ok(conflicts)
}

/// Returns the names of the registered passes.
#[pyfunction]
pub(crate) fn list_passes() -> Vec<String> {
    Registry::global().pass_names()
}

/// Returns the version of the host.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Registers a config key.
///
/// Args:
///     default: A dict of field names to defaults, or the default of a key with a single value.
#[pyfunction]
#[pyo3(signature = (key, default, doc = ""))]
pub(crate) fn register_config(
    py: Python<'_>,
    key: &str,
    default: &Bound<'_, PyAny>,
    doc: &str,
) -> Result {
    if key.is_empty() {
        return Err(error::raised(py, "ConfigError", "empty config key").into());
    }
    let fields = match default.cast::<PyDict>() {
        Ok(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| field(&name.extract::<String>()?, &value));
            fields.collect::<PyResult<Vec<_>>>()?
        }
        Err(_) => vec![field("", default)?],
    };
    let mut schema = Schema::new(key, fields);
    doc.clone_into(&mut schema.doc);
    Ok(Registry::global().register_config_schema(schema)?)
}

fn field(name: &str, default: &Bound<'_, PyAny>) -> PyResult<Field> {
    let default = convert::to_toml(default)?;
    let ty = match &default {
        toml::Value::Boolean(_) => FieldType::Bool,
        toml::Value::Integer(_) => FieldType::Int,
        toml::Value::Float(_) => FieldType::Float,
        toml::Value::String(_) => FieldType::String,
        toml::Value::Array(items) if items.iter().all(toml::Value::is_str) => FieldType::Strings,
        toml::Value::Array(_) => {
            return Err(PyValueError::new_err("the items of a list must be strings"));
        }
        toml::Value::Table(_) => FieldType::Values,
        other => {
            return Err(PyValueError::new_err(format!(
                "unsupported default value {other}"
            )));
        }
    };
    Ok(Field {
        default,
        ..Field::new(name, ty)
    })
}

/// Returns the schema of a registered config key.
#[pyfunction]
pub(crate) fn config_schema<'py>(py: Python<'py>, key: &str) -> Result<Bound<'py, PyAny>> {
    let schema = Registry::global().config_schema(key)?;
    Ok(convert::to_python(py, &schema)?)
}

/// Returns the declaration of a registered pass: its options, aliases and phase.
#[pyfunction]
pub(crate) fn declaration<'py>(py: Python<'py>, name: &str) -> Result<Bound<'py, PyAny>> {
    let registry = Registry::global();
    let options = toml::Table::new();
    let pass = gil::detach(py, || registry.get_pass_with_options(name, &options))?;
    let name = &pass.info().name;
    let sequential = || Some(registry.sequential_spec(name)?.1.summary);
    let summary = registry.pass_spec(name).map(|(_, spec)| spec.summary);
    let declared = convert::to_python(py, pass.declaration())?;
    declared.set_item("summary", summary.or_else(sequential).unwrap_or_default())?;
    Ok(declared)
}

/// Returns the full name of the pass that a name or alias refers to; an unknown name is returned unchanged.
#[pyfunction]
pub(crate) fn own_name(name: &str) -> String {
    Registry::global().canonical(name)
}

/// Sets the function that imports the passes of `python` entries. It receives `package.module:name` and whether the
/// pipeline is trusted, and returns a `PassHandle`.
#[pyfunction]
pub(crate) fn set_importer(find: Py<PyAny>) {
    Registry::global().set_importer(move |place, trusted| {
        gil::attach(|py| {
            let found = gil::call(find.bind(py), (place, trusted)).and_then(|found| {
                let handle = found.cast::<PassHandle>()?.get();
                Ok(handle.pass.clone())
            });
            found.map_err(|raised| {
                error::as_pass_error(py, passdock::ErrorKind::UnknownPass, raised)
            })
        })
    });
}
