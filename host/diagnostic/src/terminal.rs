//! Escaping of untrusted text for terminals, and detection of color support.
//!
//! All output for users is escaped here once. [`Diagnostic::render`] and the diffs of the core's instruments escape
//! their text themselves, because they add colors afterwards. IR text needs no escaping: the printer escapes hidden
//! characters in strings.
//!
//! [`Diagnostic::render`]: crate::Diagnostic::render

use std::borrow::Cow;
use std::fmt::Write;

pub use passdock_ir::text::is_hidden;

/// Escapes a text for terminals. Control characters and invisible ones become escapes such as `\u{1b}`; line ends and
/// tabs are kept.
///
/// ```
/// assert_eq!(passdock_diagnostic::terminal::safe("a\n\u{1b}[31mb"), "a\n\\u{1b}[31mb");
/// ```
pub fn safe(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

/// Escapes a line of text for terminals, like [`safe`], including line ends and tabs.
pub fn safe_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// Returns a text as one escaped line, with its line end.
pub fn line(text: &str) -> String {
    let mut line = safe_line(text).into_owned();
    line.push('\n');
    line
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if !is_escaped(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a `String` can't fail.
            c => _ = write!(out, "\\u{{{:x}}}", u32::from(c)),
        }
    }
    Cow::Owned(out)
}

/// Truncates a text to `longest` characters.
pub fn shortened(mut text: String, longest: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(longest) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Returns `true` if a stream supports colors: a terminal that isn't dumb, unless `NO_COLOR` is set.
pub fn supports_color(is_terminal: bool) -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    is_terminal && !dumb && std::env::var_os("NO_COLOR").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_characters_are_escaped() {
        for (text, shown, line) in [
            (
                "größe %0 \"a\" \\n",
                "größe %0 \"a\" \\n",
                "größe %0 \"a\" \\n",
            ),
            ("e\u{301}", "e\u{301}", "e\u{301}"),
            ("a\n\tb\r", "a\n\tb\\r", "a\\n\\tb\\r"),
            ("\u{1b}[31m", "\\u{1b}[31m", "\\u{1b}[31m"),
            ("\u{9b}31m", "\\u{9b}31m", "\\u{9b}31m"),
            ("\0\u{7f}", "\\u{0}\\u{7f}", "\\u{0}\\u{7f}"),
            (
                "\u{202e}x\u{feff}",
                "\\u{202e}x\\u{feff}",
                "\\u{202e}x\\u{feff}",
            ),
            ("\u{e0041}", "\\u{e0041}", "\\u{e0041}"),
        ] {
            assert_eq!(safe(text), shown);
            assert_eq!(safe_line(text), line);
        }
    }
}
