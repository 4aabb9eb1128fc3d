//! Assertions about IR text.

use passdock_ir::{text, verify};

use super::memory::bounded;

/// Parses a text. If that succeeds, printing, parsing and printing it again must give the same text. Returns `true` if
/// it was parsed.
pub fn check(input: &str) -> bool {
    let module = match bounded("parsing", input.len(), || text::parse(input)) {
        Ok(module) => module,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    let violations = verify::verify_module(&module).err().unwrap_or_default();
    assert!(
        violations.is_empty(),
        "what was read is wrong: {violations:?}"
    );
    let printed = text::print(&module);
    let again = text::parse(&printed);
    let twice = again.map_or_else(|error| error.to_string(), |again| text::print(&again));
    assert!(
        printed == twice,
        "printed differently the second time:\n{printed}\n{twice}"
    );
    true
}
