//! The diagnostics of a run.

use std::collections::HashSet;
use std::mem;
use std::sync::Mutex;

use passdock_core::{Diagnostic, Severity, get_renderer, util};

/// The diagnostics of a run, with duplicate notes and warnings removed. A pass that runs repeatedly would report the
/// same ops each time.
#[derive(Default)]
pub(super) struct DiagnosticLog(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    diagnostics: Vec<Diagnostic>,
    /// Keys of the notes and warnings seen so far.
    subjects: HashSet<Diagnostic>,
    is_finished: bool,
}

impl DiagnosticLog {
    /// Adds a diagnostic. A diagnostic that is emitted after the run, while its module or error is dropped, is rendered
    /// directly.
    pub(super) fn add(&self, diagnostic: Diagnostic) {
        let mut log = util::lock(&self.0);
        let subject = match diagnostic.severity {
            Severity::Note => Some(diagnostic.clone()),
            Severity::Warning => Some(subject(&diagnostic)),
            _ => None,
        };
        if subject.is_some_and(|subject| !log.subjects.insert(subject)) {
            return;
        }
        if log.is_finished {
            drop(log);
            return get_renderer()(&[diagnostic]);
        }
        log.diagnostics.push(diagnostic);
    }

    /// Takes the diagnostics at the end of the run.
    pub(super) fn take(&self) -> Vec<Diagnostic> {
        let mut log = util::lock(&self.0);
        log.is_finished = true;
        mem::take(&mut log.diagnostics)
    }
}

/// Returns the key of a warning: its code, its message, and the value that it refers to. The number and the types of an
/// op are left out, because passes change them.
fn subject(warning: &Diagnostic) -> Diagnostic {
    let op = warning.op.as_deref().and_then(|op| op.split(' ').next());
    let message = match warning.message.split_once(' ') {
        Some((first, rest)) if Some(first) == op => rest,
        _ => &warning.message,
    };
    let mut snippets = warning.labels.iter().map(|label| &label.snippet);
    let snippet = (warning.snippet.as_ref()).or_else(|| snippets.find_map(Option::as_ref));
    let text = snippet.map_or("", |snippet| &snippet.text);
    let value = text.split_once(" = ").map_or(text, |(value, _)| value);
    Diagnostic {
        function: warning.function.clone(),
        notes: vec![value.to_owned()],
        ..Diagnostic::new(warning.severity, &warning.code, message)
    }
}
