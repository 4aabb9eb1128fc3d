//! What [`rules!`](crate::rules) checks of a rule's text while that is compiled: its signs, its arrow, that commas
//! stand between what stands in brackets, and that names are known where they are used. The compiler runs this, so it
//! is made of functions from one place of the text to the next. The rest is told when the rules are first used.

/// A rule's text, and how far a name may be known from.
#[derive(Clone, Copy)]
struct Text<'t> {
    bytes: &'t [u8],
    /// Where the pattern ends; `usize::MAX` inside it, where a name's first place says what it is.
    pattern: usize,
}

/// Doesn't compile unless a text has the form of a rule; `has_after`: with what comes behind the arrow.
#[doc(hidden)]
pub const fn check(words: &str, text: &str, has_after: bool) {
    check_words(words.as_bytes());
    let mut text = Text {
        bytes: text.as_bytes(),
        pattern: usize::MAX,
    };
    let (mut at, mut depth, mut is_condition, mut ends_item) = (0, 0, false, false);
    if left(text, at) == 0 || is(text, at, "=>") || is(text, at, "where") {
        panic!("a rule looks for at least one op");
    }
    while left(text, at) > 0 {
        if depth == 0 && !is_condition {
            at = defined(text, at);
        }
        let first = first(text, at);
        if depth > 0 && ends_item && begins_item(first) {
            panic!("here has to be `,`, or the end of the list");
        }
        let start = at;
        at = next(text, start);
        ends_item = false;
        match first {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => panic!("something stands behind the rule's end"),
            b')' | b']' | b'}' => {
                depth -= 1;
                ends_item = true;
            }
            b'%' | b'$' => {
                if left(text, at) == 0 || !is_word(self::first(text, at)) {
                    panic!("behind a `%` or a `$` has to be a name");
                }
                let by = if first == b'$' || is_condition {
                    text.pattern
                } else {
                    text.bytes.len()
                };
                if text.pattern != usize::MAX && !is_known(text, at, first, by) {
                    panic!("a value or an attribute that the pattern doesn't have");
                }
                at = next(text, at);
                ends_item = true;
            }
            b'?' | b'.' => ends_item = is(text, start, "?") || is(text, start, "..."),
            b'=' if is(text, start, "=>") => {
                if !has_after {
                    panic!("code stands behind the arrow of this rule, outside its braces");
                }
                text.pattern = start;
                if left(text, at) == 0 || is(text, at, "where") {
                    panic!("nothing stands behind the arrow");
                }
            }
            _ if depth == 0 && is(text, start, "where") => {
                is_condition = true;
                if text.pattern == usize::MAX {
                    text.pattern = start;
                }
            }
            _ => ends_item = is_word(first),
        }
    }
    if depth > 0 {
        panic!("the rule ends too early");
    }
    if has_after && (text.pattern == usize::MAX || !is(text, text.pattern, "=>")) {
        panic!("here has to be `=>` and what stands in the place of these ops");
    }
}

/// Whether an item of a list begins with a byte.
const fn begins_item(byte: u8) -> bool {
    matches!(byte, b'%' | b'$' | b'[' | b'-' | b'~') || is_word(byte)
}

const fn check_words(words: &[u8]) {
    let text = Text {
        bytes: words,
        pattern: 0,
    };
    let mut at = 0;
    while left(text, at) > 0 {
        if !is(text, at, "grows") && !is(text, at, "keeps_type") {
            panic!("between the name of a rule and its brace may stand `grows` and `keeps_type`");
        }
        at = next(text, at);
    }
}

/// The number of bytes from the next word on.
const fn left(text: Text<'_>, at: usize) -> usize {
    text.bytes.len() - skip(text, at)
}

/// The place behind `%a, %b =`; the same one if that isn't what stands here.
const fn defined(text: Text<'_>, start: usize) -> usize {
    let mut at = start;
    loop {
        if is(text, at, "_") {
            at = next(text, at);
        } else if is(text, at, "%") {
            at = next(text, next(text, at));
        } else {
            return start;
        }
        if is(text, at, "=") {
            return next(text, at);
        }
        if !is(text, at, ",") {
            return start;
        }
        at = next(text, at);
    }
}

/// Whether a name stands before its place, and one other, behind this mark.
const fn is_known(text: Text<'_>, name: usize, mark: u8, by: usize) -> bool {
    let name = skip(text, name);
    let len = next(text, name) - name;
    let mut at = 0;
    while at < name && at < by {
        let other = skip(text, at + 1);
        if text.bytes[at] == mark && other < name && next(text, other) - other == len {
            let mut same = 0;
            while same < len && text.bytes[other + same] == text.bytes[name + same] {
                same += 1;
            }
            if same == len {
                return true;
            }
        }
        at += 1;
    }
    false
}

/// Whether these are the next word.
const fn is(text: Text<'_>, at: usize, wanted: &str) -> bool {
    let wanted = wanted.as_bytes();
    let start = skip(text, at);
    if start == text.bytes.len() || text.bytes[start] != wanted[0] {
        return false;
    }
    let mut same = 0;
    while same < wanted.len() {
        if start + same == text.bytes.len() || text.bytes[start + same] != wanted[same] {
            return false;
        }
        same += 1;
    }
    next(text, start) == start + wanted.len()
}

/// The first byte of the next word; 0 at the end.
const fn first(text: Text<'_>, at: usize) -> u8 {
    let at = skip(text, at);
    if at == text.bytes.len() {
        return 0;
    }
    text.bytes[at]
}

const fn skip(text: Text<'_>, at: usize) -> usize {
    let mut at = at;
    while at < text.bytes.len() && text.bytes[at].is_ascii_whitespace() {
        at += 1;
    }
    at
}

const fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// The place behind the next word, number, text or mark.
const fn next(text: Text<'_>, at: usize) -> usize {
    let bytes = text.bytes;
    let start = skip(text, at);
    if start == bytes.len() {
        panic!("the rule ends too early");
    }
    let mut at = start + 1;
    let second = if at < bytes.len() { bytes[at] } else { 0 };
    match bytes[start] {
        b'0'..=b'9' => number(bytes, at),
        byte if is_word(byte) => {
            while at < bytes.len() && is_word(bytes[at]) {
                at += 1;
            }
            at
        }
        b'"' => {
            while bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at + 1
        }
        b'.' if second == b'.' && at + 1 < bytes.len() && bytes[at + 1] == b'.' => at + 2,
        b'.' if second == b'.' => at + 1,
        b'=' if second == b'>' || second == b'=' => at + 1,
        b'!' | b'<' | b'>' if second == b'=' => at + 1,
        b'(' | b')' | b'{' | b'}' | b'[' | b']' | b',' | b'.' | b'%' | b'$' | b'|' | b'~'
        | b'-' | b'!' | b'?' | b'<' | b'>' | b'=' => at,
        b';' => panic!("`;` begins a comment in a file, and has no meaning here"),
        _ => panic!("a rule has no use for this sign"),
    }
}

/// The place behind a number, from a digit on.
const fn number(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while at < bytes.len() {
        let has_next = at + 1 < bytes.len();
        let is_exponent = matches!(bytes[at - 1], b'e' | b'E');
        match bytes[at] {
            b'0'..=b'9' | b'_' | b'e' | b'E' => at += 1,
            b'.' if has_next && bytes[at + 1].is_ascii_digit() => at += 1,
            b'+' | b'-' if is_exponent => at += 1,
            _ => return at,
        }
    }
    at
}
