//! JSON output. Strings keep their exact characters, but the text is harmless on a terminal.

use std::fmt::Write;

use serde::Serialize;

use crate::terminal::is_hidden;

/// Returns a value as JSON on one line.
///
/// ```
/// assert_eq!(passdock_diagnostic::json::line(&"\u{202e}ab").unwrap(), r#""\u202eab""#);
/// ```
///
/// # Errors
/// Errors of the value's `serialize`.
pub fn line(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value).map(escaped)
}

/// Returns a value as indented JSON.
///
/// # Errors
/// Errors of the value's `serialize`.
pub fn pretty(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(escaped)
}

/// Escapes hidden characters in JSON, such as `\u009b`. Only strings contain any, except for the line ends between
/// values.
pub fn escaped(json: String) -> String {
    let is_active = |c: char| is_hidden(c) && c != '\n';
    if !json.contains(is_active) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        if is_active(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` can't fail.
                _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}
