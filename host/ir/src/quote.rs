//! Names and strings as the text form spells them, which messages do too.

use std::fmt::{self, Write};

use crate::name::is_plain;

/// A name, quoted if it isn't an identifier.
pub(crate) fn write_name(out: &mut impl Write, name: &str) -> fmt::Result {
    if is_plain(name) && !name.as_bytes()[0].is_ascii_digit() {
        return out.write_str(name);
    }
    write_quoted(out, name)
}

/// A value's name as text has it: `%x`, `%"a b"`.
pub fn value_text(name: &str) -> String {
    let mut out = "%".to_owned();
    // Writing to a string doesn't fail.
    _ = write_name(&mut out, name);
    out
}

/// Writes text in quotes; `\` before a character that would end it or is hidden.
pub(crate) fn write_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_str("\"")?;
    write_escaped(out, text)?;
    out.write_str("\"")
}

/// Writes bytes in quotes: those that aren't UTF-8 as `\x` and two hex digits.
pub(crate) fn write_bytes(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        // Writing to a string doesn't fail, here and below.
        _ = write_escaped(out, chunk.valid());
        for byte in chunk.invalid() {
            _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
}

/// Whether a character steers a terminal, or changes how others look and can't be seen itself: control
/// characters, marks of direction, joiners, separators of lines, tags.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn write_escaped(out: &mut impl Write, text: &str) -> fmt::Result {
    for c in text.chars() {
        match c {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            c if is_hidden(c) => write!(out, "\\u{{{:x}}}", c as u32)?,
            c => out.write_char(c)?,
        }
    }
    Ok(())
}
