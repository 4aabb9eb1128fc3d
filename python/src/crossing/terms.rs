//! Translating messages of the host to Python's terms.

use pyo3::prelude::*;

use crate::crossing::gil;

/// Whether a text may contain terms of the command line.
pub(crate) fn is_of_command(text: &str) -> bool {
    ["--", "passdock list", "override = [", "`-` for IR"]
        .iter()
        .any(|word| text.contains(word))
}

/// Translates a message of the host for Python programs: `--allow-growth` becomes `allow_growth=True`.
pub(crate) fn in_python(text: &str) -> String {
    if !is_of_command(text) {
        return text.to_owned();
    }
    let translated = gil::attach(|py| {
        let terms = py.import("passdock._words")?;
        terms.call_method1("in_python", (text,))?.extract()
    });
    // Imports fail while the interpreter is shutting down.
    translated.unwrap_or_else(|_: PyErr| text.to_owned())
}
