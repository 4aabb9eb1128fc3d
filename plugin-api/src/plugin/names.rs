//! The rules for names of plugins and passes, as hosts have them.

/// The longest name, in bytes.
const MAX_LEN: usize = 256;

/// Dotted words, of which the last but one is `transform` and not the first.
pub(super) const fn is_pass_name(name: &str) -> bool {
    const MIDDLE: &[u8] = b".transform";
    let bytes = name.as_bytes();
    let last_dot = match last_dot_of_words(name) {
        Some(dot) => dot,
        None => return false,
    };
    if last_dot <= MIDDLE.len() {
        return false;
    }
    let mut m = 0;
    while m < MIDDLE.len() {
        if bytes[last_dot - MIDDLE.len() + m] != MIDDLE[m] {
            return false;
        }
        m += 1;
    }
    true
}

/// One word.
pub(super) const fn is_word(name: &str) -> bool {
    matches!(last_dot_of_words(name), Some(0))
}

/// The place of the last dot, 0 if there is none; `None` if these aren't dotted words.
const fn last_dot_of_words(name: &str) -> Option<usize> {
    let bytes = name.as_bytes();
    if bytes.len() > MAX_LEN {
        return None;
    }
    let mut starts_word = true;
    let mut last_dot = 0;
    let mut i = 0;
    while i < bytes.len() {
        let b = bytes[i];
        if b == b'.' {
            if starts_word {
                return None;
            }
            last_dot = i;
            starts_word = true;
        } else {
            let inside = b.is_ascii_digit() || b == b'-';
            if !(b.is_ascii_alphabetic() || b == b'_' || inside && !starts_word) {
                return None;
            }
            starts_word = false;
        }
        i += 1;
    }
    if starts_word {
        None
    } else {
        Some(last_dot)
    }
}

/// Compares from the end, where names of one plugin differ: constant evaluation counts its steps.
pub(super) const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = a.len();
    while i > 0 {
        i -= 1;
        if a[i] != b[i] {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{is_pass_name, is_word};

    #[test]
    fn names_of_passes_are_those_that_hosts_take() {
        for good in [
            "acme.transform.Fuse",
            "a.b-2.transform._x9",
            "_.transform.X",
        ] {
            assert!(is_pass_name(good), "{}", good);
        }
        for bad in [
            "",
            "Fuse",
            "transform.Fuse",
            ".transform.Fuse",
            "acme.transform.",
            "acme.transform.2",
            "acme.transforms.Fuse",
            "acme.xtransform.Fuse",
            "acme..transform.Fuse",
            "a b.transform.F",
            "acme.transform.ü",
            "acme.transform.Fuse.Again",
            "-.transform.X",
        ] {
            assert!(!is_pass_name(bad), "{}", bad);
        }
    }

    #[test]
    fn words_have_no_dots() {
        assert!(is_word("acme") && is_word("op-2_x"));
        for bad in ["", "ac me", "a.b", "2a", "ü"] {
            assert!(!is_word(bad), "{}", bad);
        }
        assert!(!is_word(&"a".repeat(257)) && is_word(&"a".repeat(256)));
    }
}
