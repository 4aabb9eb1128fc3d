//! The diagnostics of a pass, up to a limit.

use crate::{Diagnostic, Severity};

/// The most diagnostics of one run of a pass that are kept.
const MAX_SAID: usize = 10_000;

/// The diagnostics of a pass. Of very many only the first are kept, with a warning that there were more; an error among
/// the rest is kept all the same, since it makes the pass fail.
#[derive(Debug, Default)]
pub struct KeptDiagnostics {
    kept: Vec<Diagnostic>,
    has_late_failure: bool,
}

impl KeptDiagnostics {
    /// Adds a diagnostic.
    pub fn keep(&mut self, one: Diagnostic) {
        if self.kept.len() < MAX_SAID {
            self.kept.push(one);
            return;
        }
        if self.kept.len() == MAX_SAID {
            let message = format!(
                "The pass says very much; what comes after {MAX_SAID} diagnostics is left out."
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
}
