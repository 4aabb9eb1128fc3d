//! The rules for names and texts of a manifest, as hosts have them.

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

/// Two or more dotted words.
pub(super) const fn is_namespaced(name: &str) -> bool {
    matches!(last_dot_of_words(name), Some(dot) if dot > 0)
}

/// One or more dotted words.
pub(super) const fn is_dotted(name: &str) -> bool {
    last_dot_of_words(name).is_some()
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

/// A state: `opset >= 13`, or lower-case words.
pub(super) const fn is_state(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > MAX_LEN || !bytes[0].is_ascii_lowercase() {
        return false;
    }
    let mut i = 0;
    while i < bytes.len() {
        let b = bytes[i];
        if !(b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.')) {
            return is_opset(bytes, i);
        }
        i += 1;
    }
    !equal(name, "opset")
}

/// Whether this is `opset >= N`, whose word ends at `at`.
const fn is_opset(bytes: &[u8], at: usize) -> bool {
    const WORD: &[u8] = b"opset";
    if at != WORD.len() {
        return false;
    }
    let mut i = 0;
    while i < at {
        if bytes[i] != WORD[i] {
            return false;
        }
        i += 1;
    }
    while i < bytes.len() && bytes[i] == b' ' {
        i += 1;
    }
    if i + 1 >= bytes.len() || bytes[i] != b'>' || bytes[i + 1] != b'=' {
        return false;
    }
    i += 2;
    while i < bytes.len() && bytes[i] == b' ' {
        i += 1;
    }
    let (start, mut number) = (i, 0u64);
    while i < bytes.len() {
        if !bytes[i].is_ascii_digit() {
            return false;
        }
        number = number * 10 + (bytes[i] - b'0') as u64;
        if number > u32::MAX as u64 {
            return false;
        }
        i += 1;
    }
    i > start
}

/// Whether a terminal may show a text: no control characters but newline and tab.
pub(super) const fn is_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let is_break = matches!(bytes[i], b'\n' | b'\t');
        if is_control(bytes, i) && !is_break {
            return false;
        }
        i += 1;
    }
    true
}

/// Whether this can be an op's name: printable, without blanks. Domains may hold odd characters.
pub(super) const fn is_op(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if is_control(bytes, i) || is_blank(bytes, i) {
            return false;
        }
        i += 1;
    }
    !bytes.is_empty() && bytes.len() <= MAX_LEN
}

/// Whether a control character begins here.
const fn is_control(bytes: &[u8], at: usize) -> bool {
    let b = bytes[at];
    b < b' ' || b == 0x7f || b == 0xc2 && bytes[at + 1] < 0xa0
}

/// Whether a blank begins here, of Unicode's.
const fn is_blank(bytes: &[u8], at: usize) -> bool {
    let b = bytes[at];
    if b < 0x80 {
        return b == b' ';
    }
    let next = if at + 1 < bytes.len() {
        bytes[at + 1]
    } else {
        0
    };
    let last = if at + 2 < bytes.len() {
        bytes[at + 2]
    } else {
        0
    };
    match (b, next) {
        (0xc2, 0xa0) => true,
        (0xe1, 0x9a) => last == 0x80,
        (0xe2, 0x80) => matches!(last, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf),
        (0xe2, 0x81) => last == 0x9f,
        (0xe3, 0x80) => last == 0x80,
        _ => false,
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
    use super::{is_dotted, is_namespaced, is_op, is_pass_name, is_state, is_text, is_word};

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
    fn names_of_instruments_have_a_namespace() {
        for good in ["acme.growth", "acme.op-histogram", "a.b.c2"] {
            assert!(is_namespaced(good), "{}", good);
        }
        for bad in [
            "", "growth", ".growth", "acme.", "acme..x", "acme.2", "a b.c",
        ] {
            assert!(!is_namespaced(bad), "{}", bad);
        }
    }

    #[test]
    fn words_states_ops_and_texts_are_those_that_hosts_take() {
        assert!(is_word("acme") && is_word("op-2_x") && is_dotted("acme.P") && is_dotted("P"));
        for bad in ["", "ac me", "a.b", "2a", "ü"] {
            assert!(!is_word(bad), "{}", bad);
        }
        assert!(!is_word(&"a".repeat(257)) && is_word(&"a".repeat(256)));
        assert!(!is_dotted("acme P") && !is_dotted("acme..P"));
        for good in [
            "opset >= 13",
            "opset>=1",
            "types-inferred",
            "acme.tiled_2",
            "opset2",
        ] {
            assert!(is_state(good), "{}", good);
        }
        for bad in [
            "",
            "opset",
            "opset > 3",
            "opset >= x",
            "opset >=",
            "opset >= -1",
            "Types",
            "a b",
            "-a",
            "opset >= 4294967296",
            "opsetx >= 3",
        ] {
            assert!(!is_state(bad), "{}", bad);
        }
        for good in ["onnx.Relu", "com.acme:x/y.Fußgänger", "关.Op"] {
            assert!(is_op(good), "{}", good);
        }
        // Of Unicode's blanks, too; Miri takes minutes for all.
        let few = if cfg!(miri) { 61 } else { 1 };
        for blank in (0..=0xffff).step_by(few).filter_map(char::from_u32) {
            let name = format!("a{}b", blank);
            let is_odd = blank.is_whitespace() || blank.is_control();
            assert_eq!(is_op(&name), !is_odd, "{:?}", blank);
            let may_be_shown = !blank.is_control() || blank == '\n' || blank == '\t';
            assert_eq!(is_text(&name), may_be_shown, "{:?}", blank);
        }
    }
}
