//! Diagnostics as data: messages of a pass, a plugin or the host.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::excerpt::Excerpt;

/// Severity of a diagnostic, most severe first. The numbers are those of TVM's `DiagnosticLevel`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A bug in the compiler.
    Bug = 10,
    /// A failure: the pass can't continue.
    #[default]
    Error = 20,
    /// A condition that may be an error.
    Warning = 30,
    /// A remark on another diagnostic.
    Note = 40,
    /// A suggested fix.
    Help = 50,
    /// A detail for the author of a pass, shown only on request.
    Debug = 60,
}

impl Severity {
    /// Returns `true` if a diagnostic of this severity makes the pass fail.
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
/// let mut warning = Diagnostic::new(Severity::Warning, "unused", "weight `w` is unused");
/// warning.function = Some("main".to_owned());
/// warning.help = Some("run DeadCodeElimination".to_owned());
/// assert_eq!(
///     warning.render(false),
///     "warning[unused]: weight `w` is unused
///  |
///  = in function @main
///  = help: run DeadCodeElimination"
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// A short stable code.
    pub code: String,
    /// The message: a fact, in lower case and without a full stop.
    pub message: String,
    /// The pass that emitted the diagnostic.
    pub pass: Option<String>,
    /// The name of the pass's plugin.
    pub plugin: Option<String>,
    /// The path of the plugin's file.
    pub file: Option<String>,
    /// The callers of that pass, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_by: Vec<String>,
    /// The op definition that failed when the pass called it, or that rejected the op.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<BlamedDefinition>,
    /// The function that the diagnostic refers to.
    pub function: Option<String>,
    /// The op that the diagnostic refers to.
    pub op: Option<String>,
    /// The op's location: a line and column, or an ONNX node's name.
    pub location: Option<String>,
    /// The suggested fix.
    pub help: Option<String>,
    /// Further remarks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The source line that the diagnostic refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
    /// Secondary locations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Label>,
}

/// The op definition that a diagnostic comes from, if its plugin isn't the pass's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlamedDefinition {
    /// The operator's canonical name, including the domain.
    pub op: String,
    /// The name of the plugin that defines it.
    pub plugin: String,
    /// The path of the plugin's file.
    pub file: Option<String>,
}

impl BlamedDefinition {
    /// Returns the note `by the definition of …`, unless the message already names the definition.
    pub fn unless_in(&self, message: &str) -> Option<String> {
        let plugin = match &self.file {
            Some(file) => format!("`{file}`"),
            None => self.plugin.clone(),
        };
        let is_named = message.contains("definition of") && message.contains(&plugin);
        (!is_named).then(|| format!("by the definition of {} of plugin {plugin}", self.op))
    }
}

/// A secondary location of a diagnostic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Label {
    /// A short label, or an empty string.
    pub text: String,
    /// The function that contains the location.
    pub function: Option<String>,
    /// The op at the location.
    pub op: Option<String>,
    /// The op's location: a line and column, or an ONNX node's name.
    pub location: Option<String>,
    /// The op's source line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
}

/// A source line with an underlined part.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Snippet {
    /// The file, as the user named it. For an op that is printed in its current form, the file that it was read from.
    pub file: String,
    /// The 1-based line number; 0 if the text isn't from a file.
    pub line: usize,
    /// The 1-based column in characters; 0 if the text isn't from a file.
    pub column: usize,
    /// The line's text.
    pub text: String,
    /// The start of the underlined range in `text`, in bytes.
    pub start: usize,
    /// The end of the underlined range in `text`, in bytes.
    pub end: usize,
    /// The label below the underlined range.
    pub label: String,
}

impl Snippet {
    /// Creates a snippet of the line of `text` in which `span` starts.
    pub fn new(file: &str, text: &str, span: Range<usize>, label: &str) -> Snippet {
        let mut at = text.floor_char_boundary(span.start);
        // At the end of the file, the last line that isn't blank is shown.
        if at == text.len() {
            at = text.trim_end().len();
        }
        let line_start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[at..].find('\n').map_or(text.len(), |i| at + i);
        let line = &text[line_start..line_end];
        let start = at - line_start;
        let end = line.ceil_char_boundary(span.end.clamp(at, line_end) - line_start);
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

    /// Creates a snippet of a given line. `span` is the range of bytes to underline.
    pub fn from_line(file: &str, line: usize, text: &str, span: Range<usize>) -> Snippet {
        let column = match line {
            0 => 0,
            _ => text[..text.floor_char_boundary(span.start)].chars().count() + 1,
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

    /// Returns the range to underline, clamped to character boundaries: deserialized fields may have any values.
    pub(crate) fn span(&self) -> Range<usize> {
        let start = self.text.floor_char_boundary(self.start);
        start..self.text.floor_char_boundary(self.end).max(start)
    }

    /// Returns the location as `file:line:column`.
    pub fn location(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Diagnostic {
    /// Creates a diagnostic without a location.
    pub fn new(severity: Severity, code: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            code: code.to_owned(),
            message: message.into(),
            ..Diagnostic::default()
        }
    }

    /// Sets the suggested fix.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a location. The first one is the op that the diagnostic refers to, later ones become labels.
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
