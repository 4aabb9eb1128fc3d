//! A bounded buffer for the diagnostics of a pass.

use crate::{Diagnostic, Severity};

/// Maximum number of diagnostics kept per run of a pass.
const MAX_DIAGNOSTICS: usize = 10_000;

/// The diagnostics of a pass, up to a limit. Later ones are replaced by one warning, except for the first error among
/// them: an error makes the pass fail.
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
                "the pass emitted more than {MAX_DIAGNOSTICS} diagnostics; the rest is omitted"
            );
            let omitted = Diagnostic::new(Severity::Warning, "too-many", message);
            self.diagnostics.push(omitted);
        }
        if one.severity.is_failure() && !self.has_late_failure {
            self.has_late_failure = true;
            self.diagnostics.push(one);
        }
    }

    /// Returns the kept diagnostics.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Consumes the buffer and returns the kept diagnostics.
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
    fn buffer_keeps_the_first_diagnostics_and_one_error() {
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
