//! Errors of the parser.

use std::fmt;
use std::ops::Range;

/// The first error in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The error message.
    pub message: String,
    /// The bytes that it refers to.
    pub span: Range<usize>,
    /// The 1-based line of the span.
    pub line: u32,
    /// The 1-based column of the span, in characters.
    pub column: u32,
    /// A possible fix, if known.
    pub help: Option<String>,
}

impl ParseError {
    pub(crate) fn new(text: &str, span: Range<usize>, message: impl Into<String>) -> ParseError {
        let span = span.start.min(text.len())..span.end.min(text.len());
        let before = text.get(..span.start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        ParseError {
            message: message.into(),
            line: line_number(text, span.start),
            column: before[line_start..].chars().count() as u32 + 1,
            span,
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> ParseError {
        self.help = Some(help.into());
        self
    }

    /// Adds "did you mean" if one of the words is similar.
    pub(crate) fn suggest<'a>(
        self,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> ParseError {
        match nearest(name, known) {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

/// Returns the most similar of the known words, if any is similar enough.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(name, known), known));
    let near = distances.filter(|&(distance, _)| distance <= name.len().div_ceil(3));
    near.min().map(|(_, name)| name)
}

/// Formats `1 result`, `2 results`.
pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Returns the 1-based line of a byte.
pub(crate) fn line_number(text: &str, at: usize) -> u32 {
    let before = &text.as_bytes()[..at.min(text.len())];
    before.iter().filter(|&&byte| byte == b'\n').count() as u32 + 1
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ParseError {}
