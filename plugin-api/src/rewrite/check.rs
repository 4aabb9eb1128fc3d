//! What [`rules!`](crate::rules) checks of a rule's text while that is compiled: its form, and that names are known
//! where they are used. The compiler runs this, so it is made of functions from one place of the text to the next.
//! The rest, such as whether a condition is one and the ops of a pattern hang together, is told when the rules are
//! first used.

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
    let bytes = text.as_bytes();
    let pattern = usize::MAX;
    let text = Text { bytes, pattern };
    let mut at = 0;
    if ends(text, at) {
        panic!("a rule looks for at least one op");
    }
    while !ends(text, at) {
        at = op(text, defined(text, at));
    }
    let pattern = at;
    let text = Text { bytes, pattern };
    if has_after {
        at = expect(text, at, "=>");
        if ends(text, at) {
            panic!("nothing stands behind the arrow");
        }
        while !ends(text, at) {
            at = operand(text, defined(text, at));
        }
    } else if is(text, at, "=>") {
        panic!("code stands behind the arrow of this rule, outside its braces");
    }
    if is(text, at, "where") {
        at = names(text, next(text, at), "end");
    }
    if left(text, at) > 0 {
        panic!("something stands behind the rule's end");
    }
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

/// Whether no statement begins here.
const fn ends(text: Text<'_>, at: usize) -> bool {
    left(text, at) == 0 || is(text, at, "=>") || is(text, at, "where")
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

const fn op(text: Text<'_>, at: usize) -> usize {
    if is(text, at, "-") && is(text, next(text, at), ">") {
        panic!("the arrow of a rule is `=>`");
    }
    let word = at;
    let mut at = operator(text, at);
    if next(text, word) == at && is_end_of_value(text, at) {
        panic!("a value begins with `%`, and an op has its operands in `(…)`");
    }
    while text.pattern == usize::MAX && is(text, at, "|") {
        at = operator(text, next(text, at));
    }
    at = expect(text, at, "(");
    while !is(text, at, ")") {
        at = operand(text, at);
        if !is(text, at, ")") {
            at = expect(text, at, ",");
        }
    }
    at = next(text, at);
    match is(text, at, "{") {
        true => names(text, next(text, at), "}"),
        false => at,
    }
}

/// Whether what stands here can't follow the name of an op.
const fn is_end_of_value(text: Text<'_>, at: usize) -> bool {
    left(text, at) == 0 || is(text, at, ",") || is(text, at, ")")
}

const fn operator(text: Text<'_>, at: usize) -> usize {
    let mut at = word(
        text,
        at,
        "here has to be an operator, such as `onnx.Add(…)`",
    );
    while is(text, at, ".") {
        at = word(text, next(text, at), "an operator's name ends with a point");
    }
    at
}

const fn operand(text: Text<'_>, at: usize) -> usize {
    if is(text, at, "%") {
        let at = value(text, at, text.bytes.len());
        return match is(text, at, "...") || is(text, at, "?") {
            true => next(text, at),
            false => at,
        };
    }
    if is(text, at, "_") || is(text, at, "none") || first(text, at).is_ascii_digit() {
        return next(text, at);
    }
    match first(text, at) {
        b'[' => names(text, next(text, at), "]"),
        b'-' | b'~' => operand(text, next(text, at)),
        b'a'..=b'z' | b'A'..=b'Z' => op(text, at),
        // It says what is wrong with the sign.
        b';' => next(text, at),
        _ => panic!("here has to be an operand: a value, an op, a number or a list of integers"),
    }
}

/// What stands up to an end, of which only the names are looked at.
const fn names(text: Text<'_>, at: usize, end: &'static str) -> usize {
    let mut at = at;
    while left(text, at) > 0 && !is(text, at, end) {
        at = match first(text, at) {
            b'%' => value(text, at, text.pattern),
            b'$' => {
                let name = next(text, at);
                if text.pattern != usize::MAX && !is_known(text, name, b'$', text.pattern) {
                    panic!("an attribute that the pattern doesn't bind");
                }
                word(text, name, "behind a `$` has to be an attribute's name")
            }
            _ => next(text, at),
        };
    }
    match left(text, at) {
        0 => at,
        _ => next(text, at),
    }
}

/// A value, which has to be known by a place, unless this is the pattern.
const fn value(text: Text<'_>, at: usize, by: usize) -> usize {
    let name = next(text, at);
    if !is_word(first(text, name)) {
        panic!("behind a `%` has to be a value's name");
    }
    if text.pattern != usize::MAX && !is_known(text, name, b'%', by) {
        panic!("a value that the pattern doesn't have");
    }
    next(text, name)
}

/// The place behind a word, which has to stand here.
const fn word(text: Text<'_>, at: usize, wanted: &'static str) -> usize {
    let first = first(text, at);
    if !is_word(first) || first.is_ascii_digit() {
        panic!("{}", wanted);
    }
    next(text, at)
}

/// The place behind a mark, which has to stand here.
const fn expect(text: Text<'_>, at: usize, mark: &'static str) -> usize {
    if !is(text, at, mark) {
        let wanted = match mark.as_bytes() {
            b"(" => "here has to be `(`",
            b"," => "here has to be `,`, or the end of the list",
            _ => "here has to be `=>` and what stands in the place of these ops",
        };
        panic!("{}", wanted);
    }
    next(text, at)
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
