//! The rules for names that come from manifests, and how a doubtful one is shown in a message.

/// The longest name, in bytes.
pub(super) const MAX_LEN: usize = 256;

/// What `is_pass` asks for.
pub(super) const PASS_RULE: &str = "a pass is called `<namespace>.transform.<Name>`, of letters, \
                                    digits, `_` and `-`";

/// What `is_dotted` asks for.
pub(super) const DOTTED_RULE: &str =
    "names are made of letters, digits, `_` and `-`, joined by dots";

/// What `is_instrument` asks for.
pub(super) const INSTRUMENT_RULE: &str =
    "an instrument is called `<namespace>.<name>`, of letters, digits, `_` and `-`";

/// Whether this is a pass's full name: `acme.transform.FuseRelu`.
pub(super) fn is_pass(name: &str) -> bool {
    let mut segments = name.rsplit('.');
    is_dotted(name) && segments.nth(1) == Some("transform") && segments.next().is_some()
}

/// Whether this is the name of a plugin's instrument: `acme.op-histogram`. The host's own have no dot.
pub(super) fn is_instrument(name: &str) -> bool {
    is_dotted(name) && name.contains('.')
}

/// Whether this is a name of dotted words.
pub(super) fn is_dotted(name: &str) -> bool {
    name.len() <= MAX_LEN && name.split('.').all(is_word)
}

/// Whether this is one word.
pub(super) fn is_word(name: &str) -> bool {
    name.len() <= MAX_LEN
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Whether this is an op's canonical name: printable, without blanks, not overlong. Domains may
/// hold odd characters.
pub(super) fn is_op(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_LEN
        && !name.chars().any(|c| c.is_control() || c.is_whitespace())
}

/// Whether this is text that a terminal may show: no control characters but newline and tab.
pub(super) fn is_text(text: &str) -> bool {
    !text
        .chars()
        .any(|c| c.is_control() && c != '\n' && c != '\t')
}

/// A doubtful text as a message shows it: short, and without characters that steer terminals.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == 120 {
            out.push('…');
            break;
        }
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
