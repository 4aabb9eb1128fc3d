//! The diagnostics of a pass, up to a limit.

use crate::{Diagnostic, Severity};

/// The most diagnostics of one run of a pass that are kept.
const MAX_DIAGNOSTICS: usize = 10_000;

/// The diagnostics of a pass. Of very many only the first are kept, with a warning that there were more; an error among
/// the rest is kept all the same, since it makes the pass fail.
#[derive(Debug, Default)]
pub struct DiagnosticBuffer {
    diagnostics: Vec<Diagnostic>,
    has_late_failure: bool,
}

impl DiagnosticBuffer {
    /// Adds a diagnostic.
    pub fn push(&mut self, one: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(one);
            return;
        }
        if self.diagnostics.len() == MAX_DIAGNOSTICS {
            let message = format!(
                "The pass says very much; what comes after {MAX_DIAGNOSTICS} diagnostics is left out."
            );
            let left_out = Diagnostic::new(Severity::Warning, "too-many", message);
            self.diagnostics.push(left_out);
        }
        if one.severity.is_failure() && !self.has_late_failure {
            self.has_late_failure = true;
            self.diagnostics.push(one);
        }
    }

    /// Returns the diagnostics that are kept.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Takes the diagnostics that are kept.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(severity: Severity, code: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(severity, code, message)
    }

    #[test]
    fn of_very_many_diagnostics_the_first_are_kept_and_an_error() {
        let mut buffer = DiagnosticBuffer::default();
        for at in 0..MAX_DIAGNOSTICS + 100 {
            buffer.push(diagnostic(Severity::Note, "a", at.to_string()));
        }
        assert_eq!(buffer.diagnostics().len(), MAX_DIAGNOSTICS + 1);
        assert_eq!(buffer.diagnostics()[MAX_DIAGNOSTICS].code, "too-many");
        for _ in 0..2 {
            buffer.push(diagnostic(Severity::Error, "b", "wrong"));
        }
        assert_eq!(buffer.diagnostics().len(), MAX_DIAGNOSTICS + 2);
        assert_eq!(buffer.diagnostics()[MAX_DIAGNOSTICS + 1].code, "b");
    }
}
