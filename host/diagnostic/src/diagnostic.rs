//! The diagnostic as data: a message of a pass, a plugin or the host.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::excerpt::Excerpt;

/// The severity of a diagnostic, the worst first; the numbers are TVM's `DiagnosticLevel`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A mistake of the compiler itself.
    Bug = 10,
    /// A failure: the pass can't go on.
    #[default]
    Error = 20,
    /// A condition that may be a mistake.
    Warning = 30,
    /// A remark beside another diagnostic.
    Note = 40,
    /// Advice on what to do.
    Help = 50,
}

impl Severity {
    /// Whether the pass that emitted a diagnostic of this severity has failed.
    pub fn is_failure(self) -> bool {
        self <= Severity::Error
    }
}

/// A message of a pass, a plugin or the host.
///
/// ```
/// # extern crate passdock_diagnostic as passdock;
/// use passdock::{Diagnostic, Severity};
///
/// let mut warning = Diagnostic::new(Severity::Warning, "unused", "The weight `w` has no use.");
/// warning.function = Some("main".to_owned());
/// warning.help = Some("Run DeadCodeElimination.".to_owned());
/// assert_eq!(
///     warning.render(false),
///     "warning[unused]: The weight `w` has no use.
///  |
///  = in function @main
///  = help: Run DeadCodeElimination."
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// A short stable code.
    pub code: String,
    /// The message: a whole sentence.
    pub message: String,
    /// The pass that emitted it.
    pub pass: Option<String>,
    /// The name of the pass's plugin.
    pub plugin: Option<String>,
    /// The path of the plugin's file.
    pub file: Option<String>,
    /// The pass that ran that pass, and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_by: Vec<String>,
    /// The definition of an op that failed, or that calls the op wrong, when the pass asked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<BlamedDefinition>,
    /// The function it is about.
    pub function: Option<String>,
    /// The op it is about.
    pub op: Option<String>,
    /// The op's location: a line and column, or an ONNX node's name.
    pub location: Option<String>,
    /// The advice on what to do.
    pub help: Option<String>,
    /// Further remarks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The line of text that the diagnostic is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
    /// Other places that the diagnostic points at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Label>,
}

/// The definition of an operator that a diagnostic comes from. Its plugin isn't the pass's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlamedDefinition {
    /// The operator's canonical name, domain included.
    pub op: String,
    /// The name of the plugin that defines it.
    pub plugin: String,
    /// The path of the plugin's file.
    pub file: Option<String>,
}

impl BlamedDefinition {
    /// The definition in words, unless a message names it: `by the definition of …`.
    pub fn unless_in(&self, message: &str) -> Option<String> {
        let plugin = match &self.file {
            Some(file) => format!("`{file}`"),
            None => self.plugin.clone(),
        };
        let is_named = message.contains("definition of") && message.contains(&plugin);
        (!is_named).then(|| format!("by the definition of {} of plugin {plugin}", self.op))
    }
}

/// Another place that a diagnostic points at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Label {
    /// A few words about the place, or empty.
    pub text: String,
    /// The function that the place is in.
    pub function: Option<String>,
    /// The op at that place.
    pub op: Option<String>,
    /// The op's location: a line and column, or an ONNX node's name.
    pub location: Option<String>,
    /// The op's line of text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
}

/// A part of a line of text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Snippet {
    /// The file, as the user named it; of an op that is printed as it is now, where it stood.
    pub file: String,
    /// The line's number, from 1; 0: the text isn't a file's.
    pub line: usize,
    /// The column, in characters, from 1; 0: the text isn't a file's.
    pub column: usize,
    /// The line's text.
    pub text: String,
    /// The first byte of `text` to underline.
    pub start: usize,
    /// The end of the underlined bytes in `text`.
    pub end: usize,
    /// The text under the underlined bytes.
    pub label: String,
}

impl Snippet {
    /// The line of `text` in which `span` begins.
    pub fn new(file: &str, text: &str, span: Range<usize>, label: &str) -> Snippet {
        let mut at = floor(text, span.start);
        // At the very end of a file the last line that holds something is shown.
        if at == text.len() {
            at = text.trim_end().len();
        }
        let line_start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[at..].find('\n').map_or(text.len(), |i| at + i);
        let line = &text[line_start..line_end];
        let start = at - line_start;
        let mut end = span.end.clamp(at, line_end) - line_start;
        while !line.is_char_boundary(end) {
            end += 1;
        }
        Snippet {
            file: file.to_owned(),
            line: text[..line_start].matches('\n').count() + 1,
            column: line[..start].chars().count() + 1,
            text: line.trim_end_matches('\r').to_owned(),
            start,
            end,
            label: label.to_owned(),
        }
    }

    /// A snippet of a known line, with the bytes of it to underline.
    pub fn of_line(file: &str, line: usize, text: &str, span: Range<usize>) -> Snippet {
        let column = match line {
            0 => 0,
            _ => text[..floor(text, span.start)].chars().count() + 1,
        };
        Snippet {
            file: file.to_owned(),
            line,
            column,
            text: text.to_owned(),
            start: span.start,
            end: span.end,
            label: String::new(),
        }
    }

    /// The bytes to underline, wherever the fields came from: whole characters of the text.
    pub(crate) fn span(&self) -> Range<usize> {
        let start = floor(&self.text, self.start);
        start..floor(&self.text, self.end).max(start)
    }

    /// The snippet's place as `file:line:column`.
    pub fn location(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The last place at or before a byte where a character of a text begins, or its end.
fn floor(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl Diagnostic {
    /// A diagnostic that names nothing yet.
    pub fn new(severity: Severity, code: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            code: code.to_owned(),
            message: message.into(),
            ..Diagnostic::default()
        }
    }

    /// Adds the advice on what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a place. The first one is the op that the diagnostic is about, later ones become
    /// labels.
    pub fn point_at(&mut self, shown: Excerpt, text: &str) {
        let label = |mut snippet: Snippet| {
            text.clone_into(&mut snippet.label);
            snippet
        };
        let is_first = self.op.is_none() && self.snippet.is_none();
        let snippet = shown.snippet.map(label);
        if is_first {
            (self.function, self.op) = (shown.function, shown.op);
            (self.location, self.snippet) = (shown.location, snippet);
        } else {
            self.labels.push(Label {
                text: text.to_owned(),
                function: shown.function,
                op: shown.op,
                location: shown.location,
                snippet,
            });
        }
        self.labels.extend(shown.others);
    }
}

/// The text as a sentence: with a capital letter first and a full stop at the end.
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let mut out: String = match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    };
    if !out.ends_with(['.', '!', '?']) {
        out.push('.');
    }
    out
}
