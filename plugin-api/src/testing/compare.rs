//! Comparison of IR texts with a tolerance for floats.

/// The tolerance of a float: the sum of both parts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tolerance {
    /// Relative to the expected float.
    pub(super) relative: f64,
    pub(super) absolute: f64,
}

impl Tolerance {
    fn allows(self, expected: f64, actual: f64) -> bool {
        let difference = (expected - actual).abs();
        expected == actual || difference <= self.absolute + self.relative * expected.abs()
    }
}

/// Returns the differing lines, as [`diff`] formats them; `None` if there are none.
pub(super) fn difference(expected: &str, actual: &str, tolerance: Tolerance) -> Option<String> {
    if expected == actual {
        return None;
    }
    let expected: Vec<&str> = expected.lines().collect();
    let mut actual: Vec<&str> = actual.lines().collect();
    if expected.len() == actual.len() {
        // Lines within the tolerance aren't shown as differences.
        for (expected, actual) in expected.iter().zip(&mut actual) {
            if is_near(expected, actual, tolerance) {
                *actual = expected;
            }
        }
    }
    if expected == actual {
        return None;
    }
    Some(diff(&expected, &actual))
}

/// Whether two lines are equal, with a tolerance for floats.
fn is_near(expected: &str, actual: &str, tolerance: Tolerance) -> bool {
    let (mut expected, mut actual) = (expected, actual);
    while !expected.is_empty() && !actual.is_empty() {
        let (one, other) = (&expected[..token(expected)], &actual[..token(actual)]);
        let is_near = match (float(one), float(other)) {
            (Some(one), Some(other)) => tolerance.allows(one, other),
            _ => one == other,
        };
        if !is_near {
            return false;
        }
        expected = &expected[one.len()..];
        actual = &actual[other.len()..];
    }
    expected.is_empty() && actual.is_empty()
}

/// Returns the length of the first token: a string, an identifier or number, or a character.
fn token(text: &str) -> usize {
    let mut letters = text.char_indices();
    let first = match letters.next() {
        Some((_, first)) => first,
        None => return 0,
    };
    let in_word = |letter: char| letter.is_alphanumeric() || "_.%@/$".contains(letter);
    let mut before = first;
    for (at, letter) in letters {
        let goes_on = match first {
            '"' => at == 1 || before != '"',
            '-' => in_word(letter) || is_exponent(&text[..at], letter),
            _ => in_word(first) && (in_word(letter) || is_exponent(&text[..at], letter)),
        };
        if !goes_on {
            return at;
        }
        // An escaped quote doesn't end a string.
        before = match (before, letter) {
            ('\\', _) if first == '"' => ' ',
            _ => letter,
        };
    }
    text.len()
}

/// Whether a sign continues a number: `1e-7`.
fn is_exponent(number: &str, letter: char) -> bool {
    let digits = number.trim_start_matches('-');
    "+-".contains(letter)
        && number.ends_with(|last| "eE".contains(last))
        && digits.starts_with(|first: char| first.is_ascii_digit())
}

/// Returns the float of a token. Integers aren't floats: they must be equal.
fn float(token: &str) -> Option<f64> {
    let is_number = token
        .trim_start_matches('-')
        .starts_with(|first: char| first.is_ascii_digit());
    if !is_number || !token.contains(|letter| ".eE".contains(letter)) {
        return None;
    }
    token.parse().ok().filter(|float: &f64| float.is_finite())
}

/// Returns differing lines, `-` for expected and `+` for actual ones, without equal lines at both ends.
fn diff(expected: &[&str], actual: &[&str]) -> String {
    let pairs = expected.iter().zip(actual);
    let head = pairs.take_while(|(a, b)| a == b).count();
    let pairs = expected[head..]
        .iter()
        .rev()
        .zip(actual[head..].iter().rev());
    let tail = pairs.take_while(|(a, b)| a == b).count();
    let mut out = String::new();
    let mut lines = |mark: char, lines: &[&str]| {
        for line in lines {
            out.push(mark);
            out.push_str(line);
            out.push('\n');
        }
    };
    lines(' ', &expected[head.saturating_sub(3)..head]);
    lines('-', &expected[head..expected.len() - tail]);
    lines('+', &actual[head..actual.len() - tail]);
    let end = expected.len() - tail;
    lines(' ', &expected[end..(end + 3).min(expected.len())]);
    out
}

