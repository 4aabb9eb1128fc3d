//! Errors of the parser.

use std::fmt;
use std::ops::Range;

/// The first error in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The message: a whole sentence.
    pub message: String,
    /// The bytes it is about.
    pub span: Range<usize>,
    /// Their line, from 1.
    pub line: u32,
    /// Their column in characters, from 1.
    pub column: u32,
    /// A way to mend it, where that is known.
    pub help: Option<String>,
}

impl ParseError {
    pub(crate) fn new(text: &str, span: Range<usize>, message: impl Into<String>) -> ParseError {
        let span = span.start.min(text.len())..span.end.min(text.len());
        let before = text.get(..span.start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        ParseError {
            message: message.into(),
            line: line_of(text, span.start),
            column: before[line_start..].chars().count() as u32 + 1,
            span,
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> ParseError {
        self.help = Some(help.into());
        self
    }

    /// Adds "did you mean" if one of the words is close.
    pub(crate) fn suggest<'a>(
        self,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> ParseError {
        match nearest(word, known) {
            Some(name) => self.help(format!("Did you mean `{name}`?")),
            None => self,
        }
    }
}

/// The word of those known that is closest to another, if any is close.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(word, name), name));
    let near = distances.filter(|&(distance, _)| distance <= word.len().div_ceil(3));
    near.min().map(|(_, name)| name)
}

/// `1 result`, `2 results`.
pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The line of a byte, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> u32 {
    let before = &text.as_bytes()[..at.min(text.len())];
    before.iter().filter(|&&byte| byte == b'\n').count() as u32 + 1
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        match &self.help {
            Some(help) => write!(f, " {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ParseError {}
