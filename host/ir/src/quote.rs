//! Names and strings as the text format and messages spell them.

use std::fmt::Write;

use crate::name::is_plain;

/// Writes a name, quoted if it isn't an identifier.
pub(crate) fn write_name(out: &mut String, name: &str) {
    if is_plain(name) && !name.as_bytes()[0].is_ascii_digit() {
        out.push_str(name);
    } else {
        write_quoted(out, name);
    }
}

/// Returns a value's name as in IR text: `%x`, `%"a b"`.
pub fn value_text(name: &str) -> String {
    let mut out = "%".to_owned();
    write_name(&mut out, name);
    out
}

/// Writes a quoted string. Special and hidden characters are escaped with `\`, bytes that aren't UTF-8 as `\x` and two
/// hex digits.
pub(crate) fn write_quoted(out: &mut String, text: impl AsRef<[u8]>) {
    out.push('"');
    for chunk in text.as_ref().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                // Writing to a string can't fail, here and below.
                c if is_hidden(c) => _ = write!(out, "\\u{{{:x}}}", c as u32),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
}

/// Whether a character controls a terminal, or is invisible and may change how others look: Unicode's control and
/// format characters (`Cc`, `Cf`), line and paragraph separators (`Zl`, `Zp`), and what fonts don't show
/// (`Default_Ignorable_Code_Point`), such as variation selectors.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{parse, print};

    #[test]
    fn hidden_characters_are_escaped_and_exact() {
        let hidden: String = ('\0'..=char::MAX).filter(|&c| is_hidden(c)).collect();
        assert!(!hidden.contains(
            |c: char| c.is_alphanumeric() && !"\u{115f}\u{1160}\u{3164}\u{ffa0}".contains(c)
        ));
        let mut quoted = String::new();
        write_quoted(&mut quoted, &hidden);
        assert!(quoted.is_ascii());
        let text = format!("module {{\n  metadata {quoted} = {quoted}\n}}\n");
        let module = parse(&text).unwrap();
        assert_eq!(module.metadata(), [(hidden.clone(), hidden)]);
        assert_eq!(print(&module), text);
    }
}
