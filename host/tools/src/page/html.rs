//! The report as a file: the template that is built from `web/`, with the data inserted.

use std::io::{self, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use passdock_core::terminal;
use passdock_files::Target;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

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
    let mut json = Vec::new();
    document.serialize(&mut Serializer::with_formatter(&mut json, Shown))?;
    let (kind, data) = match json.len() {
        0..LARGE => ("application/json", String::from_utf8_lossy(&json).into()),
        _ => {
            let bytes = miniz_oxide::deflate::compress_to_vec(&json, LEVEL);
            ("application/x-deflate-base64", STANDARD.encode(bytes))
        }
    };
    let (before, after) = PAGE.split_once(DATA_MARKER).unwrap_or((PAGE, ""));
    Ok(format!(
        "{before}<script id=\"data\" type=\"{kind}\">{data}</script>{after}"
    ))
}

/// Writes strings as the page shows them, with hidden characters as visible escapes. `<` is escaped so that a string
/// can't end the `script` element or begin a comment.
struct Shown;

impl Formatter for Shown {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let shown = terminal::safe(fragment).replace('\\', "\\\\");
        writer.write_all(shown.replace('<', "\\u003c").as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        match escape {
            CharEscape::AsciiControl(byte) => {
                self.write_string_fragment(writer, char::from(byte).encode_utf8(&mut [0; 4]))
            }
            CharEscape::Backspace => self.write_string_fragment(writer, "\u{8}"),
            CharEscape::FormFeed => self.write_string_fragment(writer, "\u{c}"),
            CharEscape::CarriageReturn => self.write_string_fragment(writer, "\r"),
            visible => CompactFormatter.write_char_escape(writer, visible),
        }
    }
}

/// Writes an HTML report to a file atomically.
///
/// # Errors
/// If the file can't be written.
pub fn write(path: &Path, document: &Document<'_>) -> io::Result<()> {
    let page = render(document)?;
    Target::new(path)?.write(false, |file| file.write_all(page.as_bytes()))
}
