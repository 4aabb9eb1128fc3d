//! Rendering of diagnostics for terminals, with underlined source and optional color.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet as Source};

use crate::diagnostic::{Diagnostic, Label, Severity, Snippet};
use crate::terminal::{safe, safe_line};

impl Diagnostic {
    /// Renders the diagnostic for a terminal, with its source location underlined. Control characters are escaped.
    pub fn render(&self, color: bool) -> String {
        let level = match self.severity {
            Severity::Bug => Level::ERROR.with_name("bug"),
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
            Severity::Help => Level::HELP,
            Severity::Debug => Level::INFO.with_name("debug"),
        };
        let mut title = level.primary_title(safe(&self.message));
        if !self.code.is_empty() {
            title = title.id(safe_line(&self.code));
        }
        let mut group = Group::with_title(title);
        let mut rest: Vec<&Label> = self.labels.iter().collect();
        if let Some(snippet) = &self.snippet {
            let same_line;
            (same_line, rest) = rest.into_iter().partition(|label| label.is_on(snippet));
            group = with_source(group, snippet, AnnotationKind::Primary, &same_line);
        }
        while let Some(first) = rest.first().copied() {
            let Some(snippet) = &first.snippet else {
                group = group.element(
                    Level::NOTE
                        .no_name()
                        .message(safe_line(&first.location_text()).into_owned()),
                );
                rest.remove(0);
                continue;
            };
            let same_line: Vec<&Label>;
            (same_line, rest) = rest.into_iter().partition(|label| label.is_on(snippet));
            group = with_source(group, snippet, AnnotationKind::Context, &same_line[1..]);
        }
        if let Some(location_text) = self.location_text() {
            group = group.element(
                Level::NOTE
                    .no_name()
                    .message(safe_line(&location_text).into_owned()),
            );
        }
        let definition = self.definition.as_ref();
        if let Some(by) = definition.and_then(|by| by.unless_in(&self.message)) {
            group = group.element(Level::NOTE.no_name().message(safe_line(&by).into_owned()));
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(safe(note)));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(safe(help)));
        }
        let renderer = match color {
            true => Renderer::styled(),
            false => Renderer::plain(),
        };
        without_empty_locations(renderer.render(&[group]))
    }

    /// Returns the location in words: `in pass …, function @…, op …, at …`.
    fn location_text(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(pass) = &self.pass {
            parts.push(match (&self.plugin, &self.file) {
                (_, Some(file)) => format!("pass {pass} of plugin `{file}`"),
                (Some(plugin), None) => format!("pass {pass} of plugin {plugin}"),
                (None, None) => format!("pass {pass}"),
            });
            parts.extend(self.run_by.iter().map(|outer| format!("run by {outer}")));
        }
        // The header of the snippet has the location.
        let location = self.location.as_ref().filter(|_| self.snippet.is_none());
        parts.extend(location_parts(&self.function, &self.op, location));
        (!parts.is_empty()).then(|| format!("in {}", parts.join(", ")))
    }
}

impl Snippet {
    /// Returns the escaped text and the corresponding range to underline.
    fn safe(&self) -> (String, Range<usize>) {
        let span = self.span();
        let parts = [
            &self.text[..span.start],
            &self.text[span.clone()],
            &self.text[span.end..],
        ];
        // Tabs are kept: the renderer expands them.
        let [before, under, after] = parts.map(|part| safe(part).replace('\n', "\\n"));
        let span = before.len()..before.len() + under.len();
        (before + &under + &after, span)
    }
}

impl Label {
    fn is_on(&self, line: &Snippet) -> bool {
        let own = self.snippet.as_ref();
        own.is_some_and(|own| {
            (&own.file, own.line, &own.text) == (&line.file, line.line, &line.text)
        })
    }

    /// Returns the location in words, `at …: text`, for a label without a source line.
    fn location_text(&self) -> String {
        let parts: Vec<String> =
            location_parts(&self.function, &self.op, self.location.as_ref()).collect();
        match self.text.is_empty() {
            true => parts.join(", "),
            false => format!("{}: {}", parts.join(", "), self.text),
        }
    }
}

/// Returns the known parts of a location in words: function, op, source location.
fn location_parts(
    function: &Option<String>,
    op: &Option<String>,
    location: Option<&String>,
) -> impl Iterator<Item = String> {
    let function = function.iter().map(|name| format!("function @{name}"));
    let location = location.map(|location| format!("at {location}"));
    function.chain(op.clone()).chain(location)
}

