//! What a pass says, kept up to a limit.

use crate::{Diagnostic, Severity};

/// The most diagnostics of one run of a pass that are kept, and the most bytes of all their texts.
const MAX_SAID: usize = 10_000;
const MAX_SAID_BYTES: usize = 16 << 20;

/// What a pass says. Of very much only the first is kept, with a warning that there was more; an error among the rest
/// is kept all the same, since it makes the pass fail.
#[derive(Debug, Default)]
pub struct KeptDiagnostics {
    kept: Vec<Diagnostic>,
    bytes: usize,
    is_full: bool,
    has_late_failure: bool,
}

impl KeptDiagnostics {
    /// Adds a diagnostic.
    pub fn keep(&mut self, one: Diagnostic) {
        if !self.is_full {
            self.bytes = self.bytes.saturating_add(one.text_bytes());
            self.is_full = self.kept.len() == MAX_SAID || self.bytes > MAX_SAID_BYTES;
            if !self.is_full {
                self.kept.push(one);
                return;
            }
            let message = format!(
                "The pass says very much; what comes after {} diagnostics is left out.",
                self.kept.len()
            );
            let left_out = Diagnostic::new(Severity::Warning, "too-many", message);
            self.kept.push(left_out);
        }
        if one.severity.is_failure() && !self.has_late_failure {
            self.has_late_failure = true;
            self.kept.push(one);
        }
    }

    /// What is kept.
    pub fn kept(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// Takes what is kept.
    pub fn into_kept(self) -> Vec<Diagnostic> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(severity: Severity, code: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(severity, code, message)
    }

    #[test]
    fn of_very_many_diagnostics_the_first_are_kept_and_an_error() {
        let mut said = KeptDiagnostics::default();
        for at in 0..MAX_SAID + 100 {
            said.keep(of(Severity::Note, "a", at.to_string()));
        }
        assert_eq!(said.kept().len(), MAX_SAID + 1);
        assert_eq!(said.kept()[MAX_SAID].code, "too-many");
        for _ in 0..2 {
            said.keep(of(Severity::Error, "b", "wrong"));
        }
        assert_eq!(said.kept().len(), MAX_SAID + 2);
        assert_eq!(said.kept()[MAX_SAID + 1].code, "b");
    }

    #[test]
    fn of_very_long_diagnostics_the_first_are_kept_and_an_error() {
        let mut said = KeptDiagnostics::default();
        for _ in 0..20 {
            said.keep(of(Severity::Note, "a", "x".repeat(1 << 20)));
        }
        said.keep(of(Severity::Error, "b", "wrong"));
        let codes: Vec<&str> = said.kept().iter().map(|one| &*one.code).collect();
        assert_eq!(codes[14..], ["a", "too-many", "b"]);
    }
}
