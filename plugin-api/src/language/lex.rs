//! Lexer for rules. The output of `stringify!` for a rule has the same tokens.

use std::ops::Range;

use super::rule::RuleError;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Ident(String),
    /// An integer, without a sign.
    Int(i128),
    /// A number with a decimal point or an exponent.
    Float(f64),
    String(String),
    /// Punctuation, of one or two characters.
    Mark(&'static str),
    End,
}

/// The help for comments of other languages.
pub(crate) const COMMENTS: &str = "start a comment with `;` or `//`";

/// A mark precedes its prefixes.
const MARKS: [&str; 28] = [
    "...", "=>", "→", "->", "==", "!=", "<=", ">=", "..", "<", ">", "=", "(", ")", "{", "}", "[",
    "]", ",", ".", "%", "$", "|", "~", "-", "!", "?", "#",
];

/// Returns the tokens of a text with their spans; the last one is [`Token::End`]. Comments begin with `;` or `//`.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, RuleError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let start = at;
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if first == ';' || rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let token = if first == '_' || first.is_ascii_alphabetic() {
            let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
            at += end.unwrap_or(rest.len());
            Token::Ident(text[start..at].to_owned())
        } else if first.is_ascii_digit() {
            let (token, len) =
                number(rest).ok_or_else(|| RuleError::new(start..start + 1, "invalid number"))?;
            at += len;
            token
        } else if first == '"' {
            let (token, len) = quoted(rest)
                .ok_or_else(|| RuleError::new(start..text.len(), "unterminated string"))?;
            at += len;
            token
        } else {
            let mark = MARKS.iter().find(|mark| rest.starts_with(**mark));
            let mark = mark.ok_or_else(|| {
                let message = format!("unexpected character {:?}", first);
                let mut error = RuleError::new(start..start + first.len_utf8(), message);
                if rest.starts_with("/*") {
                    error.help = COMMENTS.to_owned();
                }
                error
            })?;
            at += mark.len();
            Token::Mark(mark)
        };
        tokens.push((token, start..at));
    }
    tokens.push((Token::End, text.len()..text.len()));
    Ok(tokens)
}

/// Returns the number at the start of the text, and its length.
fn number(text: &str) -> Option<(Token, usize)> {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while at < bytes.len() && (bytes[at].is_ascii_digit() || bytes[at] == b'_') {
            at += 1;
        }
        at
    };
    let mut end = digits(0);
    let mut is_float = false;
    // `0..2` and `%0.x` have no fraction.
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).map_or(false, |b| b.is_ascii_digit()) {
        is_float = true;
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e') | Some(b'E')) {
        let sign = matches!(bytes.get(end + 1), Some(b'+') | Some(b'-')) as usize;
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            is_float = true;
            end = exponent;
        }
    }
    let digits = text[..end].replace('_', "");
    let token = match is_float {
        true => Token::Float(digits.parse().ok()?),
        false => Token::Int(digits.parse().ok()?),
    };
    Some((token, end))
}

/// Returns the string at the start of the text, and its length.
fn quoted(text: &str) -> Option<(Token, usize)> {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((Token::String(value), at + 1)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            _ => value.push(c),
        }
    }
    None
}