/// Adds a source line, in which the ranges of the snippet and of the labels are underlined.
fn with_source<'a>(
    group: Group<'a>,
    snippet: &'a Snippet,
    kind: AnnotationKind,
    labels: &[&'a Label],
) -> Group<'a> {
    let under = |snippet: &'a Snippet, span: Range<usize>, kind: AnnotationKind| {
        let label = (!snippet.label.is_empty()).then(|| safe_line(&snippet.label));
        kind.span(span).label(label)
    };
    let (text, span) = snippet.safe();
    let path = safe_line(&snippet.file);
    let mut source = Source::source(text).annotation(under(snippet, span, kind));
    for snippet in labels.iter().filter_map(|label| label.snippet.as_ref()) {
        let (_, span) = snippet.safe();
        source = source.annotation(under(snippet, span, AnnotationKind::Context));
    }
    if snippet.line > 0 {
        return group.element(source.line_start(snippet.line).path(path));
    }
    // The op was printed in its current form, so line numbers have no meaning.
    let source = source.line_numbering(false);
    match snippet.file.is_empty() {
        true => group.element(source),
        false => group.element(Origin::path(path)).element(source),
    }
}

/// Removes headers without a location, which consist of `:::` only.
fn without_empty_locations(text: String) -> String {
    if !text.contains(":::") {
        return text;
    }
    let is_empty = |line: &&str| {
        let mut in_style = false;
        let shown = line.chars().filter(|&c| {
            let is_style = in_style || c == '\x1b';
            in_style = is_style && c != 'm';
            !is_style && c != ' '
        });
        shown.eq(":::".chars())
    };
    let lines: Vec<&str> = text.lines().filter(|line| !is_empty(line)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn snippet_underlines_the_span() {
        let text = "[context]\nopt_lvl = 3\n";
        let snippet = Snippet::new("p.toml", text, 10..17, "unknown key");
        let mut diagnostic = Diagnostic::new(
            Severity::Error,
            "pipeline",
            "unknown key `opt_lvl` in `[context]`",
        );
        diagnostic.snippet = Some(snippet);
        diagnostic.help = Some("did you mean `opt_level`?".to_owned());
        expect![[r#"
            error[pipeline]: unknown key `opt_lvl` in `[context]`
             --> p.toml:2:1
              |
            2 | opt_lvl = 3
              | ^^^^^^^ unknown key
              |
              = help: did you mean `opt_level`?"#]]
        .assert_eq(&diagnostic.render(false));
    }

    #[test]
    fn any_span_yields_a_valid_snippet() {
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

    /// A diagnostic may be deserialized from another process, with any numbers in it.
    #[test]
    fn snippet_with_invalid_offsets_is_rendered() {
        let text = "ä€\r";
        for (start, end) in (0..9).flat_map(|start| (0..9).map(move |end| (start, end))) {
            let mut snippet = Snippet::from_line("f", 1, text, start..end);
            snippet.label = "here".to_owned();
            let mut diagnostic = Diagnostic::new(Severity::Error, "config", "odd");
            diagnostic.snippet = Some(snippet);
            assert!(
                diagnostic.render(false).contains("here"),
                "{start} to {end}"
            );
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        let mut diagnostic = Diagnostic::new(Severity::Error, "read", "a\u{9b}31m name");
        diagnostic.snippet = Some(Snippet::new("m\u{1b}.ir", "\tä\u{9b}b", 1..5, "\u{202e}"));
        diagnostic.notes.push("one\n\u{7}two".to_owned());
        expect![[r#"
            error[read]: a\u{9b}31m name
             --> m\u{1b}.ir:1:2
              |
            1 |     ä\u{9b}b
              |     ^^^^^^^ \u{202e}
              |
              = note: one
                      \u{7}two"#]]
        .assert_eq(&diagnostic.render(false));
    }

    #[test]
    fn pass_and_location_are_rendered() {
        let mut diagnostic = Diagnostic::new(Severity::Warning, "acme::axis", "the axis is odd");
        diagnostic.pass = Some("acme.transform.Fuse".to_owned());
        diagnostic.file = Some("plugins/libacme.so".to_owned());
        diagnostic.function = Some("main".to_owned());
        diagnostic.op = Some("op3 (onnx.Relu)".to_owned());
        diagnostic.location = Some("conv1".to_owned());
        expect![[r#"
            warning[acme::axis]: the axis is odd
             |
             = in pass acme.transform.Fuse of plugin `plugins/libacme.so`, function @main, op3 (onnx.Relu), at conv1"#]]
    .assert_eq(&diagnostic.render(false));
    }
}
