//! Messages of the host in Python's words.

use pyo3::prelude::*;

use crate::crossing::gil;

/// Whether a text may have words of the command line in it.
pub(crate) fn is_of_command(text: &str) -> bool {
    ["--", "passdock list", "override = [", "`-` is IR"]
        .iter()
        .any(|word| text.contains(word))
}

/// Returns a message of the host for a program in Python: `--allow-growth` is `allow_growth=True`.
pub(crate) fn in_python(text: &str) -> String {
    if !is_of_command(text) {
        return text.to_owned();
    }
    let translated = gil::attach(|py| {
        let words = py.import("passdock._words")?;
        words.call_method1("in_python", (text,))?.extract()
    });
    // At the very end of a program nothing can be imported.
    translated.unwrap_or_else(|_: PyErr| text.to_owned())
}