#[cfg(test)]
mod tests {
    use super::{difference, Tolerance};

    fn exact(expected: &str, actual: &str) -> Option<String> {
        difference(expected, actual, Tolerance::default())
    }

    #[test]
    fn diff_shows_changes_with_context() {
        let shown = exact("a\nb\nc\nd\nold\ne\nf\n", "a\nb\nc\nd\nnew\nnewer\ne\nf\n");
        assert_eq!(shown.unwrap(), " b\n c\n d\n-old\n+new\n+newer\n e\n f\n");
        assert_eq!(exact("a\n", "a\na\n").unwrap(), " a\n+a\n");
        assert_eq!(exact("a 1.0\n", "a 1.0\n"), None);
        assert!(exact("a 1.0\n", "a 1.0000001\n").is_some());
    }

    /// Whether two texts are equal with a relative, and with an absolute, tolerance of 0.1.
    fn near(expected: &str, actual: &str) -> [bool; 2] {
        let relative = Tolerance {
            relative: 0.1,
            absolute: 0.0,
        };
        let absolute = Tolerance {
            relative: 0.0,
            absolute: 0.1,
        };
        [relative, absolute].map(|tolerance| difference(expected, actual, tolerance).is_none())
    }

    #[test]
    fn floats_are_compared_with_tolerance() {
        assert_eq!(near("[1.0, -100.0]", "[1.05, -100.0]"), [true, true]);
        assert_eq!(near("[1.0, -100.0]", "[1.0, -109.0]"), [true, false]);
        assert_eq!(near("{k = 0.0}", "{k = -0.05}"), [false, true]);
        assert_eq!(near("{k = 1e-7}", "{k = 1.05e-7}"), [true, true]);
        assert_eq!(near("{k = 1e-7}", "{k = 1e-6}"), [false, true]);
        assert_eq!(near("splat(2e30)", "splat(2.1e30)"), [true, false]);
        let both = Tolerance {
            relative: 0.1,
            absolute: 0.1,
        };
        assert_eq!(difference("10.0", "11.05", both), None);
        assert!(difference("10.0", "11.2", both).is_some());
    }

    #[test]
    fn non_floats_are_compared_exactly() {
        for (expected, actual) in [
            ("{k = 10}", "{k = 11}"),
            ("f32[1,100]", "f32[1,101]"),
            ("%1.0 = t.A()", "%1.05 = t.A()"),
            ("%conv1.5 = t.A()", "%conv1.52 = t.A()"),
            ("{k = \"1.0\"}", "{k = \"1.05\"}"),
            (r#"{k = "a\" 1.0"}"#, r#"{k = "a\" 1.05"}"#),
            ("{k = inf}", "{k = 1.0}"),
            ("{k = nan}", "{k = 1.0}"),
            ("{k = 1e999}", "{k = 1.0}"),
            ("[1.0]", "[1.0, 1.0]"),
            ("[1.0]\n", "[1.0]\n[1.0]\n"),
            ("{k = 0x7fc00001}", "{k = 0x7fc00002}"),
        ] {
            assert_eq!(
                near(expected, actual),
                [false; 2],
                "{} {}",
                expected,
                actual
            );
        }
        // A string is one token, and the comparison continues after it.
        let after = [r#"{k = "a\"b", l = 1.0}"#, r#"{k = "a\"b", l = 1.01}"#];
        assert_eq!(near(after[0], after[1]), [true; 2]);
    }
}
