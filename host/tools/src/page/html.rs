//! The report as a file: the template that is built from `web/`, with the data inserted.

use std::io::{self, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use passdock_files::Target;

use super::document::Document;

/// The template.
const PAGE: &str = include_str!("../../assets/page.html");
/// The placeholder of the data.
const DATA_MARKER: &str = "<!--passdock-data-->";
/// The minimum size in bytes of JSON that is compressed. Smaller JSON is embedded uncompressed, so that it is readable.
const LARGE: usize = 64 << 10;
/// The compression level. Higher levels take long and gain little.
const LEVEL: u8 = 6;

/// Renders an HTML report.
///
/// # Errors
/// If the data can't be serialized as JSON.
pub fn render(document: &Document<'_>) -> serde_json::Result<String> {
    let json = serde_json::to_string(document)?;
    let (kind, data) = match json.len() {
        // Escaped so that it can't end the element or begin a comment. In JSON, `<` occurs in strings only.
        0..LARGE => ("application/json", json.replace('<', "\\u003c")),
        _ => {
            let bytes = miniz_oxide::deflate::compress_to_vec(json.as_bytes(), LEVEL);
            ("application/x-deflate-base64", STANDARD.encode(bytes))
        }
    };
    let (before, after) = PAGE.split_once(DATA_MARKER).unwrap_or((PAGE, ""));
    Ok(format!(
        "{before}<script id=\"data\" type=\"{kind}\">{data}</script>{after}"
    ))
}

/// Writes an HTML report to a file atomically.
///
/// # Errors
/// If the file can't be written.
pub fn write(path: &Path, document: &Document<'_>) -> io::Result<()> {
    let page = render(document)?;
    Target::new(path)?.write(false, |file| file.write_all(page.as_bytes()))
}
