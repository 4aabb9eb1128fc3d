//! The page as a file: the data put into what `web/` was built into.

use std::io::{self, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use passdock_files::Target;

use super::document::Document;

/// The page without its data.
const PAGE: &str = include_str!("../../assets/page.html");
/// Where the data goes.
const PLACE: &str = "<!--passdock-data-->";
/// The bytes of JSON from which it is compressed. Below that it stays readable.
const LARGE: usize = 64 << 10;
/// How hard to compress: more takes long and gains little.
const LEVEL: u8 = 6;

/// The page of a run.
///
/// # Errors
/// If the data is no JSON.
pub fn render(document: &Document<'_>) -> serde_json::Result<String> {
    let json = serde_json::to_string(document)?;
    let (kind, data) = match json.len() {
        0..LARGE => ("application/json", inert(&json)),
        _ => {
            let bytes = miniz_oxide::deflate::compress_to_vec(json.as_bytes(), LEVEL);
            ("application/x-deflate-base64", STANDARD.encode(bytes))
        }
    };
    let (before, after) = PAGE.split_once(PLACE).unwrap_or((PAGE, ""));
    Ok(format!(
        "{before}<script id=\"data\" type=\"{kind}\">{data}</script>{after}"
    ))
}

/// JSON that ends no element and begins no comment, whatever its texts say: `<` stands in texts alone.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Writes the page of a run to a file, which is there whole or not at all.
///
/// # Errors
/// What the system says.
pub fn write(path: &Path, document: &Document<'_>) -> io::Result<()> {
    let page = render(document)?;
    Target::new(path)?.write(false, |file| file.write_all(page.as_bytes()))
}
