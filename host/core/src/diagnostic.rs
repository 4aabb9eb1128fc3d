//! Diagnostics: what a pass, a plugin or the host has to say, as data and as text.
//!
//! A diagnostic carries the line of the file that it is about, so that it can be shown, or sent to
//! another process, without the file.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet as Source};
use serde::{Deserialize, Serialize};

/// How grave: TVM's levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The compiler's own mistake.
    Bug = 10,
    /// The pass can't go on.
    Error = 20,
    /// Worth a look.
    Warning = 30,
    /// Said beside something else.
    Note = 40,
    /// What to do.
    Help = 50,
}

impl Severity {
    /// Whether the pass that emitted it has failed.
    pub fn is_failure(self) -> bool {
        self <= Severity::Error
    }
}

/// One thing that is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How grave.
    pub severity: Severity,
    /// A short stable code.
    pub code: String,
    /// A whole sentence.
    pub message: String,
    /// The pass that said it.
    pub pass: Option<String>,
    /// The pass's plugin.
    pub plugin: Option<String>,
    /// The plugin's file.
    pub file: Option<String>,
    /// The function it is about.
    pub function: Option<String>,
    /// The op it is about.
    pub op: Option<String>,
    /// Where that stands: a line and column, or an ONNX node's name.
    pub location: Option<String>,
    /// What to do.
    pub help: Option<String>,
    /// What else there is to say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The line of a file that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
}

/// A part of a line of a text file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snippet {
    /// The file, as the user named it.
    pub file: String,
    /// The line's number, from 1.
    pub line: usize,
    /// The column, in characters, from 1.
    pub column: usize,
    /// The line.
    pub text: String,
    /// The bytes of `text` to underline.
    pub start: usize,
    /// Where they end.
    pub end: usize,
    /// What is written under them.
    pub label: String,
}

impl Snippet {
    /// The line of `text` in which `span` begins.
    pub fn new(file: &str, text: &str, span: Range<usize>, label: &str) -> Snippet {
        let mut at = span.start.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
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

    /// `file:line:column`.
    pub fn location(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Diagnostic {
    /// A diagnostic that names nothing yet.
    pub fn new(severity: Severity, code: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            code: code.to_owned(),
            message: message.into(),
            pass: None,
            plugin: None,
            file: None,
            function: None,
            op: None,
            location: None,
            help: None,
            notes: Vec::new(),
            snippet: None,
        }
    }

    /// The diagnostic as a terminal shows it, with the file's line underlined.
    pub fn render(&self, color: bool) -> String {
        let level = match self.severity {
            Severity::Bug => Level::ERROR.with_name("bug"),
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
            Severity::Help => Level::HELP,
        };
        let mut title = level.primary_title(&self.message);
        if !self.code.is_empty() {
            title = title.id(&self.code);
        }
        let mut group = Group::with_title(title);
        if let Some(snippet) = &self.snippet {
            let under = AnnotationKind::Primary.span(snippet.start..snippet.end);
            let label = (!snippet.label.is_empty()).then_some(snippet.label.as_str());
            let source = Source::source(&snippet.text)
                .line_start(snippet.line)
                .path(&snippet.file)
                .annotation(under.label(label));
            group = group.element(source);
        }
        if let Some(place) = self.place() {
            group = group.element(Level::NOTE.no_name().message(place));
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(note));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        let renderer = match color {
            true => Renderer::styled(),
            false => Renderer::plain(),
        };
        renderer.render(&[group])
    }

    /// `in pass …, function @…, op …, at …`.
    fn place(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(pass) = &self.pass {
            parts.push(match (&self.plugin, &self.file) {
                (_, Some(file)) => format!("pass {pass} of plugin `{file}`"),
                (Some(plugin), None) => format!("pass {pass} of plugin {plugin}"),
                (None, None) => format!("pass {pass}"),
            });
        }
        if let Some(function) = &self.function {
            parts.push(format!("function @{function}"));
        }
        parts.extend(self.op.clone());
        if let (Some(location), None) = (&self.location, &self.snippet) {
            parts.push(format!("at {location}"));
        }
        (!parts.is_empty()).then(|| format!("in {}", parts.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_line_is_underlined() {
        let text = "[context]\nopt_lvl = 3\n";
        let snippet = Snippet::new("p.toml", text, 10..17, "unknown key");
        let mut diagnostic = Diagnostic::new(
            Severity::Error,
            "pipeline",
            "There is no key `opt_lvl` in `[context]`.",
        );
        diagnostic.snippet = Some(snippet);
        diagnostic.help = Some("Did you mean `opt_level`?".to_owned());
        expect![[r#"
            error[pipeline]: There is no key `opt_lvl` in `[context]`.
             --> p.toml:2:1
              |
            2 | opt_lvl = 3
              | ^^^^^^^ unknown key
              |
              = help: Did you mean `opt_level`?"#]]
        .assert_eq(&diagnostic.render(false));
    }

    #[test]
    fn any_span_gives_a_snippet() {
        let text = "ä = \"€\"\nb";
        for start in 0..text.len() + 3 {
            for end in start..text.len() + 3 {
                let snippet = Snippet::new("f", text, start..end, "");
                assert!(snippet.text.is_char_boundary(snippet.start));
                assert!(snippet.text.is_char_boundary(snippet.end));
                assert!(snippet.line >= 1 && snippet.column >= 1);
            }
        }
    }

    #[test]
    fn a_pass_and_a_place_are_named() {
        let mut diagnostic = Diagnostic::new(Severity::Warning, "acme::axis", "The axis is odd.");
        diagnostic.pass = Some("acme.transform.Fuse".to_owned());
        diagnostic.file = Some("plugins/libacme.so".to_owned());
        diagnostic.function = Some("main".to_owned());
        diagnostic.op = Some("op3 (onnx.Relu)".to_owned());
        diagnostic.location = Some("conv1".to_owned());
        expect![[r#"
            warning[acme::axis]: The axis is odd.
             |
             = in pass acme.transform.Fuse of plugin `plugins/libacme.so`, function @main, op3 (onnx.Relu), at conv1"#]].assert_eq(&diagnostic.render(false));
    }
}
