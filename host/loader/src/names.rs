//! The rules for names that come from manifests, and how a doubtful one is shown in a message.

use passdock_diagnostic::terminal;

/// The longest name, in bytes.
pub(super) const MAX_LEN: usize = 256;

/// The rule that `is_pass` checks, as a sentence.
pub(super) const PASS_RULE: &str = "a pass is called `<namespace>.transform.<Name>`, of letters, \
                                    digits, `_` and `-`";

/// The rule that `is_namespaced` checks of a Sequential's name, as a sentence.
pub(super) const SEQUENTIAL_RULE: &str =
    "a Sequential is called `<namespace>.<Name>`, of letters, digits, `_` and `-`";

/// The rule that `is_namespaced` checks of a name that may be a pass's or a Sequential's, as a sentence.
pub(super) const ANY_PASS_RULE: &str = "a pass is called `<namespace>.transform.<Name>`, a \
                                        Sequential `<namespace>.<Name>`, of letters, digits, `_` \
                                        and `-`";

/// The rule that `is_dotted` checks, as a sentence.
pub(super) const DOTTED_RULE: &str =
    "names are made of letters, digits, `_` and `-`, joined by dots";

/// The rule that `is_namespaced` checks of an instrument's name, as a sentence.
pub(super) const INSTRUMENT_RULE: &str =
    "an instrument is called `<namespace>.<name>`, of letters, digits, `_` and `-`";

/// Whether a name is a pass's full name: `acme.transform.FuseRelu`.
pub(super) fn is_pass(name: &str) -> bool {
    let mut segments = name.rsplit('.');
    is_dotted(name) && segments.nth(1) == Some("transform") && segments.next().is_some()
}

/// Whether a name has a namespace: that of a pass, a Sequential (`acme.Cleanup`) or a plugin's instrument
/// (`acme.op-histogram`). The host's own have none.
pub(super) fn is_namespaced(name: &str) -> bool {
    is_dotted(name) && name.contains('.')
}

/// Whether a name is made of words with dots between them.
pub(super) fn is_dotted(name: &str) -> bool {
    name.len() <= MAX_LEN && name.split('.').all(is_word)
}

/// Whether a name is one word.
pub(super) fn is_word(name: &str) -> bool {
    name.len() <= MAX_LEN
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Whether a name can be an op's canonical name: printable, without blanks, not overlong. Domains
/// may hold odd characters.
pub(super) fn is_op(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_LEN
        && !name.chars().any(|c| c.is_control() || c.is_whitespace())
}

/// Whether a terminal may show a text: no control characters but newline and tab.
pub(super) fn is_text(text: &str) -> bool {
    !text
        .chars()
        .any(|c| c.is_control() && c != '\n' && c != '\t')
}

/// A text of a manifest as a message shows it: shortened, with control characters escaped.
pub(super) fn shown(text: &str) -> String {
    terminal::shortened(terminal::safe_line(text).into_owned(), 120)
}
