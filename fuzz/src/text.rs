//! What is asserted of the text form.

use passdock_ir::{text, verify};

use super::memory::bounded;

/// Parses a text; if that works, printing it gives a text that is read and printed the same. `true`:
/// it was parsed to its end.
pub fn check(input: &str) -> bool {
    let module = match bounded("parsing", input.len(), || text::parse(input)) {
        Ok(module) => module,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    let mut violations = verify::verify_module(&module).err().unwrap_or_default();
    // Whether the module has what is called isn't known when a function is read.
    violations.retain(|violation| violation.invariant != verify::Invariant::Calls);
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
