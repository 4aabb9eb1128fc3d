//! Untrusted text, escaped for the outputs of Python programs.

use passdock::config;
use passdock::diagnostic::json;
use passdock::terminal;
use pyo3::prelude::*;
use toml::Value;

/// Returns a text as one line for terminals.
#[pyfunction]
pub(crate) fn one_line(text: &str) -> String {
    terminal::safe_line(text).into_owned()
}

/// Escapes a text for terminals, except for line ends.
#[pyfunction]
pub(crate) fn escaped(text: &str) -> String {
    terminal::safe(text).into_owned()
}

/// Escapes hidden characters in JSON.
#[pyfunction]
pub(crate) fn escaped_json(json: String) -> String {
    json::escaped(json)
}

/// Returns a string as TOML.
#[pyfunction]
pub(crate) fn toml_text(text: String) -> String {
    config::toml_text(&Value::String(text))
}
