//! Assertions about lock files and provenance statements.

use passdock_core::terminal;
use passdock_driver::provenance::check_statement as parse_statement;
use passdock_driver::trust::check_lock_file as parse_lock_file;

use super::memory::bounded;

/// Parses a lock file. The result must be a printable error that names the file, or the text of the same lock file.
/// Returns `true` if the file was parsed.
pub fn check_lock_file(input: &str) -> bool {
    match bounded("reading the lock file", input.len(), || {
        parse_lock_file(input)
    }) {
        Ok(printed) => {
            assert_eq!(parse_lock_file(&printed).expect("the same file"), printed);
            true
        }
        Err(error) => {
            assert!(!error.message.is_empty() && error.help.is_some());
            let shown = error.to_diagnostic().render(false);
            assert!(shown.contains("passdock.lock"), "{shown}");
            assert!(!shown.chars().any(|c| c != '\n' && terminal::is_hidden(c)));
            false
        }
    }
}

/// Parses a provenance statement. The result must be a reason, or a statement with outputs. Returns `true` if the
/// statement was parsed.
pub fn check_statement(input: &str) -> bool {
    match bounded("reading the statement", input.len(), || {
        parse_statement(input)
    }) {
        Ok(()) => {
            assert!(input.contains("https://in-toto.io/Statement/v1") || input.contains('\\'));
            true
        }
        Err(why) => {
            assert!(!why.is_empty());
            false
        }
    }
}
