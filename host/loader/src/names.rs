//! The rules for names in manifests, and how invalid ones are shown in messages.

use passdock_diagnostic::terminal;

/// The maximum length of a name, in bytes.
pub(super) const MAX_LEN: usize = 256;

/// The rule that `is_pass` checks, for messages.
pub(super) const PASS_RULE: &str = "`<namespace>.transform.<Name>` of letters, digits, `_` and `-`";

/// The rule that `is_namespaced` checks for a Sequential's name, for messages.
pub(super) const SEQUENTIAL_RULE: &str = "`<namespace>.<Name>` of letters, digits, `_` and `-`";

/// The rule that `is_namespaced` checks for the name of a pass or a Sequential, for messages.
pub(super) const ANY_PASS_RULE: &str =
    "`<namespace>.transform.<Name>` or `<namespace>.<Name>` of letters, digits, `_` and `-`";

/// The rule that `is_dotted` checks, for messages.
pub(super) const DOTTED_RULE: &str = "letters, digits, `_` and `-`, joined by dots";

/// The rule that `is_namespaced` checks for an instrument's name, for messages.
pub(super) const INSTRUMENT_RULE: &str = "`<namespace>.<name>` of letters, digits, `_` and `-`";

/// Whether a name is a pass's full name: `acme.transform.FuseRelu`.
pub(super) fn is_pass(name: &str) -> bool {
    let mut segments = name.rsplit('.');
    is_dotted(name) && segments.nth(1) == Some("transform") && segments.next().is_some()
}

/// Whether a name has a namespace: that of a pass, a Sequential (`acme.Cleanup`) or a plugin's instrument
/// (`acme.op-histogram`). Names of the host's own instruments have none.
pub(super) fn is_namespaced(name: &str) -> bool {
    is_dotted(name) && name.contains('.')
}

/// Whether a name consists of words joined by dots.
pub(super) fn is_dotted(name: &str) -> bool {
    name.len() <= MAX_LEN && name.split('.').all(is_identifier)
}

/// Whether a name is one word.
pub(super) fn is_identifier(name: &str) -> bool {
    name.len() <= MAX_LEN
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Whether a name is valid as an op's canonical name: printable, without whitespace, not too long. Domains may have
/// unusual characters.
pub(super) fn is_op(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_LEN
        && !name.chars().any(|c| c.is_control() || c.is_whitespace())
}

/// Whether a string can be printed on a terminal: it has no control characters except newline and tab.
pub(super) fn is_text(text: &str) -> bool {
    !text
        .chars()
        .any(|c| c.is_control() && c != '\n' && c != '\t')
}

/// Prepares a string from a manifest for a message: shortens it, and escapes control characters.
pub(super) fn escaped(text: &str) -> String {
    terminal::safe_line(&terminal::shortened(text.to_owned(), 120)).into_owned()
}
